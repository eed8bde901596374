"""BigQuery's functions that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manual's, https://cloud.google.com/bigquery/docs/reference/standard-sql/.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.decimal_texts import shortened
from planner.dialects.printf import printed
from planner.dialects.trying import tried, try_binary
from planner.native.templates import Meanings, sql

_AT = "CASE WHEN {0} >= 0 THEN {0} + 1 ELSE {0} END"
_FROM_1, _TO_1 = (_AT.replace("{0}", place) for place in ("{1}", "{2}"))
_FOUND = (
    "list_filter(range(1, length({0}) + 1), lambda at: substring({0}, at, length({1})) = {1} AND at TEST)"
)
_FORWARD = _FOUND.replace("TEST", ">= {2}")
_BACKWARD = _FOUND.replace("TEST", "<= length({0}) + {2} + 1")
_THERE = "timezone({1}, CAST({0} AS TIMESTAMPTZ))"
_COMMA = exp.Literal.string(",")
_OFFSET = (
    f"CAST((epoch_us({_THERE}) - epoch_us(timezone('UTC', CAST({{0}} AS TIMESTAMPTZ)))) / 60000000 AS BIGINT)"
)


def _first(array: exp.Expression, count: exp.Expression) -> exp.Expression:
    """So many of the first elements."""
    return sql("list_slice({0}, 1, {1})", [array, count])


def _element(array: exp.Expression, place: exp.Expression) -> exp.Expression:
    """An element of an array, which is an error if there is none."""
    return exp.Bracket(this=array.copy(), expressions=[place], offset=1)


BIGQUERY: Meanings = {
    # ARRAY_FIRST(['a', 'b', 'c']) is a, ARRAY_SLICE(['a', 'b', 'c', 'd', 'e'], 1, 3) is ['b', 'c', 'd']
    "ARRAY_FIRST(array)": lambda args: _element(args[0], exp.Literal.number(1)),
    "ARRAY_LAST(array)": lambda args: _element(args[0], sql("len({0})", args)),
    "ARRAY_SLICE(array, start, end)": f"list_slice({{0}}, {_FROM_1}, {_TO_1})",
    # BIT_COUNT(-1) is 64
    "BIT_COUNT(value)": "bit_count({0} & 9223372036854775807) + CAST({0} < 0 AS INTEGER)",
    "CBRT(value)": "cbrt(CAST({0} AS DOUBLE))",
    "CODE_POINTS_TO_STRING(array)": "array_to_string(list_transform({0}, lambda point: chr(point)), '')",
    "TO_CODE_POINTS(text)": "list_transform(string_split({0}, ''), lambda sign: unicode(sign))",
    # FORMAT('%d', 10) is 10
    "FORMAT(pattern, ...)": printed,
    # IEEE_DIVIDE(25.0, 0.0) is +inf
    "IEEE_DIVIDE(a, b)": "CAST({0} AS DOUBLE) / CAST({1} AS DOUBLE)",
    # INSTR('banana', 'an', 1, 2) is 4, INSTR('helloooo', 'oo', -1, 1) is 7
    "INSTR(text, part, position)": f"coalesce({_FORWARD}[1], 0)",
    "INSTR(text, part, position, occurrence)": (
        f"CASE WHEN {{2}} > 0 THEN coalesce({_FORWARD}[{{3}}], 0) ELSE coalesce({_BACKWARD}[-{{3}}], 0) END"
    ),
    # BOOL(JSON 'true') is true, LAX_INT64(JSON '"10"') is 10, JSON_TYPE(JSON '10') is number
    "BOOL(json)": "CAST({0} AS BOOLEAN)",
    "FLOAT64(json)": "CAST({0} AS DOUBLE)",
    "LAX_BOOL(json)": "TRY_CAST({0} ->> '$' AS BOOLEAN)",
    "LAX_FLOAT64(json)": "TRY_CAST({0} ->> '$' AS DOUBLE)",
    "LAX_INT64(json)": "TRY_CAST({0} ->> '$' AS BIGINT)",
    "LAX_STRING(json)": "{0} ->> '$'",
    "JSON_TYPE(json)": (
        "CASE WHEN json_type({0}) IN ('BIGINT', 'UBIGINT', 'DOUBLE') THEN 'number'"
        " WHEN json_type({0}) = 'VARCHAR' THEN 'string' ELSE lower(json_type({0})) END"
    ),
    "NORMALIZE(text)": "nfc_normalize({0})",
    "PARSE_NUMERIC(text)": "CAST({0} AS DECIMAL(38, 9))",
    # RANGE_BUCKET(20, [0, 10, 20, 30, 40]) is 3
    "RANGE_BUCKET(point, array)": "CAST(len(list_filter({1}, lambda bound: bound <= {0})) AS BIGINT)",
    "SAFE_ADD(a, b)": try_binary(exp.Add),
    "SAFE_MULTIPLY(a, b)": try_binary(exp.Mul),
    "SAFE_SUBTRACT(a, b)": try_binary(exp.Sub),
    "SAFE_NEGATE(a)": lambda args: tried(exp.Neg(this=exp.paren(args[0].copy()))),
    # TO_JSON is JSON, TO_JSON_STRING a text
    "TO_JSON(value)": "to_json({0})",
    # STRING(JSON '"purple"') is purple
    "STRING(value)": (
        "CASE typeof({0}) WHEN 'JSON' THEN CAST({0} AS VARCHAR) ->> '$' ELSE CAST({0} AS VARCHAR) END"
    ),
    # STRING(TIMESTAMP '2008-12-25 15:30:00+00', 'UTC') is 2008-12-25 15:30:00+00
    "STRING(value, zone)": (
        f"CAST({_THERE} AS VARCHAR) || printf('%+03d', {_OFFSET} // 60)"
        f" || CASE WHEN {_OFFSET} % 60 <> 0 THEN printf(':%02d', abs({_OFFSET} % 60)) ELSE '' END"
    ),
}


def bigquery_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Cast():
            return shortened(node)
        case exp.SafeFunc():
            return tried(node.this)
        case exp.In(args={"unnest": exp.Unnest(expressions=[array])}):
            return exp.EQ(this=node.this.copy(), expression=exp.Any(this=exp.paren(array.copy())))
        case exp.IgnoreNulls(this=exp.ArrayAgg(this=exp.Limit(this=inner, expression=count))):
            return _first(exp.IgnoreNulls(this=exp.ArrayAgg(this=inner.copy())), count)
        case exp.ArrayAgg(this=exp.Limit(this=inner, expression=count)):
            return _first(exp.ArrayAgg(this=inner.copy()), count)
        case exp.GroupConcat(this=exp.Limit(this=inner, expression=count)):
            # STRING_AGG(fruit, ' & ' LIMIT 2) is apple & pear
            texts = _first(exp.IgnoreNulls(this=exp.ArrayAgg(this=inner.copy())), count)
            return sql("array_to_string({0}, {1})", [texts, node.args.get("separator") or _COMMA])
        case exp.ArrayConcatAgg(this=exp.Limit(this=inner, expression=count)):
            return sql("flatten({0})", [_first(exp.IgnoreNulls(this=exp.ArrayAgg(this=inner.copy())), count)])
        case exp.ArrayConcatAgg():
            return sql("flatten({0})", [exp.ArrayAgg(this=node.this)])
    return node
