"""Calls of PostgreSQL's functions over catalogs, in expressions and in FROM."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from planner.allowed.open_functions import TABLE_FUNCTIONS
from planner.catalog_queries.catalog_functions import FUNCTIONS, ROWS
from planner.catalog_queries.system_catalog import CATALOG, CatalogSession
from planner.errors import InvalidQuery
from planner.native.templates import sql
from planner.positions import fail

SESSION: dict[type[exp.Expr], str] = {
    exp.CurrentUser: "current_user",
    exp.CurrentSchema: "current_schema",
    exp.SessionUser: "session_user",
    exp.CurrentDatabase: "current_database",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchemas: "current_schemas",
    exp.CurrentVersion: "version",
}
"""Functions that have nodes of their own in sqlglot's trees."""
_IN_FROM = TABLE_FUNCTIONS | {"regexp_split_to_table", "json_array_elements", "string_to_table"}
"""Functions that give rows, so that they stay in FROM as they are."""

_TRANSACTIONS = frozenset(
    {"backend_xid", "backend_xmin", "datfrozenxid", "relfrozenxid", "transactionid", "xmax", "xmin"}
)
"""Columns with numbers of transactions."""
_OF_VALUES = frozenset(
    {"array_lower", "array_ndims", "array_remove", "array_upper", "quote_literal", "quote_nullable"}
)
"""Functions that are no sign of a query over catalogs: any query has them."""


def is_rows_call(call: exp.Expr) -> bool:
    """Whether a call in FROM is one that is replaced: it gives one value, or rows about the catalogs."""
    name = _name(call)
    if not isinstance(call, exp.Func | exp.Paren):
        return False
    rows = (exp.Unnest, exp.Explode, exp.GenerateSeries, exp.ExplodingGenerateSeries)
    return name in ROWS or (name not in _IN_FROM and not isinstance(call, rows))


def _name(call: exp.Expr) -> str:
    return (
        call.name.lower()
        if isinstance(call, exp.Anonymous)
        else call.sql_name().lower()
        if isinstance(call, exp.Func)
        else ""
    )


def is_of_catalogs(name: str, arguments: Sequence[exp.Expr]) -> bool:
    """Whether a call makes its query one over catalogs; `age` does, of a number of a transaction."""
    return _is_of_transactions(arguments) if name == "age" else name in FUNCTIONS.keys() - _OF_VALUES


def _is_of_transactions(arguments: Sequence[exp.Expr]) -> bool:
    columns = (column for each in arguments for column in each.find_all(exp.Column))
    return any(column.name.lower() in _TRANSACTIONS for column in columns)


def call_of_catalog(node: exp.Expr, name: str, arguments: list, session: CatalogSession) -> exp.Expr:
    """A call as its template; itself if the function is not one over catalogs."""
    templates = FUNCTIONS.get(name)
    if templates is None or (name == "age" and not _is_of_transactions(arguments)):
        return node
    template = templates.get(len(arguments))
    if template is None:
        counts = " or ".join(map(str, sorted(templates)))
        fail(InvalidQuery(f"{name} takes {counts} arguments, not {len(arguments)}"), node)
    return sql(_told(template, session), arguments)


def _told(template: str, session: CatalogSession) -> str:
    """The template with what the session says."""
    path = list(session.search_path)
    values = {
        "user": _text(session.user),
        "pid": str(session.pid),
        "database": _text(session.database),
        "version": _text(session.version),
        "started": f"CAST({_text(session.started)} AS TIMESTAMPTZ)",
        "schema": "CAST(NULL AS VARCHAR)" if session.schema is None else _text(session.schema),
        "path": _texts(path),
        "whole_path": _texts([CATALOG, *path]),
    }
    for name, written in values.items():
        template = template.replace(f"{{session:{name}}}", written)
    return template


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: list[str]) -> str:
    return f"CAST([{', '.join(map(_text, values))}] AS VARCHAR[])"


def rows_of_call(table: exp.Table, call: exp.Expression, session: CatalogSession) -> exp.Expr:
    """A function in FROM as a subquery of its rows."""
    name = _name(call) or "value"
    if name in ROWS:
        template, names = ROWS[name]
        query = sql(_told(template, session), call.expressions).this
    else:
        found = call_of_catalog(call, name, call.expressions, session)
        query, names = exp.Select(expressions=[exp.alias_(found.copy(), name, quoted=True)]), (name,)
    alias = table.args.get("alias")
    alias = alias.copy() if alias is not None else exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    if not alias.columns and len(names) == 1 and alias.this is not None:
        alias.set("columns", [exp.to_identifier(alias.name, quoted=True)])
    if table.args.get("ordinality"):
        query = _numbered(query)
    joins = table.args.get("joins")
    given = exp.Subquery(this=query)
    found = (
        exp.Lateral(this=given, alias=alias)
        if call.find(exp.Column)
        else exp.Subquery(this=query, alias=alias)
    )
    return exp.Table(this=found, joins=joins) if joins else found


def _numbered(query: exp.Expression) -> exp.Select:
    """The rows of a query with their numbers, as WITH ORDINALITY adds them."""
    number = exp.alias_(exp.Window(this=exp.RowNumber()), "ordinality")
    rows = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("rows")))
    return exp.Select(expressions=[exp.Star(), number]).from_(rows)
