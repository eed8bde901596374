"""Constant texts and decimals in ad-hoc queries, as values of the types that they have in views.

    at > 'January 8, 1999'        →  at > CAST('1999-01-08' AS TIMESTAMP)
    SELECT 1 UNION SELECT '2'     →  SELECT 1 UNION SELECT CAST('2' AS INTEGER)
    coalesce(amount, '7.125')     →  coalesce(CAST(amount AS DECIMAL(38, 3)), 7.125)

DuckDB reads such texts in its own way, and rounds decimals for whose digits there is no common type. The
binder of views knows better, so it is asked where a query has something of this kind. What it cannot bind
stays as it is written.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.plan.nodes import Source
from engine.scalar.written import readable
from engine.schema import Kind, Schema, Type
from planner.adhoc.from_clauses import Relations, catalog_of
from planner.bind import bind
from planner.bind.session import PLACE, Taken
from planner.dialects.systems.postgres_moments import is_spelled
from planner.dialects.traits import Trait, has
from planner.dialects.whole_numbers import has_fraction
from planner.errors import PlannerError, UnsettledTypes
from planner.identifiers import relation_name, relation_node
from planner.native import templates
from planner.positions import refuse
from planner.relation import Relation
from planner.relation_names import is_system
from planner.sql_types import duckdb_type

_ALTERNATIVES = (exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least, exp.SetOperation, exp.In, exp.Array)
_TYPED_OPERATORS = (exp.ArrayContainsAll, exp.ArrayContainedBy)
_BY_KIND = (
    (exp.DPipe, frozenset({Kind.ARRAY, Kind.INTERVAL, Kind.REAL, Kind.DOUBLE})),
    (exp.Div, frozenset({Kind.INTERVAL})),
    (exp.Sub, frozenset({Kind.TIME})),
)
"""Operators that depend on their types, each with the kinds for which DuckDB is to be told."""
_MAKERS = (exp.Array, exp.Interval, exp.ArrayAgg)
_PASSING: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "date",
    exp.CurrentTimestamp: "timestamptz",
    exp.Localtimestamp: "timestamp",
    exp.Rand: "double",
}
"""What a view may not ask, with its type."""
_NARROW = 18
"""The most digits of decimals that DuckDB never rounds beside each other."""
_MERGED_TWICE = "join with ON, and write coalesce of the columns, cast to one type"
_SIDE, _ROWS = "side", "rows"


def with_typed_texts(
    query: exp.Expression, relations: Relations, dialect: str, row: str | None = None
) -> None:
    """Write out the types of constant texts and of decimals where they matter. `row` is the column with the
    places of rows, if the query is that of a change."""
    if not has(dialect, Trait.TEXTS_ARE_UNTYPED) or not _is_doubtful(query, relations):
        return
    nodes = list(query.walk())
    copy = query.copy()
    for place, node in enumerate(copy.walk()):
        node.meta[PLACE] = place
    for table in copy.find_all(exp.Table):
        for part in ("version", "when"):
            table.set(part, None)
    for column in list(copy.find_all(exp.Column)):
        if column.name == row:
            column.replace(exp.Literal.number(1))
    _fill_unknown(copy)
    taken: dict[int, Taken] = {}
    try:
        bind(copy, catalog_of(relations), dialect, taken)
    except UnsettledTypes:
        raise
    except PlannerError:
        return
    for place in sorted(taken, reverse=True):  # what is inside of another node comes first
        _write(nodes[place], taken[place])


def with_texts_over(select: exp.Select, schema: Schema, dialect: str) -> None:
    """The same for a SELECT without FROM that reads columns of a schema."""
    relation = Relation(_ROWS, schema, Source(_ROWS, schema))
    select.set("from_", exp.From(this=relation_node(_ROWS)))
    with_typed_texts(select, {_ROWS: relation}, dialect)
    select.set("from_", None)


def _fill_unknown(query: exp.Expression) -> None:
    """Puts NULLs in the place of parameters and of what a view may not ask, with their types."""
    for node in list(query.find_all(exp.Parameter, exp.Placeholder)):
        kind = node.args.get("kind")
        node.replace(exp.cast(exp.Null(), kind) if isinstance(kind, exp.DataType) else exp.Null())
    for call in list(query.find_all(*_PASSING)):
        call.replace(exp.cast(exp.Null(), _PASSING[type(call)]))


def _is_doubtful(query: exp.Expression, relations: Relations) -> bool:
    """Whether DuckDB may read a text or round a decimal otherwise, or needs to be told what an operator is.
    System tables have types of their own."""
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    names = [relation_name(table) for table in tables]
    if any(map(is_system, names)):
        return False
    known = [relations[name].schema for name in names if name in relations]
    types = [type for schema in known for type in schema.types]
    if any(_is_wide(type) for type in types):
        return True
    kinds = {type.kind for type in types}
    has_decimals = Kind.NUMERIC in kinds
    has_sides = query.find(exp.SetOperation) is not None
    for node in query.walk():
        if isinstance(node, exp.Literal) and not isinstance(node.parent, exp.Cast):
            if node.is_string and (is_spelled(node.name) or has_fraction(node.name)):
                return True
            if node.is_string and has_sides and isinstance(_unnamed(node).parent, exp.Select):
                return True
        if has_decimals and isinstance(node, _ALTERNATIVES):
            return True
        if isinstance(node, exp.Mod) and node.find(exp.Sum) is not None:
            return True
        if isinstance(node, exp.Sub) and (node.this.is_string or node.expression.is_string):
            return True
        if isinstance(node, _TYPED_OPERATORS) or _is_wide_constant(node):
            return True
        if isinstance(node, exp.Lag | exp.Lead) and node.args.get("default") is not None:
            return True
        if isinstance(node, exp.With) and node.args.get("recursive"):
            return True
        for operator, of in _BY_KIND:
            if isinstance(node, operator) and (of & kinds or query.find(*_MAKERS)):
                return True
    return False


def _is_wide(type: Type) -> bool:
    return type.kind is Kind.NUMERIC and (type.precision or 0) > _NARROW


def _is_wide_constant(node: exp.Expr) -> bool:
    """Whether the node is a decimal of many digits, or a cast to one."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return len(node.name) > _NARROW
    if not isinstance(node, exp.Cast) or not node.to.is_type(exp.DType.DECIMAL):
        return False
    digits = node.to.expressions[0].this.name if node.to.expressions else ""
    return digits.isdigit() and int(digits) > _NARROW


