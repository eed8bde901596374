"""How the users of each dialect write what the property tests write in PostgreSQL's words.

A key is a template of the property tests, perhaps behind the sort of its value, and those of its parts;
fields and units stand in it. The dialect's template follows, with `{0}` for the first argument. What has no
entry is written by sqlglot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from planner.dialects.standing import PROVEN, standings
from tests.property.row_values import ROW_TESTS

LEFT_OUT = None
"""The dialect has no such function, sqlglot's text is another one, or the system's answer is."""
_DIVIDED = "int: ({} / {})"
_MODE = "mode() WITHIN GROUP (ORDER BY {})"
_JOINED = "string_agg({0}, ',' ORDER BY {0})"
_JOINED_DISTINCT = "string_agg(DISTINCT {0}, '-' ORDER BY {0} DESC)"
_LISTED_DISTINCT = "array_agg(DISTINCT {0} ORDER BY {0} DESC)"

_TRUTHS = {
    "({} IS TRUE)": "COALESCE({0}, FALSE)",
    "({} IS NOT TRUE)": "(NOT COALESCE({0}, FALSE))",
    "({} IS NOT FALSE)": "COALESCE({0}, TRUE)",
}
"""For systems that have no IS TRUE."""
_CONCAT = {"concat({}, {})": "CONCAT(COALESCE({0}, ''), COALESCE({1}, ''))"}
"""For systems whose CONCAT is NULL if an argument is."""
_EXTREMES = {
    "GREATEST({}, {})": "GREATEST(COALESCE({0}, {1}), COALESCE({1}, {0}))",
    "LEAST({}, {})": "LEAST(COALESCE({0}, {1}), COALESCE({1}, {0}))",
}
"""For systems whose GREATEST is NULL if an argument is."""
_STRUCTS_BY_POSITION = {
    "CAST(CAST({} AS STRUCT(x BIGINT, y TEXT)) AS STRUCT(a INTEGER, b TEXT))": LEFT_OUT,
}
"""For systems that pair fields by name."""
_ROWS_OF_VALUES = {template: LEFT_OUT for template, _ in ROW_TESTS}
"""For systems whose rows are structs, in which NULL is a value."""
_LISTS = "(COALESCE({}, ARRAY[1]) || COALESCE({}, ARRAY[2]))"
_ELEMENT = "({})[{}]"
"""NULL beyond the end of the array, where other systems fail."""
_NO_ARRAYS = dict.fromkeys((_ELEMENT, "({0} = ANY ({1}))", "({0} <> ALL ({1}))"), LEFT_OUT)
_ZONES = {"({} AT TIME ZONE {})": LEFT_OUT}
"""For systems whose moments have a zone of their own, or whose functions for it have other arguments."""
_UNITS = ("month", "year", "day", "hour", "minute", "week")
_ORACLE_UNITS = {
    **{"month": "MM", "year": "YYYY", "quarter": "Q", "week": "IW"},
    **{"day": "DD", "hour": "HH24", "minute": "MI"},
}
_MAYBE_EMPTY = (
    *("substr({}, {}, {})", "substring({} FROM {})", "left({}, {})", "right({}, {})", "trim({})"),
    *("replace({}, {}, {})", "concat({}, {})", "upper({})", "lower({})", "reverse({})"),
)
"""Texts that may be empty, where Oracle has NULL."""
_DAY_AND_SPAN = "timestamp(date, span): ({} + {})"
_BY_ZERO = {"rough(wild, float): ({} / {})": LEFT_OUT}
"""For systems in which a float that is divided by zero fails, or gives NULL."""
_ROUND = "float: round({})"
_ROUNDS_HALVES_AWAY = {_ROUND: LEFT_OUT}
"""For systems that round halves away from zero, where PostgreSQL takes the even number for a float."""
_NAN = {"CAST('NaN' AS double precision)": LEFT_OUT}
"""For systems in which texts begin numbers, and this one is 0."""
_SHORTER = dict.fromkeys(("CAST({} AS numeric(10, 1))", "CAST({} AS numeric(8, 3))"), LEFT_OUT)
"""For systems in which a cast cuts digits off, or keeps them all."""
_NUMBER_AS_TEXT = "text(numeric): CAST({} AS text)"
"""How many zeros are at its end is another matter in each system."""
_TIME_AND_SPAN = {"time: ({} + {})": LEFT_OUT}
"""For systems that add no days or months to a time."""
_DOW, _ISODOW, _DOY, _WEEK = (f"extract({part} FROM {{}})" for part in ("dow", "isodow", "doy", "week"))
"""Parts of days that systems count from other ends."""
_AVERAGES = ("avg({})", "avg(DISTINCT {})")
"""The average of whole numbers is one in some systems."""
_UNORDERED = ("WITHIN GROUP", "first(", "median(")
"""For systems that have no aggregates of ordered values."""
_NO_SEMI = ("SEMI JOIN", "ANTI JOIN")
_NO_PERCENTILE = ("percentile_cont",)
"""For systems in whose words sqlglot asks for an approximate one."""
"""sqlglot writes EXISTS, in another place than the join."""
_NO_QUALIFY = ("QUALIFY",)
_NO_DISTINCT_ON = ("DISTINCT ON",)
_OUTER = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "ROLLUP", "CUBE", "GROUPING SETS")
"""For systems that have a default for what is absent."""
_NO_SERIES = ("generate_series", "unnest(", "((VALUES")
"""Tables that sqlglot writes in another way than it reads them."""


@dataclass(frozen=True)
class Spellings:
    """`templates` by canonical template; words and sorts of values for which queries are left out."""

    templates: Mapping[str, str | None] = field(default_factory=dict)
    words: Sequence[str] = ()
    sorts: Sequence[str] = ()
    types: Mapping[exp.DType, str] = field(default_factory=dict)
    joins_have_columns: bool = True
    """Whether a join in parentheses may have new names for its columns."""
    commas_join_first: bool = False
    """Whether a comma binds as strongly as JOIN, so that outer joins behind it have both tables."""
    default_frame_is_known: bool = True
    """Whether a window without a frame has PostgreSQL's; elsewhere it is written."""


