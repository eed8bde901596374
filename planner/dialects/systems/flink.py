"""Flink's functions that sqlglot and DuckDB do not have, or have with another meaning.

JSON is text here, and paths begin with `lax` or `strict`. Examples are the manual's,
https://nightlies.apache.org/flink/flink-docs-release-1.20/docs/dev/table/functions/systemfunctions/.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.array_calls import ARRAYS
from planner.dialects.overloads import PREFIX
from planner.dialects.printf import printed
from planner.dialects.systems import flink_language  # noqa: F401  # sqlglot knows the dialect by its class
from planner.dialects.zero_divisors import guarded_division
from planner.errors import InvalidQuery
from planner.native.templates import Args, Made, Meanings, call_of, sql, with_parts
from planner.positions import fail, refuse

_DOUBLE = "CAST({0} AS DOUBLE)"
_KEPT = "list_filter({0}, lambda each, place: list_position({0}, each) = place"
_MOMENT = "CAST({0} AS TIMESTAMP)"
_PATH = re.compile(r"\s*(?:lax|strict)\s+", re.IGNORECASE)
_JSON = "CASE WHEN json_valid({0}) THEN CAST({0} AS JSON) END"
_SCALARS = "json_type({0}) NOT IN ('OBJECT', 'ARRAY', 'NULL')"
_QUOTED = re.compile(r'\.?\["([^"]*)"\]')
_URL_PARTS = {
    "PROTOCOL": "^([^:/?#]+):",
    "HOST": "^[^:/?#]+://(?:[^/?#@]*@)?([^/?#:]*)",
    "PATH": "^[^:/?#]+://[^/?#]*([^?#]*)",
    "QUERY": "^[^?#]*[?]([^#]*)",
    "REF": "#(.*)$",
}
_DONE = "has_its_meaning"


def _path(node: exp.Expression) -> exp.Expression:
    """The path without its mode; a computed one is refused."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        refuse(node, "a computed path is not supported in flink", "write the path as a text")
    return exp.Literal.string(_QUOTED.sub(r'."\1"', _PATH.sub("", node.name, count=1)))


def _at(form: str) -> Made:
    """A function of the JSON at a path: JSON_EXISTS('{"a": true}', '$.a')."""

    def made(args: Args) -> exp.Expression:
        found = sql("json_extract({0}, {1})", [sql(_JSON, args[:1]), _path(args[1])])
        return sql(form, [found, args[0]])

    return made


def _wrapped(args: Args) -> exp.Expression:
    """JSON_QUERY('{"a": 1}', '$.a' WITH WRAPPER) is [1]."""
    path = _path(args[1])
    form = "'[' || json_extract({0}, {1}) || ']'"
    if "*" in path.name:
        form = "'[' || CAST(to_json(json_extract({0}, {1})) AS VARCHAR) || ']'"
    return sql(form, [sql(_JSON, args[:1]), path])


def _items(keeps_nulls: bool) -> Made:
    """JSON_ARRAY(1, '2') is [1,"2"]; a NULL is left out unless NULL ON NULL keeps it."""

    def made(args: Args) -> exp.Expression:
        if keeps_nulls or not args:
            places = ", ".join(f"{{{place}}}" for place in range(len(args)))
            return sql(f"CAST(json_array({places}) AS VARCHAR)", args)
        each = ", ".join(f"CAST(to_json({{{place}}}) AS VARCHAR)" for place in range(len(args)))
        return sql(
            f"'[' || array_to_string(list_filter([{each}], lambda v: v IS NOT NULL), ',') || ']'", args
        )

    return made


def _joined(args: Args) -> exp.Expression:
    """CONCAT_WS('~', 'AA', NULL, 'BB') is AA~BB."""
    places = ", ".join(f"{{{place}}}" for place in range(len(args)))
    return sql(f"CASE WHEN {{0}} IS NOT NULL THEN concat_ws({places}) END", args)


def _no_names(args: Args) -> exp.Expression:
    refuse(args[0], "typeof is not supported: types have other names here", "leave it out")


