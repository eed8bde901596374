"""Snowflake's functions that sqlglot and DuckDB do not have, or have with another meaning.

Objects and variants are JSON here. Examples are the manual's, https://docs.snowflake.com/en/sql-reference/.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects import object_members
from planner.dialects.overloads import PREFIX
from planner.dialects.sounds import SOUNDEX
from planner.native.templates import Meanings, call_of, sql, with_parts

_WHOLE = "json_type({0}) IN ('BIGINT', 'UBIGINT')"
_NUMBER = "json_type({0}) IN ('BIGINT', 'UBIGINT', 'DOUBLE')"
_IS_THERE = "CAST('OBJECT_INSERT of a member that is there: ' || {1} AS JSON)"


def _kind(test: str, type: str) -> str:
    """A variant's value as a type, or NULL for a value of another."""
    return f"CASE WHEN {test} THEN CAST({{0}} AS {type}) END"


_URL = "^([a-zA-Z][a-zA-Z0-9+.-]*)://([^/:?#@]+)(?::([0-9]+))?(?:/([^?#]*))?(?:[?]([^#]*))?(?:#(.*))?$"
_SCHEME, _HOST, _PORT, _PATH, _QUERY, _FRAGMENT = (
    f"regexp_extract({{0}}, '{_URL}', {place})" for place in range(1, 7)
)
_PAIRS = f"string_split({_QUERY}, '&')"
_NAMES = f"list_transform({_PAIRS}, lambda pair: split_part(pair, '=', 1))"
_VALUES = f"list_transform({_PAIRS}, lambda pair: substring(pair, strpos(pair || '=', '=') + 1))"
_PARSED_URL = (
    f"CASE WHEN regexp_full_match({{0}}, '{_URL}') THEN json_object('fragment', nullif({_FRAGMENT}, ''),"
    f" 'host', {_HOST}, 'parameters', CASE WHEN {_QUERY} <> '' THEN to_json(map({_NAMES}, {_VALUES})) END,"
    f" 'path', {_PATH}, 'port', nullif({_PORT}, ''), 'query', nullif({_QUERY}, ''), 'scheme', {_SCHEME})"
    " WHEN {0} IS NOT NULL THEN CAST(CAST('no address: ' || {0} AS BIGINT) AS JSON) END"
)
_KEPT = "list_filter(range(1, len({0}) + 1), lambda at: list_extract({0}, at) IS NOT NULL)"
_FROM_ARRAYS = (
    "CASE WHEN len({0}) = len({1}) THEN"
    f" to_json(map(list_transform({_KEPT}, lambda at: list_extract({{0}}, at)),"
    f" list_transform({_KEPT}, lambda at: list_extract({{1}}, at))))"
    " WHEN len({0}) <> len({1}) THEN CAST(CAST('two arrays of a length: ' || len({0}) AS BIGINT) AS JSON) END"
)

