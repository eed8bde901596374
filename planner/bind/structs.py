"""Structs in expressions: constructors and fields.

A row without names is a struct whose fields are called f1, f2, .... DuckDB has a type of its own for it, and
pairs its fields with those of another struct by position.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from engine.plan.expressions import Foreign, Literal
from engine.scalar.duck_literals import quoted_name
from engine.schema import Field, Kind, Type
from planner.bind.coercion import as_part
from planner.bind.name_scope import FromTable
from planner.bind.scalar_functions import foreign
from planner.dialects.row_comparisons import row_parts
from planner.errors import InvalidQuery, TypeMismatch, UnknownColumn, Unsupported
from planner.identifiers import fold
from planner.ir import Expression
from planner.positions import fail
from planner.sql_types import check_field_name
from planner.suggestions import did_you_mean, visible

Bind = Callable[[exp.Expression], Expression]


def constructed(node: exp.Expression, bind: Bind, dialect: str) -> Expression:
    """A row or a struct."""
    parts = row_parts(node, dialect)
    if parts is None:
        return _struct(node, bind, dialect)
    if not parts:
        fail(InvalidQuery("a row needs a value"), node)
    places = (f"{{{place}}}" for place in range(len(parts)))
    return foreign(f"row({', '.join(places)})", [as_part(bind(part)) for part in parts], node, dialect)


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
    return foreign(_packed(names), values, node, dialect)


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
        fail(Unsupported(f"{name} as a value is not supported: all of its columns may be NULL", hint), node)
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
