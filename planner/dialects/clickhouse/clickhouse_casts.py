"""ClickHouse's conversions: toInt32(x), toInt32OrZero(text), accurateCastOrNull(x, 'UInt8').

A number becomes a whole one without its fraction. One that the type cannot hold is an error here, where
ClickHouse keeps its lowest bits.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from planner.dialects.overloads import PREFIX
from planner.native.templates import Args, Made, Meanings, call_of, sql
from planner.positions import refuse
from planner.sql_types import UTC_NAMES

_WHOLES = {
    **{f"INT{bits}": type for bits, type in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INT"), (64, "BIGINT"))},
    **{
        f"UINT{bits}": f"U{type}"
        for bits, type in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INT"), (64, "BIGINT"))
    },
    "INT128": "INT128",
}
_FLOATS = {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE"}
_DECIMALS = {"DECIMAL32": 9, "DECIMAL64": 18, "DECIMAL128": 38}
_NUMERAL = "regexp_full_match({0}, '[-+]?[0-9]+')"
_DAY, _MOMENT = "DATE '1970-01-01'", "TIMESTAMP '1970-01-01 00:00:00'"


def _cast(type: str, attempt: bool = False) -> Made:
    """A cast by ClickHouse's rules."""
    node = exp.TryCast if attempt else exp.Cast

    def made(args: Args) -> exp.Expression:
        return node(this=args[0].copy(), to=exp.DataType.build(type, dialect="clickhouse"))

    return made


def _from_text(type: str, test: str, otherwise: str) -> str:
    """A text that may be no number, and what it gives then."""
    found = f"WHEN {test} THEN coalesce(TRY_CAST({{0}} AS {type}), {otherwise})"
    return f"CASE WHEN {{0}} IS NULL THEN NULL {found} ELSE {otherwise} END"


def _numbers(name: str, type: str, written: str, test: str) -> Meanings:
    return {
        f"TO{name}(value)": _cast(written),
        f"TO{name}ORZERO(text)": _from_text(type, test, f"CAST(0 AS {type})"),
        f"TO{name}ORNULL(text)": f"CASE WHEN {test} THEN TRY_CAST({{0}} AS {type}) END",
        f"TO{name}ORDEFAULT(text)": _from_text(type, test, f"CAST(0 AS {type})"),
        f"TO{name}ORDEFAULT(text, value)": _from_text(type, test, f"CAST({{1}} AS {type})"),
    }


def _decimal(precision: int, after: str = "") -> Made:
    """TODECIMAL32(x, scale): digits behind the scale are cut."""

    def made(args: Args) -> exp.Expression:
        value, scale = args
        digits = scale.name if isinstance(scale, exp.Literal) else ""
        if not digits.isdigit() or int(digits) > precision:
            refuse(scale, f"a scale is a number up to {precision}", "write the number")
        cut = f"trunc(TRY_CAST({{0}} AS DECIMAL(38, {min(int(digits) + 6, 37)})), {digits})"
        if not after:
            cut = cut.replace("TRY_CAST", "CAST")
        found = f"{'TRY_CAST' if after else 'CAST'}({cut} AS DECIMAL({precision}, {digits}))"
        return sql(f"coalesce({found}, 0)" if after == "0" else found, [value])

    return made


def cut_to_digits(node: exp.Cast, type: exp.DataType) -> exp.Expression:
    """CAST('1.239' AS Decimal(10, 2)) is 1.23."""
    scale = int(type.expressions[1].name)
    cast = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    wide = f"trunc({cast}({{0}} AS DECIMAL(38, {min(scale + 6, 37)})), {scale})"
    return sql(f"{cast}({wide} AS {type.sql('duckdb')})", [node.this])


def cast_to_moment(node: exp.Cast, type: exp.DataType) -> exp.Expression:
    """CAST(x AS DateTime64(3, 'UTC')) is toDateTime64(x, 3, 'UTC')."""
    given = [parameter.this.copy() for parameter in type.expressions]
    if isinstance(node, exp.TryCast):
        return sql("TRY_CAST({0} AS TIMESTAMP)", [node.this])
    if type.this is exp.DType.DATETIME:
        return moment([node.this, *given])
    return precise_moment([node.this, *(given or [exp.Literal.number(3)])])


def cast_to_named(args: Args) -> exp.Expression:
    """CAST(x, 'UInt8')."""
    return exp.Cast(this=args[0].copy(), to=_type(args[1]))


def _accurate(end: str) -> Made:
    """ACCURATECASTORNULL(-1, 'UInt8') is NULL, ACCURATECASTORDEFAULT(-1, 'UInt8') is 0."""

    def made(args: Args) -> exp.Expression:
        found = exp.TryCast(this=args[0].copy(), to=_type(args[1]))
        if end == "null":
            return found
        given = args[2].copy() if len(args) > 2 else None
        default = exp.Cast(this=given or exp.Literal.number(0), to=_type(args[1]))
        return exp.Coalesce(this=found, expressions=[default])

    return made


