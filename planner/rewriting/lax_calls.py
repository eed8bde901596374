"""Trino's functions of SQL/JSON paths, whose documents and results are texts.

JSON_EXISTS(doc, 'lax $.a')   →   len(<values at the path>) > 0
JSON_VALUE(doc, 'lax $.a')    →   the value as a text if there is one, and it is a scalar
JSON_QUERY(doc, 'lax $.a')    →   the value as JSON's text if there is one
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import Unsupported
from planner.native import templates
from planner.native.json_paths import json_path
from planner.positions import fail

_DIALECTS = frozenset({"trino"})
_VALUE = (
    "CASE WHEN len({VALUES}) = 1 AND json_type(list_extract({VALUES}, 1)) NOT IN ('ARRAY', 'OBJECT')"
    " THEN json_extract_string(list_extract({VALUES}, 1), '$') END"
)
_QUERY = "CASE WHEN len({VALUES}) = 1 THEN CAST(list_extract({VALUES}, 1) AS VARCHAR) END"
_OPTIONS = ("returning", "on_condition", "option", "quote")


def lax_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The call as DuckDB's functions of JSON; None for any other node. Raises Unsupported for a clause."""
    if dialect not in _DIALECTS:
        return None
    match node:
        case exp.Anonymous(expressions=[document, path]) if node.name.upper() == "JSON_EXISTS":
            return _at(path, "len({VALUES}) > 0", document)
        case exp.JSONValue(this=document, args={"path": path}):
            _refuse_clauses(node)
            return _at(path, _VALUE, document)
        case exp.JSONExtract(this=document, expression=path, args={"json_query": True}):
            _refuse_clauses(node)
            return _at(path, _QUERY, document)
    return None


def _at(path: exp.Expr, template: str, document: exp.Expression) -> exp.Expression:
    values = json_path(path, is_lax=True).values("CAST({0} AS JSON)")
    there = f"CASE WHEN {{0}} IS NOT NULL THEN {template.replace('{VALUES}', values)} END"
    return templates.whole(there, document)


def _refuse_clauses(node: exp.Expression) -> None:
    if any(node.args.get(option) for option in _OPTIONS):
        fail(
            Unsupported("clauses in JSON_VALUE and JSON_QUERY are not supported", "use CAST and COALESCE"),
            node,
        )
