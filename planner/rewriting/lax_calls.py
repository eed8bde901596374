"""Functions of SQL/JSON paths, whose documents and results are texts, as Trino and Oracle have them.

JSON_EXISTS(doc, 'lax $.a')   →   len(<values at the path>) > 0
JSON_VALUE(doc, 'lax $.a')    →   the value as a text if there is one, and it is a scalar
JSON_QUERY(doc, 'lax $.a')    →   the value as JSON's text if there is one

Oracle's may have a type, defaults and a wrapper, and give NULL for a text that is no document.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates
from planner.native.json_paths import json_path
from planner.positions import refuse

_DIALECTS = frozenset({"oracle", "trino"})
_VALUE = (
    "CASE WHEN len({VALUES}) = 1 AND json_type(list_extract({VALUES}, 1)) NOT IN ('ARRAY', 'OBJECT')"
    " THEN json_extract_string(list_extract({VALUES}, 1), '$') END"
)
_QUERY = "CASE WHEN len({VALUES}) = 1 THEN CAST(list_extract({VALUES}, 1) AS VARCHAR) END"
_READ, _DOCUMENT = "CAST({0} AS JSON)", "TRY_CAST({0} AS JSON)"
_DOCUMENT_ALONE = (
    "CASE WHEN len({VALUES}) = 1 AND json_type(list_extract({VALUES}, 1)) IN ('OBJECT', 'ARRAY')"
    " THEN list_extract({VALUES}, 1) END"
)
_ALWAYS = "CASE WHEN len({VALUES}) > 0 THEN to_json({VALUES}) END"
_WRAPPERS = {
    "WITH": _ALWAYS,
    "WITH UNCONDITIONAL": _ALWAYS,
    "WITH CONDITIONAL": f"CASE WHEN len({{VALUES}}) = 1 THEN {_DOCUMENT_ALONE} ELSE {_ALWAYS} END",
}
_OPTIONS = ("returning", "on_condition", "option", "quote")


def lax_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The call as DuckDB's functions of JSON; None for any other node. Raises Unsupported for a clause."""
    if dialect not in _DIALECTS:
        return None
    if dialect == "oracle":
        return _in_oracle(node)
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


def _in_oracle(node: exp.Expression) -> exp.Expression | None:
    match node:
        case exp.JSONExists(this=document, args={"path": path}):
            return _at(_written(path), "len({VALUES}) > 0", document, _DOCUMENT)
        case exp.JSONValue(this=document, args={"path": path}):
            value = _at(_written(path), _VALUE, document, _DOCUMENT)
            return _with_defaults(node, _written(path), _returned(node, value))
        case exp.JSONExtract(this=document, expression=path, args={"json_query": True}):
            if isinstance(node.args.get("on_condition"), exp.OnCondition):
                refuse(node, "ON EMPTY and ON ERROR of JSON_QUERY are not supported", "use COALESCE")
            template = _WRAPPERS.get(node.text("option"), _DOCUMENT_ALONE)
            return _at(path, template, document, _DOCUMENT)
    return None


def _written(path: exp.Expr) -> exp.Expr:
    """The path as a text again, which sqlglot has parsed."""
    return exp.Literal.string(path.sql("oracle").strip("'")) if isinstance(path, exp.JSONPath) else path


def _returned(node: exp.JSONValue, value: exp.Expression) -> exp.Expression:
    """The value as its type; NULL if it has another."""
    type = node.args.get("returning")
    return exp.TryCast(this=value, to=type.copy()) if isinstance(type, exp.DataType) else value


def _with_defaults(node: exp.JSONValue, path: exp.Expr, value: exp.Expression) -> exp.Expression:
    """The value, or what stands for it where there is none."""
    condition = node.args.get("on_condition")
    if not isinstance(condition, exp.OnCondition):
        return value
    ifs = []
    for on, test in (("empty", "len({VALUES}) = 0"), ("error", "len({VALUES}) > 0")):
        handling = condition.args.get(on)
        if isinstance(handling, exp.Expr):
            there = _at(path, test, node.this, _DOCUMENT)
            lost = exp.And(this=exp.Is(this=value.copy(), expression=exp.Null()), expression=there)
            ifs.append(exp.If(this=lost, true=handling.copy()))
        elif str(handling or "").startswith("ERROR"):
            refuse(node, "ERROR ON is not supported in JSON_VALUE", "use a DEFAULT")
    return exp.Case(ifs=ifs, default=value) if ifs else value


def _at(path: exp.Expr, template: str, document: exp.Expression, read: str = _READ) -> exp.Expression:
    values = json_path(path, is_lax=True).values(read)
    chosen = f"list_transform([{values}], lambda found: {template.replace('{VALUES}', 'found')})[1]"
    return templates.whole(f"CASE WHEN {{0}} IS NOT NULL THEN {chosen} END", document)


def _refuse_clauses(node: exp.Expression) -> None:
    if any(node.args.get(option) for option in _OPTIONS):
        refuse(node, "clauses in JSON_VALUE and JSON_QUERY are not supported", "use CAST and COALESCE")