def _type(node: exp.Expression) -> exp.DataType:
    if not isinstance(node, exp.Literal) or not node.is_string:
        refuse(node, "the name of a type is a text that is written", "write the type")
    try:
        return exp.DataType.build(node.name, dialect="clickhouse")
    except (SqlglotError, ValueError):
        refuse(node, f"type {node.name} is not supported", "write another type")


def moment(args: Args) -> exp.Expression:
    """TODATETIME(x): a moment in UTC, of whole seconds."""
    if len(args) > 1 and args[1].name not in UTC_NAMES:
        refuse(args[1], "a moment keeps no zone here", "write the moment in UTC, or toHour(at, zone)")
    return call_of(f"{PREFIX}moment_of_clickhouse", args[:1], "todatetime")


def precise_moment(args: Args) -> exp.Expression:
    """TODATETIME64(x, 3): a moment in UTC with so many digits of a second."""
    digits = args[1].name if isinstance(args[1], exp.Literal) else ""
    if not digits.isdigit() or int(digits) > 6:
        refuse(args[1], "a moment has up to 6 digits of a second here", "write a number up to 6")
    if len(args) > 2:
        moment([args[0], args[2]])
    at = call_of(f"{PREFIX}precise_moment_of_clickhouse", args[:1], "todatetime64")
    step = 10 ** (6 - int(digits))
    return at if step == 1 else sql(f"make_timestamp(epoch_us({{0}}) // {step} * {step})", [at])


def _no_names(args: Args) -> exp.Expression:
    refuse(args[0], "toTypeName is not supported: types have other names here", "leave it out")


CASTS: Meanings = {
    **{
        key: meaning
        for name, type in _WHOLES.items()
        for key, meaning in _numbers(
            name,
            type.replace("UINT", "UINTEGER").replace("INT128", "HUGEINT"),
            name.replace("INT", "Int").replace("UInt", "UInt"),
            _NUMERAL,
        ).items()
    },
    **{
        key: meaning
        for name, type in _FLOATS.items()
        for key, meaning in _numbers(name, type, name.title(), "TRY_CAST({0} AS DOUBLE) IS NOT NULL").items()
    },
    **{f"TO{name}(value, scale)": _decimal(digits) for name, digits in _DECIMALS.items()},
    **{f"TO{name}ORNULL(value, scale)": _decimal(digits, "null") for name, digits in _DECIMALS.items()},
    **{f"TO{name}ORZERO(value, scale)": _decimal(digits, "0") for name, digits in _DECIMALS.items()},
    "ACCURATECAST(value, type)": cast_to_named,
    "ACCURATECASTORNULL(value, type)": _accurate("null"),
    "ACCURATECASTORDEFAULT(value, type, default?)": _accurate("default"),
    # TOSTRING(toDate('2024-05-09')) is 2024-05-09
    "TOSTRING(value)": _cast("String"),
    "TOFIXEDSTRING(text, length)": (
        "CASE WHEN strlen({0}) > {1}"
        " THEN CAST(CAST('longer than ' || {1} || ': ' || {0} AS INTEGER) AS VARCHAR)"
        " ELSE {0} || repeat(chr(0), {1} - strlen({0})) END"
    ),
    "TOUUID(text)": "CAST({0} AS UUID)",
    "TOUUIDORNULL(text)": "TRY_CAST({0} AS UUID)",
    "TOUUIDORZERO(text)": (
        "coalesce(TRY_CAST({0} AS UUID), CAST('00000000-0000-0000-0000-000000000000' AS UUID))"
    ),
    "TOBOOL(value)": "@truth_of_clickhouse",
    # TODATE(19000) is 2022-01-08: a number counts days, a large one seconds
    "TODATE | TODATE32(value)": "@day_of_clickhouse",
    "TODATEORNULL(text)": "TRY_CAST({0} AS DATE)",
    "TODATEORZERO(text)": f"coalesce(TRY_CAST({{0}} AS DATE), {_DAY})",
    "TOTYPENAME(value)": _no_names,
    "TODATETIME(value, zone?)": moment,
    "TODATETIMEORNULL(text)": "date_trunc('second', TRY_CAST({0} AS TIMESTAMP))",
    "TODATETIMEORZERO(text)": f"date_trunc('second', coalesce(TRY_CAST({{0}} AS TIMESTAMP), {_MOMENT}))",
    "TODATETIME64(value, digits, zone?)": precise_moment,
    "TONULLABLE | TOLOWCARDINALITY | MATERIALIZE | IDENTITY | ASSUMENOTNULL(value)": "{0}",
}
