"""Functions of Spark and Databricks that sqlglot and DuckDB do not have, or have with another meaning.

Examples are the manuals', https://spark.apache.org/docs/latest/api/sql/. A variant is JSON here.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.array_calls import ANY, ARRAYS, EVERY, HAS, REPEATED, of_each
from planner.dialects.extreme_rows import of_nulls_too
from planner.dialects.java_patterns import replaced
from planner.dialects.printf import printed
from planner.dialects.trying import tried, try_binary
from planner.dialects.typed_json import typed_json
from planner.native.subscripts import FROM_END
from planner.native.templates import Args, Meanings, sql, with_parts
from planner.positions import refuse

_MASKED = (
    "translate({0}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', "
    f"'{'X' * 26}{'x' * 26}{'n' * 10}')"
)
_TYPES = {
    **dict.fromkeys(("int", "integer"), "INTEGER"),
    **dict.fromkeys(("bigint", "long"), "BIGINT"),
    **dict.fromkeys(("string", "varchar"), "VARCHAR"),
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
}
"""Types by Databricks' names, as DuckDB has them."""
_NAMES = {
    "INTEGER": "int",
    "VARCHAR": "string",
    "FLOAT": "float",
    "BLOB": "binary",
    "TIMESTAMP": "timestamp_ntz",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "JSON": "variant",
}
_TYPE_NAMES = " ".join(f"WHEN '{name}' THEN '{there}'" for name, there in _NAMES.items())


def _element(args: Args) -> exp.Expression:
    """ELEMENT_AT(array, place): from 1, or from the end if the place is negative; an error beyond."""
    found = exp.Bracket(this=args[0].copy(), expressions=[args[1].copy()], offset=1)
    found.meta[FROM_END] = True
    return found


def _variant(args: Args) -> exp.Expression:
    """VARIANT_GET(variant, '$.a', 'int')."""
    name = args[2].name.lower() if isinstance(args[2], exp.Literal) else ""
    if name not in _TYPES:
        known = ", ".join(_TYPES)
        refuse(args[2], "variant_get to this type is not supported", f"types are {known}")
    return sql(f"CAST(json_extract_string({{0}}, {{1}}) AS {_TYPES[name]})", args[:2])


def _grouped(args: Args) -> exp.Expression:
    """FORMAT_NUMBER(12332.123456, 4): digits in groups, and so many behind the point."""
    digits = args[1].name if isinstance(args[1], exp.Literal) and not args[1].is_string else ""
    if not digits.isdigit():
        refuse(args[1], "format_number takes a number of digits", "formats of numbers are not written")
    return sql(f"printf('%,.{int(digits)}f', CAST({{0}} AS DOUBLE))", args[:1])