def _part_of_url(args: Args) -> exp.Expression:
    """A part of an address; NULL if it has none."""
    part = args[1].name.upper()
    if part not in _URL_PARTS:
        refuse(args[1], f"the part {part} is not supported in parse_url", ", ".join(_URL_PARTS))
    found = sql("nullif(regexp_extract({0}, {1}, 1), '')", [args[0], exp.Literal.string(_URL_PARTS[part])])
    if len(args) < 3:
        return found
    return sql("nullif(regexp_extract({0}, '(?:^|&)' || {1} || '=([^&]*)', 1), '')", [found, args[2]])


def _map(args: Args) -> exp.Expression:
    """MAP['a', 1, 'b', 2]."""
    if len(args) % 2 or not args:
        fail(InvalidQuery("MAP takes keys and values in turn"), args[0] if args else exp.Null())
    keys = exp.Array(expressions=[key.copy() for key in args[::2]])
    return sql("map({0}, {1})", [keys, exp.Array(expressions=[value.copy() for value in args[1::2]])])


def _if(args: Args) -> exp.Expression:
    """IF(NULL, 1, 2) is 2."""
    return exp.Case(ifs=[exp.If(this=args[0].copy(), true=args[1].copy())], default=args[2].copy())


_SPLIT = "string_split({0}, {1})"
_PAIRS = "list_transform(string_split({0}, {1}), lambda part: string_split(part, {2}))"
_TO_MAP = (
    f"map(list_transform({_PAIRS}, lambda pair: pair[1]), list_transform({_PAIRS}, lambda pair: pair[2]))"
)


def _to_map(args: Args) -> exp.Expression:
    """STR_TO_MAP('k1=v1,k2=v2')."""
    given = [*args[1:], *(exp.Literal.string(sign) for sign in (",", "=")[len(args) - 1 :])]
    return sql(_TO_MAP, [args[0], *given])


_MAP_UNION = "map_concat({0}, {1})"