_POSTGRES = Spellings(words=(*_NO_QUALIFY, *_NO_SEMI))
_LOST = ("EXCLUDE CURRENT", "EXCLUDE GROUP", "EXCLUDE TIES")
"""Frames without some rows: sqlglot drops the words."""
_SPARK = Spellings(
    {
        _DIVIDED: "({0} DIV {1})",
        _ELEMENT: "TRY_ELEMENT_AT({0}, {1})",
        _DAY_AND_SPAN: "(CAST({0} AS TIMESTAMP_NTZ) + {1})",
        _DOW: "(DAYOFWEEK({0}) - 1)",
        _ISODOW: "(WEEKDAY({0}) + 1)",
        _DOY: "DAYOFYEAR({0})",
        _WEEK: "WEEKOFYEAR({0})",
        _LISTED_DISTINCT: LEFT_OUT,
        "int(numeric): CAST({} AS integer)": "CAST(ROUND({0}) AS INT)",
        "int(float): CAST({} AS integer)": "CAST(RINT({0}) AS INT)",
        _ROUND: "RINT({0})",
        **{
            f"timestamp: date_trunc({unit}, {{}})": f"CAST(DATE_TRUNC('{unit}', {{0}}) AS TIMESTAMP_NTZ)"
            for unit in _UNITS
        },
        **_BY_ZERO,
        **_CONCAT,
        **_ZONES,
    },
    (*_NO_DISTINCT_ON, *_NO_SERIES, *_NO_PERCENTILE),
    ("time", "uuid", "natural"),
    {exp.DType.TIMESTAMP: "TIMESTAMP_NTZ"},
    commas_join_first=True,
)
KNOWN: Mapping[str, Spellings] = {
    "postgres": _POSTGRES,
    "materialize": replace(_POSTGRES, sorts=("map", "pair")),
    "risingwave": replace(_POSTGRES, templates={"ascii({})": LEFT_OUT}, default_frame_is_known=False),
    "duckdb": Spellings(
        {
            _DIVIDED: "({0} // {1})",
            _MODE: "mode({0})",
            _ROUND: "round_even({0}, 0)",
            **_STRUCTS_BY_POSITION,
            **_ROWS_OF_VALUES,
        }
    ),
    "snowflake": Spellings(
        {
            _DIVIDED: "CAST(TRUNC({0} / {1}) AS BIGINT)",
            _DOW: "DAYOFWEEK({0})",
            _ISODOW: "DAYOFWEEKISO({0})",
            _WEEK: "WEEKISO({0})",
            _LISTED_DISTINCT: LEFT_OUT,
            "array_to_string({}, ',')": LEFT_OUT,
            _DAY_AND_SPAN: LEFT_OUT,
            "({}).a": LEFT_OUT,
            "({}).b": LEFT_OUT,
            **_CONCAT,
            **_STRUCTS_BY_POSITION,
            **_TRUTHS,
            **_TIME_AND_SPAN,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
            **_BY_ZERO,
        },
        (*_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES),
        ("uuid", "map", "bytes", "natural"),
    ),
    "bigquery": Spellings(
        {
            _DIVIDED: "DIV({0}, {1})",
            _ELEMENT: "({0})[SAFE_ORDINAL({1})]",
            "date_trunc(week, {})": "TIMESTAMP_TRUNC({0}, ISOWEEK)",
            "CAST(date_trunc(week, {}) AS date)": "DATE_TRUNC({0}, ISOWEEK)",
            _DAY_AND_SPAN: "(CAST({0} AS DATETIME) + {1})",
            "timestamp(date, time): ({} + {})": "DATETIME({0}, {1})",
            _DOW: "(EXTRACT(DAYOFWEEK FROM {0}) - 1)",
            _ISODOW: "(MOD(EXTRACT(DAYOFWEEK FROM {0}) + 5, 7) + 1)",
            _DOY: "EXTRACT(DAYOFYEAR FROM {0})",
            _WEEK: "EXTRACT(ISOWEEK FROM {0})",
            **{
                f"CAST({{}} AS numeric({digits}))": f"CAST({{0}} AS NUMERIC({digits}))"
                for digits in ("9, 2", "10, 1", "8, 3")
            },
            _NUMBER_AS_TEXT: LEFT_OUT,
            **_CONCAT,
            **_EXTREMES,
            **_TIME_AND_SPAN,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
            **_BY_ZERO,
        },
        (*_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES, "first(", "(x0"),
        ("uuid", "map", "natural"),
        joins_have_columns=False,
        commas_join_first=True,
    ),
    "spark": replace(_SPARK, words=(*_SPARK.words, *_NO_QUALIFY)),
    "databricks": _SPARK,
    "redshift": Spellings(
        {
            _JOINED: "LISTAGG({0}, ',') WITHIN GROUP (ORDER BY {0})",
            _JOINED_DISTINCT: "LISTAGG(DISTINCT {0}, '-') WITHIN GROUP (ORDER BY {0} DESC)",
            _ISODOW: "((EXTRACT(DOW FROM {0}) + 6) % 7 + 1)",
            "approx_count_distinct({})": LEFT_OUT,
            **{f"instant: date_trunc({unit}, {{}})": LEFT_OUT for unit in _UNITS},
            **_CONCAT,
            **_ROUNDS_HALVES_AWAY,
            _AVERAGES[0]: "AVG(CAST({0} AS DOUBLE PRECISION))",
            _AVERAGES[1]: "AVG(DISTINCT CAST({0} AS DOUBLE PRECISION))",
            **_BY_ZERO,
        },
        (*_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES),
        ("natural",),
    ),
    "mysql": Spellings(
        {
            _DIVIDED: "({0} DIV {1})",
            **_NAN,
            _JOINED: "GROUP_CONCAT({0} ORDER BY {0} SEPARATOR ',')",
            _JOINED_DISTINCT: "GROUP_CONCAT(DISTINCT {0} ORDER BY {0} DESC SEPARATOR '-')",
            "ascii({})": LEFT_OUT,
            _DAY_AND_SPAN: "(CAST({0} AS DATETIME) + {1})",
            _DOW: "(DAYOFWEEK({0}) - 1)",
            _ISODOW: "(WEEKDAY({0}) + 1)",
            _DOY: "DAYOFYEAR({0})",
            _WEEK: "WEEK({0}, 3)",
            **_CONCAT,
            **_EXTREMES,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
            **_NO_ARRAYS,
            **_BY_ZERO,
        },
        (
            *_NO_QUALIFY,
            *_NO_DISTINCT_ON,
            *_NO_SEMI,
            *_NO_SERIES,
            *_UNORDERED,
            "FULL JOIN",
            "date_trunc",
            "ORDER BY 1",
        ),
        ("list", "map", "pair", "uuid", "time", "instant", "interval", "natural"),
    ),
    "trino": Spellings(
        {
            _ELEMENT: "ELEMENT_AT({0}, {1})",
            _DAY_AND_SPAN: "(CAST({0} AS TIMESTAMP) + {1})",
            _DOW: "(DAY_OF_WEEK({0}) % 7)",
            _ISODOW: "DAY_OF_WEEK({0})",
            "right({}, {})": "SUBSTR({0}, GREATEST(LENGTH({0}) - {1} + 1, 1))",
            "bytes: ({} || {})": "({0} || {1})",
            _LISTS: "(COALESCE({0}, ARRAY[1]) || COALESCE({1}, ARRAY[2]))",
            **_TRUTHS,
            **_CONCAT,
            **_EXTREMES,
            **_TIME_AND_SPAN,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
        },
        (*_NO_QUALIFY, *_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES, *_NO_PERCENTILE),
        ("natural",),
    ),
    "tsql": Spellings(
        {
            "length({})": LEFT_OUT,
            "CAST(length({}) AS UINTEGER)": LEFT_OUT,
            "int(numeric): CAST({} AS integer)": "CAST(ROUND({0}, 0) AS INT)",
            "int(float): CAST({} AS integer)": LEFT_OUT,
            _DOY: "DATEPART(DAYOFYEAR, {0})",
            _DOW: "(DATEPART(WEEKDAY, {0}) - 1)",
            _ISODOW: "((DATEPART(WEEKDAY, {0}) + 5) % 7 + 1)",
            _WEEK: "DATEPART(ISO_WEEK, {0})",
            "date_trunc(week, {})": "DATETRUNC(ISO_WEEK, {0})",
            "CAST(date_trunc(week, {}) AS date)": "CAST(DATETRUNC(ISO_WEEK, {0}) AS DATE)",
            _AVERAGES[0]: "AVG(CAST({0} AS FLOAT))",
            _AVERAGES[1]: "AVG(DISTINCT CAST({0} AS FLOAT))",
            **dict.fromkeys(_TRUTHS, LEFT_OUT),
            **_EXTREMES,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
            **_NO_ARRAYS,
            **_BY_ZERO,
        },
        (*_NO_QUALIFY, *_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES, *_UNORDERED, "WITH RECURSIVE", "INTERVAL"),
        ("list", "map", "pair", "uuid", "bytes", "time", "instant", "interval"),
    ),
    "sqlite": Spellings(
        _ROUNDS_HALVES_AWAY
        | _BY_ZERO
        | _NAN
        | _SHORTER
        | _NO_ARRAYS
        | {
            "int(numeric): CAST({} AS integer)": "CAST(ROUND({0}) AS INTEGER)",
            "int(float): CAST({} AS integer)": LEFT_OUT,
            _NUMBER_AS_TEXT: LEFT_OUT,
        },
        (
            *_NO_QUALIFY,
            *_NO_DISTINCT_ON,
            *_NO_SEMI,
            *_NO_SERIES,
            *_UNORDERED,
            "(VALUES",
            "extract(",
            "AS date)",
        ),
        ("list", "map", "pair", "uuid", "bytes", "time", "date", "timestamp", "instant", "interval"),
        commas_join_first=True,
    ),
    "oracle": Spellings(
        {
            _DIVIDED: "CAST(TRUNC({0} / {1}) AS INT)",
            _JOINED: "LISTAGG({0}, ',') WITHIN GROUP (ORDER BY {0})",
            _JOINED_DISTINCT: "LISTAGG(DISTINCT {0}, '-') WITHIN GROUP (ORDER BY {0} DESC)",
            _DAY_AND_SPAN: LEFT_OUT,
            "text: ({} || {})": LEFT_OUT,
            **dict.fromkeys(_MAYBE_EMPTY, LEFT_OUT),
            **{f"instant: date_trunc({unit}, {{}})": LEFT_OUT for unit in _UNITS},
            **{
                f"date_trunc({unit}, {{}})": f"CAST(TRUNC({{0}}, '{code}') AS TIMESTAMP)"
                for unit, code in _ORACLE_UNITS.items()
            },
            **{
                f"CAST(date_trunc({unit}, {{}}) AS date)": f"TRUNC({{0}}, '{code}')"
                for unit, code in _ORACLE_UNITS.items()
            },
            "text(bool): CAST({} AS text)": LEFT_OUT,
            _NUMBER_AS_TEXT: LEFT_OUT,
            "text(date): CAST({} AS text)": LEFT_OUT,
            "text(timestamp): CAST({} AS text)": LEFT_OUT,
            "date(timestamp): CAST({} AS date)": "TRUNC({0})",
            _DOW: "(TO_NUMBER(TO_CHAR({0}, 'D')) - 1)",
            _ISODOW: "(TRUNC({0}) - TRUNC({0}, 'IW') + 1)",
            _DOY: "TO_NUMBER(TO_CHAR({0}, 'DDD'))",
            _WEEK: "TO_NUMBER(TO_CHAR({0}, 'IW'))",
            "extract(quarter FROM {})": "TO_NUMBER(TO_CHAR({0}, 'Q'))",
            "span: INTERVAL '1 day'": "INTERVAL '1' DAY",
            "span: INTERVAL '1 month'": "INTERVAL '1' MONTH",
            "span: INTERVAL '36 hours'": "INTERVAL '36' HOUR",
            "span: INTERVAL '90 minutes'": "INTERVAL '90' MINUTE",
            **_EXTREMES,
            **_ROUNDS_HALVES_AWAY,
            **_ZONES,
            **_NO_ARRAYS,
            **_BY_ZERO,
        },
        (*_NO_QUALIFY, *_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES, "''"),
        ("list", "map", "pair", "uuid", "bytes", "time", "interval"),
    ),
    "flink": Spellings(
        {
            _DAY_AND_SPAN: "(CAST({0} AS TIMESTAMP) + {1})",
            _DOW: "(DAYOFWEEK({0}) - 1)",
            _ISODOW: "(MOD(DAYOFWEEK({0}) + 5, 7) + 1)",
            _DOY: "DAYOFYEAR({0})",
            _WEEK: "WEEK({0})",
            _AVERAGES[0]: "AVG(CAST({0} AS DOUBLE))",
            _AVERAGES[1]: "AVG(DISTINCT CAST({0} AS DOUBLE))",
            _JOINED: LEFT_OUT,
            _JOINED_DISTINCT: LEFT_OUT,
            "string_agg({}, '')": "LISTAGG({0}, '')",
            "text(bool): CAST({} AS text)": LEFT_OUT,
            **{f"date_trunc({unit}, {{}})": f"FLOOR({{0}} TO {unit.upper()})" for unit in _UNITS},
            "date_trunc(week, {})": LEFT_OUT,
            **{
                f"CAST(date_trunc({unit}, {{}}) AS date)": f"CAST(FLOOR({{0}} TO {unit.upper()}) AS DATE)"
                for unit in ("month", "year", "quarter", "day")
            },
            "CAST(date_trunc(week, {}) AS date)": LEFT_OUT,
            "int(numeric): CAST({} AS integer)": "CAST(ROUND({0}, 0) AS INT)",
            "int(float): CAST({} AS integer)": LEFT_OUT,
            **_CONCAT,
            **_EXTREMES,
            **_ROUNDS_HALVES_AWAY,
            **_TIME_AND_SPAN,
            **_ZONES,
            **_BY_ZERO,
        },
        (*_NO_QUALIFY, *_NO_DISTINCT_ON, *_NO_SEMI, *_NO_SERIES, *_UNORDERED),
        ("uuid", "natural"),
    ),
    "clickhouse": Spellings(
        {
            _DAY_AND_SPAN: LEFT_OUT,
            _DIVIDED: "intDiv({0}, {1})",
            _ELEMENT: "arrayElementOrNull({0}, {1})",
            "int(numeric): CAST({} AS integer)": LEFT_OUT,  # 0.5 is a float
            "int(float): CAST({} AS integer)": "toInt32(round({0}))",
            **{f"text: {name}({{}})": f"{name}UTF8({{0}})" for name in ("upper", "lower", "reverse")},
            **{
                f"timestamp: date_trunc({unit}, {{}})": (
                    f"CAST(dateTrunc('{unit}', {{0}}) AS Nullable(DateTime64(6)))"
                )
                for unit in _UNITS
            },
            "length({})": "lengthUTF8({0})",
            "substr({}, {}, {})": "substringUTF8({0}, {1}, {2})",
            "substring({} FROM {})": "substringUTF8({0}, {1})",
            "left({}, {})": "leftUTF8({0}, {1})",
            "right({}, {})": "rightUTF8({0}, {1})",
            "strpos({}, {})": "positionUTF8({0}, {1})",
            "position({} IN {})": "positionUTF8({1}, {0})",
            _DOW: "(toDayOfWeek({0}) % 7)",
            _ISODOW: "toDayOfWeek({0})",
            _DOY: "toDayOfYear({0})",
            _WEEK: "toISOWeek({0})",
            **{f"{name}({{}})": f"{name}OrNull({{0}})" for name in ("min", "max", "sum", "avg")},
            **{f"bit_{name}({{}})": f"groupBit{name.title()}OrNull({{0}})" for name in ("and", "or", "xor")},
            "sum(DISTINCT {})": "sumOrNull(DISTINCT {0})",
            "avg(DISTINCT {})": "avgOrNull(DISTINCT {0})",
            **_SHORTER,
            _NUMBER_AS_TEXT: LEFT_OUT,
            **_CONCAT,
            **_EXTREMES,
            **_ZONES,
        },
        (
            *_NO_SEMI,
            *_NO_SERIES,
            *_UNORDERED,
            *_OUTER,
            "(VALUES",
            "USING (",  # a name without a table is first one of the select list
            "> ALL (",
            "lag(",
            "lead(",
            "nth_value",
            "ANY (SELECT",
            "_agg(",
            "var",
            "stddev",
            "corr(",
            "bool_",
        ),
        ("uuid", "map", "pair", "bytes", "time", "instant", "interval", "natural"),
        {exp.DType.TIMESTAMP: "Nullable(DateTime64(6))"},
    ),
}


def spellings(dialect: str) -> Spellings:
    known = KNOWN.get(dialect, Spellings())
    return replace(known, words=(*_LOST, *known.words))


DIALECTS = tuple(name for name, known in standings().items() if known.standing == PROVEN and name in KNOWN)
"""The proven dialects that are asked random queries."""