def _unnamed(node: exp.Expr) -> exp.Expr:
    """The node, or its alias."""
    return node.parent if isinstance(node.parent, exp.Alias) else node


def _write(node: exp.Expr, taken: Taken) -> None:
    if taken.refused:
        refuse(node, f"{taken.refused}, which is not supported outside a view", _MERGED_TWICE)
    if taken.written is not None:
        is_item = node.arg_key == "expressions" and isinstance(node.parent, exp.Select)
        node.replace(exp.alias_(taken.written, node.name, quoted=True) if is_item else taken.written)
    elif taken.columns is not None:
        _write_side(node, taken.columns)
    elif taken.form:
        given = [node.args[part] for part in taken.parts] or [node]
        node.replace(templates.sql(taken.form, [each.copy() for each in given]))
    elif isinstance(taken.value, Literal):
        node.replace(_literal(taken.value, taken.type))
    else:
        node.replace(_cast(node.copy(), taken.type))


def _literal(value: Literal, type: Type) -> exp.Expression:
    match value.value:
        case bool():
            return exp.Boolean(this=value.value)
        case int() | Decimal():
            return exp.maybe_parse(format(value.value, "f" if isinstance(value.value, Decimal) else "d"))
    return _cast(exp.Literal.string(readable(str(value.value), type)), type)


def _cast(value: exp.Expr, type: Type) -> exp.Expression:
    return exp.Cast(this=value, to=exp.DataType.build(duckdb_type(type), dialect="duckdb"))


def _write_side(side: exp.Expr, columns: tuple[tuple[str, Type], ...]) -> None:
    """A side of a set operation with its columns cast."""
    inner = side.copy()
    rows = inner if isinstance(inner, exp.Subquery) and not inner.alias else exp.Subquery(this=inner)
    names = [f"{_SIDE}{place}" for place in range(len(columns))]
    called = [exp.to_identifier(name) for name in names]
    rows.set("alias", exp.TableAlias(this=exp.to_identifier(_SIDE), columns=called))
    items = [
        exp.alias_(_cast(exp.column(column), type), exp.to_identifier(name, quoted=True))
        for column, (name, type) in zip(names, columns, strict=True)
    ]
    written = exp.Select(expressions=items).from_(rows, copy=False)
    if rows is inner:
        side.set("this", written)
    else:
        side.replace(written)