FLINK: Meanings = {
    **{key: ARRAYS[key] for key in ("ARRAY_UNION(a, b)",)},
    "MAP_OF(...)": _map,
    "IF(test, yes, no)": _if,
    "IFNULL(value, other)": "coalesce({0}, {1})",
    "CONCAT_WS(separator, text, ...)": _joined,
    "LOG(value)": f"ln({_DOUBLE})",
    "LN(value)": (
        "CASE WHEN {0} = 0 THEN CAST('-inf' AS DOUBLE) WHEN {0} < 0 THEN CAST('NaN' AS DOUBLE)"
        f" ELSE ln({_DOUBLE}) END"
    ),
    "LOG(base, value)": "ln(CAST({1} AS DOUBLE)) / ln(CAST({0} AS DOUBLE))",
    "E()": "exp(1)",
    "TRUNCATE(value)": "trunc({0})",
    "TRUNCATE(value, digits)": "trunc({0}, {1})",
    "SQRT(value)": f"CASE WHEN {{0}} < 0 THEN CAST('NaN' AS DOUBLE) ELSE sqrt({_DOUBLE}) END",
    "ACOS(value)": f"CASE WHEN abs({{0}}) > 1 THEN CAST('NaN' AS DOUBLE) ELSE acos({_DOUBLE}) END",
    "ASIN(value)": f"CASE WHEN abs({{0}}) > 1 THEN CAST('NaN' AS DOUBLE) ELSE asin({_DOUBLE}) END",
    "BIN(value)": "to_base({0}, 2)",
    "HEX(value)": "upper(hex({0}))",
    "UNHEX(text)": "unhex({0})",
    "SHA2(text, bits)": lambda args: (
        sql("sha256({0})", args[:1]) if args[1].name == "256" else _no_hash(args)
    ),
    "TO_BASE64(text)": "to_base64(encode({0}))",
    "FROM_BASE64(text)": "decode(from_base64({0}))",
    "CHAR_LENGTH | CHARACTER_LENGTH(text)": "length({0})",
    "INSTR(text, part)": "strpos({0}, {1})",
    "LOCATE(part, text)": "strpos({1}, {0})",
    "LOCATE(part, text, start)": (
        "CASE WHEN strpos(substring({1}, {2}), {0}) = 0 THEN 0"
        " ELSE strpos(substring({1}, {2}), {0}) + {2} - 1 END"
    ),
    "REVERSE(text)": "reverse({0})",
    "BTRIM(text)": "trim({0})",
    "BTRIM(text, signs)": "trim({0}, {1})",
    "LTRIM(text)": "ltrim({0})",
    "RTRIM(text)": "rtrim({0})",
    "SPLIT_INDEX(text, separator, place)": f"CASE WHEN {{2}} >= 0 THEN list_extract({_SPLIT}, {{2}} + 1) END",
    "STR_TO_MAP(text)": _to_map,
    "STR_TO_MAP(text, separator, sign)": _to_map,
    # PARSE_URL('http://facebook.com/path1/p.php?k1=v1', 'QUERY', 'k1') is v1
    "PARSE_URL(url, part, key?)": _part_of_url,
    "IS_ALPHA(text)": "regexp_full_match({0}, '[A-Za-z]+')",
    "IS_DIGIT(text)": "regexp_full_match({0}, '[0-9]+')",
    "IS_DECIMAL(text)": "TRY_CAST({0} AS DOUBLE) IS NOT NULL",
    "REGEXP(text, pattern)": "regexp_matches({0}, {1})",
    # REGEXP_REPLACE('a1', '([a-z])([0-9])', '$2$1') is $2$1: a replacement has no groups
    "REGEXP_REPLACE(text, pattern, replacement)": (
        "regexp_replace({0}, {1}, replace({2}, chr(92), chr(92) || chr(92)), 'g')"
    ),
    # REPLACE('abc', '', 'x') is xaxbxcx
    "REPLACE(text, part, other)": (
        "CASE WHEN {1} = '' THEN regexp_replace({0}, '', replace({2}, chr(92), chr(92) || chr(92)), 'g')"
        " ELSE replace({0}, {1}, {2}) END"
    ),
    "TYPEOF(value)": _no_names,
    "REGEXP_EXTRACT(text, pattern)": "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}) END",
    "REGEXP_EXTRACT(text, pattern, group)": (
        "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}, {2}) END"
    ),
    "URL_ENCODE(text)": "replace(url_encode({0}), '%20', '+')",
    "URL_DECODE(text)": "url_decode(replace({0}, '+', ' '))",
    "PRINTF(pattern, ...)": printed,
    "ELT(place, text, ...)": lambda args: sql(
        "list_extract({0}, {1})", [exp.Array(expressions=[a.copy() for a in args[1:]]), args[0]]
    ),
    "STARTSWITH(text, part)": "starts_with({0}, {1})",
    "ENDSWITH(text, part)": "ends_with({0}, {1})",
    "ARRAY_APPEND(array, value)": "list_append({0}, {1})",
    "ARRAY_PREPEND(array, value)": "list_prepend({1}, {0})",
    "ARRAY_CONCAT(array, ...)": lambda args: exp.ArrayConcat(
        this=args[0].copy(), expressions=[a.copy() for a in args[1:]]
    ),
    # ARRAY_CONTAINS(ARRAY[1, NULL], NULL) is TRUE
    "ARRAY_CONTAINS(array, value)": (
        "CASE WHEN {0} IS NOT NULL"
        " THEN len(list_filter({0}, lambda each: each IS NOT DISTINCT FROM {1})) > 0 END"
    ),
    "ARRAY_DISTINCT(array)": f"{_KEPT})",
    "ARRAY_EXCEPT(a, b)": f"{_KEPT} AND list_position({{1}}, each) IS NULL)",
    "ARRAY_INTERSECT(a, b)": f"{_KEPT} AND list_position({{1}}, each) IS NOT NULL)",
    "ARRAY_JOIN(array, separator)": ("array_to_string(list_filter({0}, lambda each: each IS NOT NULL), {1})"),
    "ARRAY_JOIN(array, separator, other)": (
        "array_to_string(list_transform({0}, lambda each: coalesce(each, {2})), {1})"
    ),
    "ARRAY_MAX(array)": "list_max({0})",
    "ARRAY_MIN(array)": "list_min({0})",
    "ARRAY_POSITION(array, value)": "CASE WHEN {1} IS NOT NULL THEN coalesce(list_position({0}, {1}), 0) END",
    "ARRAY_REMOVE(array, value)": "list_filter({0}, lambda each: each IS DISTINCT FROM {1})",
    "ARRAY_REVERSE(array)": "list_reverse({0})",
    "ARRAY_SLICE(array, start)": "{0}[{1}:]",
    "ARRAY_SLICE(array, start, stop)": "{0}[{1}:{2}]",
    "ARRAY_SORT(array)": "list_sort({0}, 'ASC', 'NULLS FIRST')",
    "ARRAY_SORT(array, ascending)": (
        "CASE WHEN {1} THEN list_sort({0}, 'ASC', 'NULLS FIRST')"
        " ELSE list_sort({0}, 'DESC', 'NULLS LAST') END"
    ),
    "ELEMENT(array)": (
        "CASE WHEN len({0}) > 1 THEN list_extract({0}, CAST('more than one element: ' || len({0}) AS BIGINT))"
        " ELSE list_extract({0}, 1) END"
    ),
    "CARDINALITY(value)": "@cardinality_of_flink",
    "MAP_KEYS(map)": "map_keys({0})",
    "MAP_VALUES(map)": "map_values({0})",
    "MAP_FROM_ARRAYS(keys, values)": "map({0}, {1})",
    "MAP_UNION(a, b)": _MAP_UNION,
    "JSON_ARRAY_OF(...)": _items(False),
    "JSON_ARRAY_WITH_NULLS(...)": _items(True),
    "JSON_EXISTS(json, path)": _at("{0} IS NOT NULL"),
    # JSON_VALUE('{"a": [1]}', '$.a') is NULL
    "JSON_SCALAR_AT(json, path)": _at(f"CASE WHEN {_SCALARS} THEN json_extract_string({{0}}, '$') END"),
    "JSON_PART_AT(json, path)": _at(
        "CASE WHEN json_type({0}) IN ('OBJECT', 'ARRAY') THEN CAST({0} AS VARCHAR) END"
    ),
    "JSON_WRAPPED_AT(json, path)": _wrapped,
    "JSON_STRING(value)": "CAST(to_json({0}) AS VARCHAR)",
    "CONVERT_TZ(at, source, target)": (
        f"strftime(timezone({{2}}, timezone({{1}}, {_MOMENT})), '%Y-%m-%d %H:%M:%S')"
    ),
    "TO_TIMESTAMP_LTZ(number, digits)": (
        "make_timestamptz(CAST({0} * CASE {1} WHEN 0 THEN 1000000 WHEN 3 THEN 1000 END AS BIGINT))"
    ),
    "TO_TIMESTAMP(text)": "TRY_CAST({0} AS TIMESTAMP)",
    "TO_DATE(text)": "TRY_CAST({0} AS DATE)",
}


