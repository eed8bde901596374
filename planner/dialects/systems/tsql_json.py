"""T-SQL's functions of JSON in texts, each with what it means in DuckDB.

Examples are the manual's, https://learn.microsoft.com/en-us/sql/t-sql/functions/. A path is lax, so that a
missing value is NULL, or `strict`, so that it is an error.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import refuse

_JSON = "CAST({0} AS JSON)"
_KIND = f"json_type({_JSON}, {{1}})"
_CHECKED = (
    f"CASE WHEN {{0}} IS NOT NULL AND {_KIND} IS NULL"
    " THEN CAST('there is nothing at the path ' || {1} AS {TYPE}) ELSE {VALUE} END"
)
_VALUE = f"CASE WHEN {_KIND} NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN json_extract_string({_JSON}, {{1}}) END"
_QUERY = f"CASE WHEN {_KIND} IN ('OBJECT', 'ARRAY') THEN json_extract({_JSON}, {{1}}) END"
_IS_DOCUMENT = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN NOT json_valid({0}) THEN 0"
    f" WHEN json_type({_JSON}) IN ({{KINDS}}) THEN 1 ELSE 0 END"
)
_KINDS = {
    "OBJECT": "'OBJECT'",
    "ARRAY": "'ARRAY'",
    "SCALAR": "'VARCHAR', 'BIGINT', 'UBIGINT', 'DOUBLE'",
    "VALUE": "'OBJECT', 'ARRAY', 'VARCHAR', 'BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN', 'NULL'",
}


def _at_path(value: str, type: str) -> Made:
    """A value at a path: JSON_VALUE('{"a": 1}', 'lax $.a') is 1."""

    def found(args: Args) -> exp.Expression:
        path, is_strict, appends = _path(args[1])
        if appends:
            refuse(args[1], "append is a word of json_modify alone")
        checked = _CHECKED.replace("{VALUE}", value).replace("{TYPE}", type)
        return sql(checked if is_strict else value, [args[0], path])

    return found


def _path(node: exp.Expression) -> tuple[exp.Literal, bool, bool]:
    """A path without the words before it; whether it is strict; whether it says `append`."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        refuse(node, "a path that is not constant is not supported", "write the path as a text")
    *words, path = node.name.strip().split(None, node.name.split("$")[0].count(" "))
    if not path.startswith("$") or any(word.lower() not in ("lax", "strict", "append") for word in words):
        refuse(node, f"the path {node.name} is not supported", "a path begins with $")
    said = [word.lower() for word in words]
    return exp.Literal.string(path), "strict" in said, "append" in said


def _modified(args: Args) -> exp.Expression:
    """JSON_MODIFY('{"name":"John"}', '$.name', 'Mike') is {"name":"Mike"}; NULL removes the member."""
    path, is_strict, appends = _path(args[1])
    if appends:
        place = exp.Literal.string(f"{path.name}[#]")
        return sql(f"json_set({_JSON}, {{1}}, to_json({{2}}))", [args[0], place, args[2]])
    changed = f"json_set({_JSON}, {{1}}, to_json({{2}}))"
    if is_strict:
        checked = _CHECKED.replace("{VALUE}", changed).replace("{TYPE}", "JSON")
        null = "coalesce(to_json({2}), CAST('null' AS JSON))"
        return sql(checked.replace("to_json({2})", null), [args[0], path, args[2]])
    if isinstance(args[2], exp.Null):
        return sql(f"json_remove({_JSON}, {{1}})", [args[0], path])
    removed = f"CASE WHEN {{2}} IS NULL THEN json_remove({_JSON}, {{1}}) ELSE {changed} END"
    return sql(removed, [args[0], path, args[2]])


def _is_there(args: Args) -> exp.Expression:
    path, _, _ = _path(args[1])
    there = f"CASE WHEN {{0}} IS NOT NULL THEN CASE WHEN {_KIND} IS NULL THEN 0 ELSE 1 END END"
    return sql(there, [args[0], path])


def _is_document(args: Args) -> exp.Expression:
    """ISJSON('true') is 0, and ISJSON('true', VALUE) is 1."""
    kind = args[1].name.upper() if len(args) > 1 else ""
    if kind and kind not in _KINDS:
        refuse(args[1], f"isjson of {kind.lower()} is not supported", ", ".join(_KINDS))
    return sql(_IS_DOCUMENT.replace("{KINDS}", _KINDS.get(kind, "'OBJECT', 'ARRAY'")), args[:1])


DOCUMENTS: Meanings = {
    "ISJSON(text, kind?)": _is_document,
    "JSON_MODIFY(text, path, value)": _modified,
    "JSON_PATH_EXISTS(text, path)": _is_there,
    "JSON_QUERY(text)": f"CASE WHEN json_type({_JSON}) IN ('OBJECT', 'ARRAY') THEN {_JSON} END",
    # JSON_QUERY('{"a": 1}', '$.a') is NULL: an object or an array is asked for
    "JSON_QUERY(text, path)": _at_path(_QUERY, "JSON"),
    # JSON_VALUE('{"a": {"b": 1}}', '$.a') is NULL: a single value is asked for
    "JSON_VALUE(text, path)": _at_path(_VALUE, "INTEGER"),
    # STRING_ESCAPE('\ /', 'json') is \\ \/
    "STRING_ESCAPE(text, form)": (
        "replace(substring(CAST(to_json(CAST({0} AS VARCHAR)) AS VARCHAR), 2,"
        " length(CAST(to_json(CAST({0} AS VARCHAR)) AS VARCHAR)) - 2), '/', '\\/')"
    ),
}