SNOWFLAKE: Meanings = {
    # AS_INTEGER(x): the integer of a variant that is one, else NULL
    "AS_INTEGER(value)": _kind(_WHOLE, "BIGINT"),
    "AS_DOUBLE | AS_REAL(value)": _kind(_NUMBER, "DOUBLE"),
    "AS_BOOLEAN(value)": _kind("json_type({0}) = 'BOOLEAN'", "BOOLEAN"),
    "AS_VARCHAR | AS_CHAR(value)": "CASE WHEN json_type({0}) = 'VARCHAR' THEN {0} ->> '$' END",
    "AS_ARRAY(value)": "CASE WHEN json_type({0}) = 'ARRAY' THEN {0} END",
    "AS_OBJECT(value)": "CASE WHEN json_type({0}) = 'OBJECT' THEN {0} END",
    "IS_INTEGER(value)": _WHOLE,
    "IS_DECIMAL | IS_DOUBLE | IS_REAL(value)": _NUMBER,
    "IS_BOOLEAN(value)": "json_type({0}) = 'BOOLEAN'",
    "IS_VARCHAR | IS_CHAR(value)": "json_type({0}) = 'VARCHAR'",
    "IS_OBJECT(value)": "json_type({0}) = 'OBJECT'",
    # TYPEOF(PARSE_JSON('null')) is NULL_VALUE
    "TYPEOF(value)": (
        "CASE json_type(to_json({0})) WHEN 'BIGINT' THEN 'INTEGER' WHEN 'UBIGINT' THEN 'INTEGER'"
        " WHEN 'DOUBLE' THEN 'DECIMAL' WHEN 'NULL' THEN 'NULL_VALUE' ELSE json_type(to_json({0})) END"
    ),
    # ARRAY_SIZE(PARSE_JSON('[1, 2]')) is 2, and that of another value NULL
    "ARRAY_SIZE(array)": (
        "CASE json_type(to_json({0})) WHEN 'ARRAY' THEN CAST(json_array_length(to_json({0})) AS BIGINT) END"
    ),
    # ARRAYS_TO_OBJECT(['a', NULL], [1, 2]) is {"a": 1}
    "ARRAYS_TO_OBJECT(keys, values)": _FROM_ARRAYS,
    # COLLATION('x') is NULL: no text has a collation of its own here
    "COLLATION(text)": "nullif({0}, {0})",
    # HAVERSINE(40.7127, -74.0059, 34.0500, -118.2500) is 3936.385096389 kilometres
    "HAVERSINE(lat1, lon1, lat2, lon2)": (
        "2 * 6371 * asin(sqrt(pow(sin(radians({2} - {0}) / 2), 2)"
        " + cos(radians({0})) * cos(radians({2})) * pow(sin(radians({3} - {1}) / 2), 2)))"
    ),
    # OBJECT_CONSTRUCT('a', 1, 'b', 'BBBB', 'c', NULL) is {"a": 1, "b": "BBBB"}
    "OBJECT_CONSTRUCT(...)": object_members.made,
    "OBJECT_CONSTRUCT_KEEP_NULL(...)": object_members.made_with_nulls,
    "OBJECT_DELETE(object, key, ...)": object_members.without,
    "OBJECT_PICK(object, key, ...)": object_members.picked,
    # OBJECT_INSERT(OBJECT_CONSTRUCT('a', 1), 'c', 3) is {"a": 1, "c": 3}; a member that is there is an error
    "OBJECT_INSERT(object, key, value)": (
        f"CASE WHEN list_contains(json_keys({{0}}), {{1}}) THEN {_IS_THERE}"
        " ELSE json_merge_patch({0}, json_object({1}, {2})) END"
    ),
    "OBJECT_INSERT(object, key, value, update)": (
        f"CASE WHEN list_contains(json_keys({{0}}), {{1}}) AND NOT {{3}} THEN {_IS_THERE} ELSE"
        " json_merge_patch(json_merge_patch({0}, json_object({1}, NULL)), json_object({1}, {2})) END"
    ),
    # REGR_VALX(NULL, 10) is NULL, and REGR_VALX(1, 10) is 10
    "PARSE_URL(address)": _PARSED_URL,
    "REGR_VALX(y, x)": "CASE WHEN {0} IS NOT NULL THEN CAST({1} AS DOUBLE) END",
    "REGR_VALY(y, x)": "CASE WHEN {1} IS NOT NULL THEN CAST({0} AS DOUBLE) END",
    # TO_BOOLEAN('yes') is true, TO_BOOLEAN(0) false
    "SOUNDEX(text)": SOUNDEX,
    "TO_BOOLEAN(value)": "@truth_of_snowflake",
    # TO_TIMESTAMP_NTZ(40 * 365.25 * 86400) is 2010-01-01 00:00:00
    "TO_TIMESTAMP | TO_TIMESTAMP_NTZ(value)": "@moment_of_snowflake",
    # TO_DATE('31536000000') is 1971-01-01
    "TO_DATE(value)": lambda args: sql(
        "CAST({0} AS DATE)", [call_of(f"{PREFIX}moment_of_snowflake", args, "to_date")]
    ),
    "TO_VARIANT(value)": "to_json({0})",
}


def snowflake_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Struct(expressions=members):
            pairs = [(_name(member.this), member.expression) for member in members]
            return object_members.made([part for pair in pairs for part in pair])
        case exp.ArrayContains(expression=value) | exp.ArrayPosition(expression=value) if _is_variant(value):
            return with_parts(node, expression=value.this.copy())
        case exp.Window(this=exp.ObjectAgg() as inner):
            return with_parts(node, this=_without_nulls(inner))
        case exp.ObjectAgg() if not _is_filtered(node):
            return _without_nulls(node)
    return node


def _name(node: exp.Expression) -> exp.Expression:
    return exp.Literal.string(node.name) if isinstance(node, exp.Identifier) else node


def _is_variant(node: exp.Expression) -> bool:
    """Whether the node is a value that is cast to a variant, which an array's element is not here."""
    return isinstance(node, exp.Cast) and node.to.this is exp.DType.VARIANT


def _is_filtered(node: exp.Expression) -> bool:
    return isinstance(node.parent, exp.Filter)


def _without_nulls(node: exp.ObjectAgg) -> exp.Expression:
    """OBJECT_AGG, which omits a member whose name or value is NULL."""
    there = [
        exp.Not(this=exp.Is(this=part.copy(), expression=exp.Null())) for part in (node.this, node.expression)
    ]
    return exp.Filter(this=node.copy(), expression=exp.Where(this=exp.and_(*there)))