def _no_hash(args: Args) -> exp.Expression:
    refuse(args[1], "sha2 of other than 256 bits is not supported", "write SHA2(text, 256)")


def flink_node(node: exp.Expression) -> exp.Expression:
    if _DONE in node.meta:
        return node
    match node:
        case exp.Greatest() | exp.Least() if node.args.get("ignore_nulls") is not False:
            return with_parts(node, ignore_nulls=False)
        case exp.Cast(to=to) if to.is_type(*exp.DataType.TEXT_TYPES) and not isinstance(
            node.this, exp.Literal
        ):
            # CAST(TRUE AS STRING) is TRUE
            inner = node.copy()
            inner.meta[_DONE] = True
            form = "CASE typeof({0}) WHEN 'BOOLEAN' THEN upper({1}) ELSE {1} END"
            return sql(form, [node.this, inner])
        case exp.Div():
            return guarded_division(node)
        case exp.UnicodeString():
            sign = node.args["escape"].name if node.args.get("escape") else "\\"
            text = re.sub(
                re.escape(sign) + r"([0-9A-Fa-f]{4})", lambda code: chr(int(code[1], 16)), node.name
            )
            return exp.Literal.string(text)
        case exp.Is(expression=exp.JSON() as kind):
            return _is_json(node.this, str(kind.this or "VALUE").upper())
        case exp.Overlaps(this=exp.Tuple() as first, expression=exp.Tuple() as second):
            return _overlap(first.expressions, second.expressions)
        case exp.Floor() | exp.Ceil() if isinstance(node.args.get("to"), exp.Var):
            return _to_unit(node)
        case exp.JSONObject():
            return _object(node)
    return node