SPARK: Meanings = {
    **ARRAYS,
    "ARRAY_CONTAINS(array, value)": HAS,
    "ARRAY_REPEAT(value, count)": REPEATED,
    "BIT_COUNT(value)": "bit_count({0} & 9223372036854775807) + CAST({0} < 0 AS INTEGER)",
    "BIT_GET | GETBIT(value, place)": "({0} >> {1}) & 1",
    "BROUND(value)": "round_even({0}, 0)",
    "BROUND(value, digits)": "round_even({0}, {1})",
    "BTRIM(text)": "trim({0})",
    "BTRIM(text, signs)": "trim({0}, {1})",
    "CONCAT_WS(separator)": "CASE WHEN {0} IS NOT NULL THEN '' END",
    "CSC(value)": "1 / sin({0})",
    "E()": "exp(1)",
    "ELEMENT_AT(array, place)": _element,
    "TRY_ELEMENT_AT(array, place)": "CASE WHEN {1} <> 0 THEN list_extract({0}, {1}) END",
    "EXPM1(value)": "exp({0}) - 1",
    "FORALL(array, test)": lambda args: of_each(EVERY, *args),
    "FORMAT_NUMBER(value, digits)": _grouped,
    "FORMAT_STRING | PRINTF(pattern, ...)": printed,
    "FROM_JSON(text, type, options?)": typed_json,
    # GET(ARRAY(1, 2, 3), 0) is 1, GET(ARRAY(1, 2, 3), 3) is NULL
    "GET(array, place)": "CASE WHEN {1} >= 0 THEN list_extract({0}, {1} + 1) END",
    "HYPOT(a, b)": "sqrt({0} * {0} + {1} * {1})",
    "IS_VARIANT_NULL(variant)": "coalesce(json_type({0}) = 'NULL', false)",
    # JSON_ARRAY_LENGTH('[1,2') is NULL
    "JSON_ARRAY_LENGTH(json)": (
        "CASE WHEN json_valid({0}) THEN CASE json_type({0}) WHEN 'ARRAY' THEN json_array_length({0}) END END"
    ),
    # LN(0) is NULL
    "LN | LOG(value)": "CASE WHEN {0} > 0 THEN ln({0}) END",
    "LOG(base, value)": "CASE WHEN {0} > 0 AND {1} > 0 THEN log({0}, {1}) END",
    "LOG10(value)": "CASE WHEN {0} > 0 THEN log10({0}) END",
    "LOG1P(value)": "CASE WHEN {0} > -1 THEN ln(1 + {0}) END",
    "LOG2(value)": "CASE WHEN {0} > 0 THEN log2({0}) END",
    "MAP_CONTAINS_KEY(map, key)": "list_contains(map_keys({0}), {1})",
    "MASK(text)": _MASKED,
    "NANVL(value, other)": "CASE WHEN isnan(CAST({0} AS DOUBLE)) THEN {1} ELSE {0} END",
    "NEGATIVE(value)": "-{0}",
    "NULLIFZERO(value)": "nullif({0}, 0)",
    "POSITIVE(value)": "{0}",
    # REGEXP_REPLACE('100-200', '(\\d+)', 'num') is num-num
    "REGEXP_REPLACE(text, pattern, replacement)": replaced,
    "REPLACE(text, part)": "replace({0}, {1}, '')",
    "RINT(value)": "round_even(CAST({0} AS DOUBLE), 0)",
    "SEC(value)": "1 / cos({0})",
    "TRY_ADD(a, b)": try_binary(exp.Add),
    "TRY_MOD(a, b)": try_binary(exp.Mod),
    "TRY_MULTIPLY(a, b)": try_binary(exp.Mul),
    "TRY_PARSE_JSON(text)": "TRY_CAST({0} AS JSON)",
    "TRY_SUBTRACT(a, b)": try_binary(exp.Sub),
    # TYPEOF(1) is int
    "TYPEOF(value)": f"CASE typeof({{0}}) {_TYPE_NAMES} ELSE lower(typeof({{0}})) END",
    "VARIANT_GET(variant, path, type)": _variant,
    "TRY_VARIANT_GET(variant, path, type)": lambda args: tried(_variant(args)),
    "ZEROIFNULL(value)": "coalesce({0}, 0)",
}


def spark_node(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.Exists(expression=exp.Lambda() as test):
            return of_each(ANY, node.this, test)
        case exp.ArgMax() | exp.ArgMin():
            return of_nulls_too(node)
        case exp.Kurtosis():  # of the whole population
            return exp.Anonymous(this="kurtosis_pop", expressions=[node.this.copy()])
        case exp.Filter(this=exp.Kurtosis() as inner) | exp.Window(this=exp.Kurtosis() as inner):
            return with_parts(node, this=spark_node(inner))
        case (
            exp.Filter(this=exp.Skewness())
            | exp.Window(this=exp.Skewness() | exp.Filter(this=exp.Skewness()))
        ):
            hint = "write it in a query of its own"
            refuse(node, "skewness with FILTER or OVER is not supported", hint)
        case exp.Skewness() if _IS_SAMPLE not in node.meta:
            return _skewness(node)
    return node


_IS_SAMPLE = "is_sample"


def _skewness(node: exp.Skewness) -> exp.Expression:
    """The skewness of the whole population, from that of a sample."""
    sample = node.copy()
    sample.meta[_IS_SAMPLE] = True
    count = exp.Count(this=node.this.copy())
    return sql("{0} * ({1} - 2) / sqrt({1} * ({1} - 1))", [sample, count])
