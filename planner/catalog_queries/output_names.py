"""The names that PostgreSQL gives to output columns without one, kept while calls and casts are replaced."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.catalog_queries.object_casts import type_name

_SPECIAL: dict[type[exp.Expr], str] = {
    exp.CurrentUser: "current_user",
    exp.CurrentSchema: "current_schema",
    exp.SessionUser: "session_user",
    exp.CurrentDatabase: "current_database",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchemas: "current_schemas",
    exp.CurrentVersion: "version",
    exp.Exists: "exists",
    exp.Array: "array",
    exp.ArrayAgg: "array_agg",
    exp.GroupConcat: "string_agg",
}
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_TYPES = {"int": "int4", "integer": "int4", "bigint": "int8", "smallint": "int2", "boolean": "bool"}
_INSIDE = (exp.Paren, exp.Bracket, exp.Collate, exp.Window, exp.Filter, exp.WithinGroup)
"""Nodes that have the name of the value inside them."""


def name_outputs(query: exp.Expression, is_replaced: Callable[[exp.Column], bool]) -> None:
    """Name every select item that has no name of its own, or that is a column which is replaced."""
    for select in query.find_all(exp.Select):
        for item in list(select.expressions):
            is_column = isinstance(item, exp.Column) and not is_replaced(item)
            if is_column or item.is_star or isinstance(item, exp.Alias):
                continue
            named = exp.Alias(alias=exp.to_identifier(output_name(item), quoted=True))
            item.replace(named)
            named.set("this", item)


def name_groups(query: exp.Expression) -> None:
    """Give names in GROUP BY and ORDER BY that an output column has, and a table too, the column's number.

    To PostgreSQL they mean the column, to DuckDB the table's row.
    """
    for select in query.find_all(exp.Select):
        places = {item.alias: place for place, item in enumerate(select.expressions, 1)}
        sources = {table.alias for table in select.find_all(exp.Table) if table.parent_select is select}
        clauses = (select.args.get(part) for part in ("group", "order"))
        for name in [n for clause in clauses if clause is not None for n in clause.find_all(exp.Column)]:
            if not name.table and name.name in sources and name.name in places:
                name.replace(exp.Literal.number(places[name.name]))


def output_name(node: exp.Expr | None) -> str:
    """The name that PostgreSQL gives an expression."""
    return _name(node)[0] or "?column?"


def _name(node: exp.Expr | None) -> tuple[str, bool]:
    """The name, and whether it is better than one that a type or a CASE gives."""
    match node:
        case exp.Column() | exp.Identifier():
            return node.name, True
        case exp.Subquery(this=exp.Select() as inner) if inner.expressions:
            return output_name(inner.expressions[0]), True
        case exp.Cast():
            name, is_good = _name(node.this)
            written = type_name(node.to)
            return (name, True) if is_good else (_TYPES.get(written, written), False)
        case exp.Alias():
            return node.alias, True
        case exp.Dot():
            return _name(node.expression)
        case exp.Anonymous():
            return node.name.lower(), True
        case exp.Trim():
            return _TRIMS.get(str(node.args.get("position") or "").upper(), "btrim"), True
        case exp.Case():
            name, is_good = _name(node.args.get("default"))
            return (name, True) if is_good else ("case", False)
        case exp.Connector() | exp.Null() | None:
            return "", False
    if isinstance(node, _INSIDE):
        return _name(node.this)
    if type(node) in _SPECIAL:
        return _SPECIAL[type(node)], True
    return (node.sql_name().lower(), True) if isinstance(node, exp.Func) else ("", False)