_KINDS = {"OBJECT": "= 'OBJECT'", "ARRAY": "= 'ARRAY'", "SCALAR": "NOT IN ('OBJECT', 'ARRAY')"}


def _is_json(value: exp.Expression, kind: str) -> exp.Expression:
    """'{}' IS JSON OBJECT."""
    if kind not in _KINDS:
        return sql("json_valid({0})", [value])
    test = f"CASE WHEN json_valid({{0}}) THEN json_type(CAST({{0}} AS JSON)) {_KINDS[kind]} ELSE false END"
    return sql(f"CASE WHEN {{0}} IS NOT NULL THEN {test} END", [value])


def _overlap(first: Args, second: Args) -> exp.Expression:
    """(start, end) OVERLAPS (start, end), where an end may be an interval."""
    sides = []
    for start, end in (first, second):
        sides += [start, sql("{0} + {1}", [start, end]) if isinstance(end, exp.Interval) else end]
    return sql("greatest({0}, {1}) >= least({2}, {3}) AND greatest({2}, {3}) >= least({0}, {1})", sides)


def _to_unit(node: exp.Floor | exp.Ceil) -> exp.Expression:
    """FLOOR(TIME '12:44:31' TO MINUTE) is 12:44:00; CEIL goes to the next one."""
    unit = node.args["to"].name.lower()
    if unit not in ("second", "minute", "hour", "day", "week", "month", "quarter", "year"):
        refuse(node, f"{unit} is no unit of FLOOR and CEIL here", "write DAY, MONTH or another")
    kind = "floor" if isinstance(node, exp.Floor) else "ceil"
    if unit == "week":  # which begins on Sunday
        name = {"floor": "week_begun", "ceil": "week_ceiled"}[kind]
        return call_of(f"{PREFIX}{name}", [node.this, exp.Literal.number(1)], kind)
    step = {"quarter": "3 MONTH"}.get(unit, f"1 {unit}")
    return call_of(
        f"{PREFIX}{kind}_to_unit", [node.this, exp.Literal.string(unit), sql(f"INTERVAL '{step}'", [])], kind
    )


def _object(node: exp.JSONObject) -> exp.Expression:
    """JSON_OBJECT('K1' VALUE 'V1'): a text of JSON; ABSENT ON NULL leaves members out."""
    parts: list[exp.Expression] = []
    for pair in node.expressions:
        parts += [pair.this, pair.expression]
    places = ", ".join(f"{{{place}}}" for place in range(len(parts)))
    if "ABSENT" in str(node.args.get("null_handling") or "").upper():
        each = (
            f"CASE WHEN {{{place + 1}}} IS NOT NULL THEN json_object({{{place}}}, {{{place + 1}}})"
            " ELSE json_object() END"
            for place in range(0, len(parts), 2)
        )
        return sql(f"CAST(json_merge_patch(json_object(), {', '.join(each)}) AS VARCHAR)", parts)
    return sql(f"CAST(json_object({places}) AS VARCHAR)", parts)
