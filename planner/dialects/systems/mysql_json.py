"""MySQL's functions of JSON, each with what it means in DuckDB.

Examples are the manual's, https://dev.mysql.com/doc/refman/8.4/en/json-functions.html. A document may
be a text.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import refuse

_ELEMENTS = "CAST(CAST({0} AS JSON) AS JSON[])"
_LENGTH = (
    "CASE WHEN {JSON} IS NOT NULL THEN CASE json_type({JSON})"
    " WHEN 'ARRAY' THEN CAST(json_array_length({JSON}) AS BIGINT)"
    " WHEN 'OBJECT' THEN CAST(len(json_keys({JSON})) AS BIGINT) ELSE 1 END END"
)
_KIND = (
    "CASE json_type(CAST({0} AS JSON)) WHEN 'BIGINT' THEN 'INTEGER' WHEN 'VARCHAR' THEN 'STRING'"
    " WHEN 'UBIGINT' THEN CASE WHEN CAST(CAST({0} AS JSON) AS UBIGINT) > 9223372036854775807"
    " THEN 'UNSIGNED INTEGER' ELSE 'INTEGER' END ELSE json_type(CAST({0} AS JSON)) END"
)
_AT_KEY = "json_extract({OF}, '/' || replace(replace(key, '~', '~0'), '/', '~1'))"
_THERE, _SOUGHT = _AT_KEY.replace("{OF}", "{JSON}"), _AT_KEY.replace("{OF}", "CAST({1} AS JSON)")
_MEMBERS = "len(list_filter(json_keys(CAST({1} AS JSON)), lambda key: {TEST})) = 0"
_IS_NESTED = "coalesce(json_type({VALUE}) IN ('ARRAY', 'OBJECT'), false)"
_NESTED = " OR ".join(_IS_NESTED.replace("{VALUE}", value) for value in (_THERE, _SOUGHT))
_ARE_FLAT = _MEMBERS.replace("{TEST}", _NESTED)
_CONTAINS = (
    "CASE WHEN json_type(CAST({1} AS JSON)) = 'OBJECT' AND json_type({JSON}) = 'OBJECT'"
    f" AND {_ARE_FLAT} THEN {_MEMBERS.replace('{TEST}', f'{_THERE} IS DISTINCT FROM {_SOUGHT}')}"
    " WHEN json_type(CAST({1} AS JSON)) IN ('ARRAY', 'OBJECT')"
    " THEN CAST('JSON_CONTAINS looks for single values, and not for ' || {1} AS BOOLEAN)"
    " WHEN json_type({JSON}) = 'ARRAY' THEN list_contains(CAST({JSON} AS JSON[]), CAST({1} AS JSON))"
    " ELSE {JSON} = CAST({1} AS JSON) END"
)


def changed(name: str) -> Made:
    """JSON_SET and its like: one pair of a path and a value after the other."""

    def change(args: Args) -> exp.Expression:
        if len(args) % 2 == 0:
            refuse(args[0], f"{name} takes a document, and pairs of a path and a value")
        document = "CAST({0} AS JSON)"
        for place in range(1, len(args), 2):
            document = f"{name}({document}, {{{place}}}, to_json({{{place + 1}}}))"
        return sql(document, args)

    return change


def _has_paths(args: Args) -> exp.Expression:
    """JSON_CONTAINS_PATH(json, 'one', path, ...) and the same of 'all'."""
    kind = args[1].name.lower() if isinstance(args[1], exp.Literal) else ""
    if kind not in ("one", "all"):
        refuse(args[1], "the second argument of json_contains_path is 'one' or 'all'")
    tests = [f"json_exists(CAST({{0}} AS JSON), {{{place}}})" for place in range(2, len(args))]
    return sql(f"({(' OR ' if kind == 'one' else ' AND ').join(tests)})", args)


def member(args: Args) -> exp.Expression:
    """17 MEMBER OF ('[23, "abc", 17]') is true."""
    return sql(f"list_contains({_ELEMENTS.replace('{0}', '{1}')}, to_json({{0}}))", args)


MYSQL_JSON: Meanings = {
    "JSON_CONTAINS(json, value)": _CONTAINS.replace("{JSON}", "CAST({0} AS JSON)"),
    "JSON_CONTAINS(json, value, path)": _CONTAINS.replace("{JSON}", "json_extract(CAST({0} AS JSON), {2})"),
    "JSON_CONTAINS_PATH(json, kind, path, ...)": _has_paths,
    "JSON_INSERT(json, path, value, ...)": changed("json_insert"),
    "JSON_REPLACE(json, path, value, ...)": changed("json_replace"),
    "JSON_SET(json, path, value, ...)": changed("json_set"),
    # JSON_LENGTH('{"a": 1, "b": {"c": 30}}', '$.b') is 1
    "JSON_LENGTH(json)": _LENGTH.replace("{JSON}", "CAST({0} AS JSON)"),
    "JSON_LENGTH(json, path)": _LENGTH.replace("{JSON}", "json_extract(CAST({0} AS JSON), {1})"),
    "JSON_OVERLAPS(a, b)": f"list_has_any({_ELEMENTS}, {_ELEMENTS.replace('{0}', '{1}')})",
    "JSON_QUOTE(text)": "CAST(to_json({0}) AS VARCHAR)",
    "JSON_TYPE(json)": _KIND,
    "JSON_VALUE(json, path)": "json_extract_string(CAST({0} AS JSON), {1})",
}
