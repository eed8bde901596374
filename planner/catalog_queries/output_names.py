"""Names of output columns that PostgreSQL derives from calls and casts, kept while these are replaced."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.catalog_queries.object_casts import type_name

_SPECIAL = {
    exp.CurrentUser: "current_user",
    exp.CurrentSchema: "current_schema",
    exp.SessionUser: "session_user",
    exp.CurrentDatabase: "current_database",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchemas: "current_schemas",
    exp.Case: "case",
    exp.Exists: "exists",
    exp.Array: "array",
    exp.Coalesce: "coalesce",
    exp.ArrayAgg: "array_agg",
}


def name_outputs(query: exp.Expression, is_replaced: Callable[[exp.Expr], bool]) -> None:
    """Name every select item in which something is replaced, and that has no name of its own."""
    for select in query.find_all(exp.Select):
        for item in list(select.expressions):
            if isinstance(item, exp.Alias | exp.Column | exp.Star) or item.is_star:
                continue
            if any(is_replaced(node) for node in item.walk()):
                named = exp.Alias(alias=exp.to_identifier(output_name(item), quoted=True))
                item.replace(named)
                named.set("this", item)


def output_name(node: exp.Expr | None) -> str:
    """The name that PostgreSQL gives an expression."""
    return _name(node) or "?column?"


def _name(node: exp.Expr | None) -> str:
    match node:
        case exp.Column():
            return node.name
        case exp.Paren() | exp.Bracket() | exp.Collate():
            return _name(node.this)
        case exp.Subquery():
            inner = node.this
            return (
                output_name(inner.expressions[0])
                if isinstance(inner, exp.Select) and inner.expressions
                else ""
            )
        case exp.Cast():
            return _name(node.this) or type_name(node.to)
        case exp.Alias():
            return node.alias
        case exp.Dot():
            return _name(node.expression) if isinstance(node.expression, exp.Func) else node.expression.name
        case exp.Anonymous():
            return node.name.lower()
        case exp.Case() if node.args.get("default") is not None:
            return _name(node.args["default"]) or "case"
    if type(node) in _SPECIAL:
        return _SPECIAL[type(node)]
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""
