"""Structs, rows and maps in expressions: constructors, fields, comparisons, and the value of a key.

A row without names is a struct whose fields are called f1, f2, .... DuckDB has a type of its own for it, and
pairs its fields with those of another struct by position.

When rows that are written out are compared, the first unequal pair decides. In SQL's rows a NULL is unknown,
so it decides nothing; in a struct NULL is a value, greater than all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import Foreign, Literal, Op
from engine.scalar.duck_literals import quoted_name
from engine.schema import BOOLEAN, Field, Kind, Type, struct_of
from planner.bind.coercion import as_part, coerce, default_value
from planner.bind.expressions.comparable_sides import bind_comparison
from planner.bind.name_scope import FromTable
from planner.bind.scalar_functions import foreign
from planner.dialects.row_comparisons import row_parts
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, TypeMismatch, UnknownColumn
from planner.identifiers import fold
from planner.ir import Expression
from planner.ir.scalars import call, conjoin, disjoin, negate
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.sql_types import check_field_name
from planner.suggestions import did_you_mean, visible

Bind = Callable[[exp.Expression], Expression]

_VALUE_OR_DEFAULT = "CASE WHEN list_contains(map_keys({0}), {1}) THEN {0}[{1}] ELSE {2} END"
_STRICT = {Op.LT: Op.LT, Op.LE: Op.LT, Op.GT: Op.GT, Op.GE: Op.GT}


def constructed(node: exp.Expression, bind: Bind, dialect: str) -> Expression:
    """A row or a struct."""
    parts = row_parts(node, dialect)
    if parts is None:
        return _struct(node, bind, dialect)
    if not parts:
        fail(InvalidQuery("a row needs a value"), node)
    places = (f"{{{place}}}" for place in range(len(parts)))
    values = [as_part(bind(part)) for part in parts]
    return _typed(foreign(f"row({', '.join(places)})", values, node, dialect), values)


def _struct(node: exp.Expression, bind: Bind, dialect: str) -> Expression:
    names: list[str] = []
    values: list[Expression] = []
    for place, part in enumerate(node.expressions, 1):
        name = _name(part, dialect)
        value = part.expression if isinstance(part, exp.PropertyEQ) else part.unalias()
        names.append(f"f{place}" if name is None else name)
        values.append(as_part(bind(value)))
    if not names:
        fail(InvalidQuery("a struct needs a field"), node)
    if len({name.lower() for name in names}) < len(names):
        fail(InvalidQuery("a struct cannot have a field twice"), node)
    return _typed(foreign(_packed(names), values, node, dialect), values)


def _typed(made: Expression, values: list[Expression]) -> Expression:
    """The struct of some values, in which a NULL without a type is a text: that can become anything."""
    assert isinstance(made, Foreign)
    fields = zip(made.type.fields, values, strict=True)
    return replace(
        made,
        type=struct_of(
            (field.name, value.type if _is_null(value) else field.type) for field, value in fields
        ),
    )


def _is_null(value: Expression) -> bool:
    return isinstance(value, Literal) and value.value is None


def _packed(names: list[str]) -> str:
    """The template of a struct with these fields."""
    pairs = (f"{quoted_name(name)} := {{{place}}}" for place, name in enumerate(names))
    return f"struct_pack({', '.join(pairs)})"


def _name(part: exp.Expression, dialect: str) -> str | None:
    """The name of a field in a constructor."""
    match part:
        case exp.PropertyEQ(this=exp.Identifier() as name) | exp.Alias(args={"alias": name}):
            found = fold(name)
        case exp.PropertyEQ():
            found = part.this.name
        case exp.Column() if dialect == "bigquery":
            found = fold(part.this)
        case _:
            return None
    check_field_name(found, part)
    return found


def field_named(type: Type, name: str) -> Field | None:
    """The field of a struct, by its exact name or else without case; None if there is none."""
    alike = [field for field in type.fields if field.name.lower() == name.lower()]
    return alike[0] if type.kind is Kind.STRUCT and alike else None


def field_of(value: Expression, name: str, node: exp.Expression, dialect: str) -> Expression:
    """`value.name`. Raises TypeMismatch if the value is no struct, UnknownColumn if it has no such field."""
    if value.type.kind is not Kind.STRUCT:
        fail(TypeMismatch(f"a value of type {value.type} has no fields: {node.sql(dialect)}"), node)
    field = field_named(value.type, name)
    if field is None:
        names = [field.name for field in value.type.fields]
        fail(
            UnknownColumn(f'a {value.type} has no field "{name}"', did_you_mean(name, names, visible(names))),
            node,
        )
    return extracted(value, field)


def field_at(
    value: Expression, place: Expression, first: int, node: exp.Expression, dialect: str
) -> Expression:
    """`value['name']`, or `value[1]`, where the first field has the number `first`."""
    match place:
        case Literal(value=str() as name):
            return field_of(value, name, node, dialect)
        case Literal(value=bool()):
            pass
        case Literal(value=int() as number) if first <= number < first + len(value.type.fields):
            return extracted(value, value.type.fields[number - first])
    fields = ", ".join(field.name for field in value.type.fields)
    fail(
        TypeMismatch(f"the field of a {value.type} is named by a constant", f"the fields are {fields}"), node
    )


def whole_row(table: FromTable, node: exp.Expression, dialect: str) -> Expression:
    """A row of a table as a struct, NULL where an outer join has none. Raises Unsupported if no column tells
    where."""
    given = next((column for column in table.columns if not column.nullable), None)
    if given is None and dialect != "duckdb":
        name = node.sql(dialect)
        hint = "write the columns as a struct or as ROW(...)"
        refuse(node, f"{name} as a value is not supported: all of its columns may be NULL", hint)
    names = [column.name for column in table.columns]
    for name in names:
        check_field_name(name, node)
    if len({name.lower() for name in names}) < len(names):
        fail(InvalidQuery(f"{node.sql(dialect)} has two columns of one name"), node)
    packed = _packed(names)
    values = [column.ref for column in table.columns]
    if dialect == "duckdb" or given is None:  # whose struct has NULLs where a row is missing
        return foreign(packed, values, node, dialect)
    values.append(given.ref)
    return foreign(f"CASE WHEN {{{len(names)}}} IS NOT NULL THEN {packed} END", values, node, dialect)


def extracted(value: Expression, field: Field) -> Expression:
    place = value.type.fields.index(field) + 1
    return Foreign(f"struct_extract_at({{0}}, {place})", (value,), field.type)  # type: ignore[arg-type]


# Comparisons


def compare_rows(
    op: Op, left: Sequence[Expression], right: Sequence[Expression], dialect: str = ""
) -> Expression:
    """`(a, b) op (c, d)`. Raises InvalidQuery if the rows have different lengths."""
    pairs = _paired(left, right)
    if op is Op.NE:
        return negate(compare_rows(Op.EQ, left, right, dialect))
    if op is Op.DISTINCT:
        return disjoin(bind_comparison(op, a, b, dialect) for a, b in pairs)
    if op not in _STRICT:
        return conjoin(bind_comparison(op, a, b, dialect) for a, b in pairs)
    *before, last = pairs
    result = bind_comparison(op, *last, dialect)
    for a, b in reversed(before):
        result = disjoin(
            [
                bind_comparison(_STRICT[op], a, b, dialect),
                conjoin([bind_comparison(Op.EQ, a, b, dialect), result]),
            ]
        )
    return result


def compare_values(
    op: Op, left: Sequence[Expression], right: Sequence[Expression], dialect: str = ""
) -> Expression:
    """The same for the fields of two structs; never NULL. Raises InvalidQuery."""
    pairs = _paired(left, right)
    if op in (Op.EQ, Op.NOT_DISTINCT):
        return conjoin(bind_comparison(Op.NOT_DISTINCT, a, b, dialect) for a, b in pairs)
    if op in (Op.NE, Op.DISTINCT):
        return disjoin(bind_comparison(Op.DISTINCT, a, b, dialect) for a, b in pairs)
    if op in (Op.GT, Op.GE):
        return compare_values(Op.LT if op is Op.GT else Op.LE, right, left, dialect)
    if op is Op.LE:
        return negate(compare_values(Op.LT, right, left, dialect))
    *before, last = pairs
    result = _less(*last, dialect)
    for a, b in reversed(before):
        equal = bind_comparison(Op.NOT_DISTINCT, a, b, dialect)
        result = disjoin([_less(a, b, dialect), conjoin([equal, result])])
    return result


def _paired(left: Sequence[Expression], right: Sequence[Expression]) -> list[tuple[Expression, Expression]]:
    if len(left) != len(right):
        raise InvalidQuery("rows of different lengths cannot be compared")
    return list(zip(left, right, strict=True))


def _less(a: Expression, b: Expression, dialect: str) -> Expression:
    """Whether `a < b`, where NULL is greater than all values."""
    by_null = conjoin([negate(call(Op.IS_NULL, a)), call(Op.IS_NULL, b)])
    return call(Op.COALESCE, bind_comparison(Op.LT, a, b, dialect), by_null, type=BOOLEAN)


# Maps


def written_map(node: exp.ToMap, bind: Bind, dialect: str) -> Expression:
    """`MAP {key: value, ...}`."""
    pairs = [(pair.this, pair.expression) for pair in node.this.expressions]
    keys = [exp.Literal.string(key.name) if isinstance(key, exp.Identifier) else key for key, _ in pairs]
    parts = [part for key, (_, value) in zip(keys, pairs, strict=True) for part in (key, value)]
    values = [as_part(bind(part)) for part in parts]
    entries = (f"{{{place}}}: {{{place + 1}}}" for place in range(0, len(values), 2))
    return foreign(f"MAP {{ {', '.join(entries)} }}", values, node, dialect)


def subscript_of_map(node: exp.ToMap) -> exp.Expression:
    """`MAP {...}[key]`, which the parser takes for a map of `{...}[key]`."""
    subscript = node.this.copy()
    subscript.this.replace(exp.ToMap(this=subscript.this.copy()))
    return subscript


def value_at(value: Expression, key: Expression, node: exp.Bracket, dialect: str) -> Expression:
    """`map[key]`: NULL if the map lacks the key."""
    key = coerce(key, value.type.parts[0])
    if has(dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node):
        default = default_value(value.type.parts[1])
        if default is None:
            refuse(node, f"a value of {value.type} has no default", "write mapContains and if")
        return foreign(_VALUE_OR_DEFAULT, [value, key, default], node, dialect)
    return foreign("{0}[{1}]", [value, key], node, dialect)
