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
from engine.schema import Kind, Schema, Type
from planner.adhoc.from_clauses import Relations, catalog_of
from planner.bind import bind
from planner.bind.session import PLACE, Taken
from planner.dialects.systems.postgres_moments import is_spelled
from planner.dialects.traits import Trait, has
from planner.dialects.whole_numbers import has_fraction
from planner.errors import PlannerError
from planner.identifiers import relation_name, relation_node
from planner.relation import Relation
from planner.relation_names import is_system
from planner.sql_types import duckdb_type

_ALTERNATIVES = (exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least, exp.SetOperation, exp.In, exp.Array)
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
    taken: dict[int, Taken] = {}
    try:
        bind(copy, catalog_of(relations), dialect, taken)
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


def _is_doubtful(query: exp.Expression, relations: Relations) -> bool:
    """Whether DuckDB may read a text or round a decimal otherwise. System tables have types of their own."""
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    names = [relation_name(table) for table in tables]
    if any(map(is_system, names)):
        return False
    known = [relations[name].schema for name in names if name in relations]
    has_decimals = any(type.kind is Kind.NUMERIC for schema in known for type in schema.types)
    has_sides = query.find(exp.SetOperation) is not None
    for node in query.walk():
        if isinstance(node, exp.Literal) and not isinstance(node.parent, exp.Cast):
            if node.is_string and (is_spelled(node.name) or has_fraction(node.name)):
                return True
            if node.is_string and has_sides and isinstance(_unnamed(node).parent, exp.Select):
                return True
        if has_decimals and isinstance(node, _ALTERNATIVES):
            return True
    return False


def _unnamed(node: exp.Expr) -> exp.Expr:
    """The node, or its alias."""
    return node.parent if isinstance(node.parent, exp.Alias) else node


def _write(node: exp.Expr, taken: Taken) -> None:
    if taken.columns is not None:
        _write_side(node, taken.columns)
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
    return _cast(exp.Literal.string(str(value.value)), type)


def _cast(value: exp.Expr, type: Type) -> exp.Expression:
    return exp.cast(value, exp.DataType.build(duckdb_type(type), dialect="duckdb"))


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
