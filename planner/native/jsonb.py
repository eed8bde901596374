"""PostgreSQL's functions of documents, by the paths of SQL/JSON too.

Examples are the manual's, https://www.postgresql.org/docs/15/functions-json.html. A path of SQL/JSON is a
constant, and so are its variables.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from sqlglot import exp

from engine.scalar.written import readable
from engine.schema import TEXT, array_of
from planner.native.changed_documents import inserted, replaced
from planner.native.json_paths import json_path, path_predicate
from planner.native.templates import Args, Made, Meanings, sql, whole
from planner.positions import refuse

_DOCUMENT = "CAST({0} AS JSON)"
_ESCAPED = "replace(replace({STEP}, '~', '~0'), '/', '~1')"
# jsonb_array_length('null') is an error
_COUNT = (
    "CASE WHEN json_type({0}) = 'ARRAY' THEN CAST(json_array_length({0}) AS BIGINT) WHEN {0} IS NOT NULL"
    " THEN CAST('a length is that of an array, not of a JSON ' || json_type({0}) AS BIGINT) END"
)
_OF_TEXTS = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN len({0}) % 2 = 1 THEN CAST('an odd number of texts' AS JSON)"
    " ELSE to_json(map_from_entries(list_transform(range(1, CAST(len({0}) AS BIGINT), 2),"
    " lambda place: struct_pack(k := {0}[place], v := to_json({0}[place + 1]))))) END"
)
_OF_TWO = (
    "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN"
    " to_json(map_from_entries(list_transform(range(1, CAST(len({0}) AS BIGINT) + 1),"
    " lambda place: struct_pack(k := {0}[place], v := to_json({1}[place]))))) END"
)
_FIRST = "list_extract({VALUES}, 1)"
_TRUTH = (
    f"CASE WHEN json_type({_FIRST}) = 'BOOLEAN' THEN CAST({_FIRST} AS BOOLEAN) END"  # of a path of values
)


def _along(function: str) -> Made:
    """json_extract_path('{"f2":{"f3":1},"f4":{"f5":99}}', 'f4', 'f5') is 99."""

    def found(args: Args) -> exp.Expression:
        steps = [_ESCAPED.replace("STEP", str(place)) for place in range(1, len(args))]
        path = " || ".join(f"'/' || {step}" for step in steps) or "''"
        return sql(f"{function}(CAST({{0}} AS JSON), {path})", args)

    return found


def _of_arrays(template: str) -> Made:
    """A template of arrays of texts, which may be written as texts."""
    template = template.replace("{0}", "CAST({0} AS VARCHAR[])").replace("{1}", "CAST({1} AS VARCHAR[])")
    return lambda args: sql(template, [_spelled(each) for each in args])


def _spelled(array: exp.Expression) -> exp.Expression:
    """A constant array as DuckDB spells it."""
    if not isinstance(array, exp.Literal):
        return array
    if array.name.count("{") > 1:
        refuse(array, "an object of pairs is not supported", "write keys and values in turn")
    return exp.Literal.string(readable(array.name, array_of(TEXT)))


def _variables(args: Args) -> Mapping[str, object]:
    """The variables of a path, which are the members of a constant object."""
    if len(args) < 3:
        return {}
    given = args[2].this if isinstance(args[2], exp.Cast) else args[2]
    try:
        found = orjson.loads(given.name) if isinstance(given, exp.Literal) else None
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        hint = """write them as a constant, '{"name": value}'"""
        refuse(args[2], "variables of a path that are not a constant object are not supported", hint)
    return found


def path_values(args: Args) -> str:
    """The list of the values that a path leads to in the document `{0}`."""
    return json_path(args[1], True, _variables(args)).values(_DOCUMENT)


def _of_path(template: str) -> Made:
    """A function of the values at a path."""

    def found(args: Args) -> exp.Expression:
        there = f"CASE WHEN {{0}} IS NOT NULL THEN {template.replace('{VALUES}', path_values(args))} END"
        return whole(there, args[0])

    return found


def matches(args: Args) -> exp.Expression:
    """jsonb_path_match('{"a":[1,2,3,4,5]}', 'exists($.a[*] ? (@ >= 2 && @ <= 4))') is true."""
    test = path_predicate(args[1], _variables(args))
    if test is None:
        return _of_path(_TRUTH)(args)
    document = test.replace("{0}", _DOCUMENT)
    return whole(f"CASE WHEN {{0}} IS NOT NULL THEN {document} END", args[0])


exists = _of_path("len({VALUES}) > 0")
_WITH_OPTIONS: Mapping[str, Made] = {
    "JSONB_PATH_EXISTS": exists,
    "JSONB_PATH_MATCH": matches,
    # jsonb_path_query_array('{"a":[1,2,3,4,5]}', '$.a[*] ? (@ >= 2 && @ <= 4)') is [2, 3, 4]
    "JSONB_PATH_QUERY_ARRAY": _of_path("to_json({VALUES})"),
    "JSONB_PATH_QUERY_FIRST": _of_path(_FIRST),
}
JSONB: Meanings = {
    "JSONB_ARRAY_LENGTH(json)": _COUNT,
    "JSON_ARRAY_LENGTH(json)": _COUNT,
    "JSONB_EXTRACT_PATH(json, ...)": _along("json_extract"),
    "JSONB_EXTRACT_PATH_TEXT(json, ...)": _along("json_extract_string"),
    "JSONB_INSERT(json, path, value)": inserted,
    "JSONB_INSERT(json, path, value, after)": inserted,
    # jsonb_object('{a,1,b,def}') is {"a": "1", "b": "def"}
    "JSONB_OBJECT(texts)": _of_arrays(_OF_TEXTS),
    "JSONB_OBJECT(names, values)": _of_arrays(_OF_TWO),
    "JSONB_PRETTY(json)": f"json_pretty({_DOCUMENT})",
    "JSONB_SET(json, path, value)": replaced,
    "JSONB_SET(json, path, value, create)": replaced,
    "JSONB_STRIP_NULLS(json)": f"json_strip_nulls({_DOCUMENT})",
    **{
        f"{name}(json, {places})": meaning
        for name, meaning in _WITH_OPTIONS.items()
        for places in ("path", "path, variables")
    },
}
