"""Trino's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://trino.io/docs/current/functions/.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.array_calls import ANY, ARRAYS, EVERY, HAS, REPEATED, at_places, of_each
from planner.dialects.clickhouse.clickhouse_maps import of_entries
from planner.dialects.extreme_rows import of_nulls_too
from planner.dialects.java_patterns import replaced
from planner.dialects.made_documents import made_document
from planner.dialects.moment_digits import digits_of, rounded_up
from planner.dialects.printf import printed
from planner.dialects.systems.trino_texts import TEXTS
from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import refuse

_MEMBERS = "json_extract({0}, '$[*]')"
_PLACES = "list_filter(range(1, length({0}) + 1), lambda at: substring({0}, at, length({1})) = {1})"
_SPLIT = "string_split({0}, {1})"
_REST = f"array_to_string(list_slice({_SPLIT}, {{2}}, len({_SPLIT})), {{1}})"
_FOUND, _BETWEEN = "regexp_extract_all({0}, {1})", "string_split_regex({0}, {1})"
_LENGTHS = "coalesce(list_sum(list_transform(list_slice(LIST, 1, END), lambda text: length(text))), 0)"
_PLACE = (
    f"CAST(1 + {_LENGTHS.replace('LIST', _BETWEEN).replace('END', 'number')}"
    f" + {_LENGTHS.replace('LIST', _FOUND).replace('END', 'number - 1')} AS BIGINT)"
)
_ALL_PLACES = f"list_transform(range(1, len({_FOUND}) + 1), lambda number: {_PLACE})"
_MATCHES = (
    f"list_filter({_ALL_PLACES}, lambda place, number: CASE"
    f" WHEN place < {{2}} AND place + length(list_extract({_FOUND}, number)) > {{2}}"
    " THEN CAST('a match is cut by the start: ' || place AS BOOLEAN) ELSE place >= {2} END)"
)
"""The places of all matches from a start on. Where a match begins before it and ends behind it, another one
may begin at it: that is an error."""
_NO_MATCH = "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL AND {2} IS NOT NULL THEN -1 END"
_DOUBLES = "CAST({0} AS DOUBLE[]), CAST({1} AS DOUBLE[])"
_TYPE_NAMES = {"FLOAT": "real", "BLOB": "varbinary", "TIMESTAMP WITH TIME ZONE": "timestamp with time zone"}
_NAMED = " ".join(f"WHEN '{name}' THEN '{there}'" for name, there in _TYPE_NAMES.items())
_INT64_BITS = 64


def _bits(args: Args) -> exp.Expression:
    """BIT_COUNT(-7, 8): the bits of a number of so many bits."""
    bits = args[1].name if isinstance(args[1], exp.Literal) else ""
    if not bits.isdigit() or not 2 <= int(bits) <= _INT64_BITS:
        refuse(args[1], "bit_count takes a number of bits from 2 to 64", "write the number")
    if int(bits) == _INT64_BITS:
        return sql(
            "bit_count(CAST({0} AS BIGINT) & 9223372036854775807) + CAST({0} < 0 AS INTEGER)", args[:1]
        )
    return sql(f"bit_count(CAST({{0}} AS BIGINT) & {2 ** int(bits) - 1})", args[:1])


def _of_map(wrapper: str) -> Made:
    """MAP_FILTER(map, (k, v) -> v > 10)."""
    made = of_entries(wrapper)
    return lambda args: made([args[1], args[0]])


def _zipped(args: Args) -> exp.Expression:
    """ZIP_WITH(ARRAY[1, 2], ARRAY[3], (x, y) -> x + y) is [4, NULL]."""
    *arrays, function = args
    names = [each.name for each in function.expressions] if isinstance(function, exp.Lambda) else []
    if not isinstance(function, exp.Lambda) or len(names) != len(arrays):
        refuse(function, "zip_with takes a lambda of two arguments", "write (x, y) -> ...")
    places = sql("range(1, greatest(len({0}), len({1})) + 1)", arrays)
    found = exp.Transform(this=places, expression=at_places(function, names, arrays))
    return sql("CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN {2} END", [*arrays, found])


TRINO: Meanings = {
    **ARRAYS,
    **TEXTS,
    "ALL_MATCH(array, test)": lambda args: of_each(EVERY, *args),
    "ANY_MATCH(array, test)": lambda args: of_each(ANY, *args),
    "NONE_MATCH(array, test)": lambda args: sql("NOT {0}", [of_each(ANY, *args)]),
    "ARRAY_FIRST(array)": "list_extract({0}, 1)",
    "ARRAY_LAST(array)": "list_extract({0}, -1)",
    # ARRAY_MAX(ARRAY[1, NULL, 3]) is NULL
    "ARRAY_MAX(array)": "CASE WHEN list_count({0}) = len({0}) THEN list_max({0}) END",
    "ARRAY_MIN(array)": "CASE WHEN list_count({0}) = len({0}) THEN list_min({0}) END",
    "BIT_COUNT(value, bits)": _bits,
    "BITWISE_LEFT_SHIFT(value, shift)": "{0} << {1}",
    # BITWISE_RIGHT_SHIFT(9, 1) is 4; the sign of a negative number would be shifted too
    "BITWISE_RIGHT_SHIFT(value, shift)": (
        "CASE WHEN {0} < 0 THEN CAST('not to be shifted: ' || CAST({0} AS VARCHAR) AS BIGINT)"
        " ELSE {0} >> {1} END"
    ),
    "BITWISE_RIGHT_SHIFT_ARITHMETIC(value, shift)": "{0} >> {1}",
    # CBRT(27) is 3
    "CBRT(value)": "CASE WHEN pow(round(cbrt({0})), 3) = {0} THEN round(cbrt({0})) ELSE cbrt({0}) END",
    "CODEPOINT(text)": "unicode({0})",
    "CONTAINS(array, value)": HAS,
    "CONTAINS_SEQUENCE(array, part)": (
        "len(list_filter(range(len({0}) - len({1}) + 1),"
        " lambda at: list_slice({0}, at + 1, at + len({1})) = {1})) > 0"
    ),
    "COSINE_SIMILARITY(a, b)": f"list_cosine_similarity({_DOUBLES})",
    "DOT_PRODUCT(a, b)": f"list_inner_product({_DOUBLES})",
    "E()": "exp(1)",
    # FORMAT('%03d', 8) is 008
    "FORMAT(pattern, ...)": printed,
    "HAMMING_DISTANCE(a, b)": "hamming({0}, {1})",
    "INFINITY()": "CAST('inf' AS DOUBLE)",
    "IS_FINITE(value)": "isfinite(CAST({0} AS DOUBLE))",
    "IS_INFINITE(value)": "isinf(CAST({0} AS DOUBLE))",
    "IS_JSON_SCALAR(json)": "json_type({0}) NOT IN ('ARRAY', 'OBJECT')",
    "IS_NAN(value)": "isnan(CAST({0} AS DOUBLE))",
    "JSON_ARRAY_CONTAINS(json, value)": f"list_contains({_MEMBERS}, to_json({{1}}))",
    # JSON_ARRAY_GET('["c", [3, 9], "a"]', -2) is [3,9]
    "JSON_ARRAY_GET(json, place)": (
        f"list_extract({_MEMBERS}, CASE WHEN {{1}} >= 0 THEN {{1}} + 1 ELSE {{1}} END)"
    ),
    # JSON_EXTRACT_SCALAR is NULL for an array or an object
    "JSON_EXTRACT_SCALAR(json, path)": (
        "CASE WHEN json_type(json_extract({0}, {1})) NOT IN ('ARRAY', 'OBJECT')"
        " THEN json_extract_string({0}, {1}) END"
    ),
    "JSON_SIZE(json, path)": (
        "CASE json_type(json_extract({0}, {1})) WHEN 'OBJECT' THEN len(json_keys(json_extract({0}, {1})))"
        " WHEN 'ARRAY' THEN CAST(json_array_length(json_extract({0}, {1})) AS BIGINT)"
        " WHEN NULL THEN NULL ELSE 0 END"
    ),
    "MAP_FILTER(map, test)": _of_map(
        "map_from_entries(list_filter(map_entries({0}), lambda entry, place: list_extract({1}, place)))"
    ),
    "NAN()": "CAST('NaN' AS DOUBLE)",
    # NGRAMS(ARRAY[1, 2, 3, 4], 2) is [[1, 2], [2, 3], [3, 4]]
    "NGRAMS(array, count)": (
        "CASE WHEN len({0}) <= {1} THEN [{0}]"
        " ELSE list_transform(range(len({0}) - {1} + 1), lambda at: list_slice({0}, at + 1, at + {1})) END"
    ),
    "NORMALIZE(text)": "nfc_normalize({0})",
    # REGEXP_EXTRACT('abc', 'x') is NULL
    "REGEXP_EXTRACT(text, pattern)": "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}) END",
    "REGEXP_EXTRACT(text, pattern, group)": (
        "CASE WHEN regexp_matches({0}, {1}) THEN regexp_extract({0}, {1}, {2}) END"
    ),
    "REGEXP_POSITION(text, pattern)": (
        "CASE WHEN regexp_matches({0}, {1}) THEN length(list_extract(string_split_regex({0}, {1}), 1)) + 1"
        " WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN -1 END"
    ),
    # REGEXP_POSITION('9 4 7', '[0-9]', 2, 2) is 5
    "REGEXP_POSITION(text, pattern, start)": f"coalesce(list_extract({_MATCHES}, 1), {_NO_MATCH})",
    "REGEXP_POSITION(text, pattern, start, occurrence)": (
        f"coalesce(list_extract({_MATCHES}, CASE WHEN {{3}} > 0 THEN {{3}}"
        f" ELSE CAST('no occurrence has number ' || {{3}} AS BIGINT) END), {_NO_MATCH})"
    ),
    # REGEXP_REPLACE('1a 2b 14m', '(\d+)([ab]) ', '3c$2 ') is 3ca 3cb 14m
    "REGEXP_REPLACE(text, pattern, replacement)": replaced,
    "REPEAT(value, count)": REPEATED,
    "SHA1(bytes)": "unhex(sha1({0}))",
    # SLICE(ARRAY[1, 2, 3, 4, 5], -2, 2) is [4, 5]
    "SLICE(array, start, length)": (
        "CASE WHEN {1} > 0 THEN list_slice({0}, {1}, {1} + {2} - 1)"
        " WHEN {1} = 0 THEN list_slice({0}, CAST('no element ' || CAST({1} AS VARCHAR) AS BIGINT), 1)"
        " WHEN -{1} > len({0}) THEN list_slice({0}, 1, 0)"
        " ELSE list_slice({0}, len({0}) + {1} + 1, len({0}) + {1} + {2}) END"
    ),
    # SPLIT('a.b.c', '.', 2) is [a, b.c]
    "SPLIT(text, separator, limit)": (
        f"CASE WHEN len({_SPLIT}) <= {{2}} THEN {_SPLIT}"
        f" ELSE list_append(list_slice({_SPLIT}, 1, {{2}} - 1), {_REST}) END"
    ),
    # SPLIT_PART('abc-@-def-@-ghi', '-@-', 4) is NULL
    "SPLIT_PART(text, separator, place)": (
        f"CASE WHEN {{2}} > 0 THEN list_extract({_SPLIT}, {{2}})"
        f" ELSE list_extract({_SPLIT}, CAST('no part has number ' || CAST({{2}} AS VARCHAR) AS BIGINT)) END"
    ),
    # STRPOS('abc/xyz/foo/bar', '/', -1) is 12
    "STRPOS(text, part, instance)": f"coalesce(list_extract({_PLACES}, {{2}}), 0)",
    "TITLE_CASE(text)": lambda args: exp.Initcap(this=args[0].copy()),
    # TO_ISO8601(DATE '2001-08-22') is 2001-08-22
    "TO_ISO8601(day)": "@iso_day",
    "TO_MILLISECONDS(interval)": "CAST(epoch({0}) * 1000 AS BIGINT)",
    "TRANSFORM_KEYS(map, function)": _of_map("map({1}, map_values({0}))"),
    "TRANSFORM_VALUES(map, function)": _of_map("map(map_keys({0}), {1})"),
    "TRIM_ARRAY(array, count)": (
        "CASE WHEN {1} BETWEEN 0 AND len({0}) THEN list_slice({0}, 1, len({0}) - {1}) ELSE"
        " list_slice({0}, 1, CAST('too few elements to trim ' || CAST({1} AS VARCHAR) AS BIGINT)) END"
    ),
    # TYPEOF(123) is integer
    "TYPEOF(value)": f"CASE typeof({{0}}) {_NAMED} ELSE lower(typeof({{0}})) END",
    "WIDTH_BUCKET(value, bounds)": (
        "CASE WHEN {0} IS NOT NULL THEN CAST(len(list_filter({1}, lambda bound: bound <= {0})) AS BIGINT) END"
    ),
    "ZIP_WITH(a, b, function)": _zipped,
    "WITH_TIMEZONE(moment, zone)": "timezone({1}, CAST({0} AS TIMESTAMP))",
}


def trino_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.ArgMax() | exp.ArgMin():
            return of_nulls_too(node)
        case exp.JSONObject() if str(node.args.get("null_handling") or "").upper() == "ABSENT ON NULL":
            return made_document(node)
        case exp.Cast() if (digits := digits_of(node)) is not None:
            return rounded_up(node, digits)
        case exp.Reduce(args={"finish": exp.Lambda() as finish}):
            found = node.copy()
            found.set("finish", None)
            ended = exp.Transform(this=exp.Array(expressions=[found]), expression=finish.copy())
            return sql("list_extract({0}, 1)", [ended])
    return node
