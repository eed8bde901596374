"""Units of time under the dialects' names.

A unit is one of UNITS; WEEK may name its first day (`WEEK(SUNDAY)`). A name that a dialect lacks gives None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

CLOCK = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
CALENDAR = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_LONG = ("DECADE", "CENTURY", "MILLENNIUM")


def named(**names: str) -> dict[str, str]:
    """What is called so, by name: `A="X Y"` says that X and Y are names of A."""
    return {alias: unit for unit, aliases in names.items() for alias in aliases.split()}


_PLURALS = {f"{unit}S": unit for unit in (*CALENDAR, *CLOCK)}
_PLAIN = {unit: unit for unit in (*CALENDAR, *CLOCK)}
_POSTGRES = named(
    YEAR="Y YR YRS",
    MONTH="MON MONS",
    WEEK="W",
    DAY="D",
    HOUR="H HR HRS",
    MINUTE="M MIN MINS",
    SECOND="S SEC SECS",
    MILLISECOND="MS MSEC MSECS MSECOND MSECONDS",
    MICROSECOND="US USEC USECS USECOND USECONDS",
    DECADE="DECADE DECADES DEC DECS",
    CENTURY="CENTURY CENTURIES C CENT",
    MILLENNIUM="MILLENNIUM MILLENNIA MIL MILS",
)
INTERVALS = frozenset({*_PLAIN, *_PLURALS, *_LONG, "DECADES", "CENTURIES", "MILLENNIA"})
"""Units of intervals that DuckDB knows. It reads an interval of any other as one of seconds."""
ABBREVIATIONS: Mapping[str, str] = {name: unit for name, unit in _POSTGRES.items() if name not in INTERVALS}
"""Units of intervals under PostgreSQL's other names."""
_NAMES: Mapping[str, Mapping[str, str]] = {
    "postgres": {**_PLAIN, **_PLURALS, **_POSTGRES},
    "redshift": {
        **_PLAIN,
        **_PLURALS,
        **named(
            YEAR="Y YR YRS",
            QUARTER="QTR QTRS",
            MONTH="MON MONS",
            WEEK="W",
            DAY="D",
            HOUR="H HR HRS",
            MINUTE="M MIN MINS",
            SECOND="S SEC SECS",
            MILLISECOND="MS MSEC MSECS MSECOND MSECONDS MILLISEC MILLISECS MILLISECON",
            MICROSECOND="US USEC USECS USECOND USECONDS MICROSEC MICROSECS",
        ),
    },
    "snowflake": {
        **_PLAIN,
        **_PLURALS,
        **named(
            YEAR="Y YY YYY YYYY YR YRS",
            QUARTER="Q QTR QTRS",
            MONTH="MM MON MONS",
            WEEK="W WK WEEKOFYEAR WOY WY",
            DAY="D DD DAYOFMONTH",
            HOUR="H HH HR HRS",
            MINUTE="M MI MIN MINS",
            SECOND="S SEC SECS",
            MILLISECOND="MS MSEC",
            MICROSECOND="US USEC",
        ),
    },
    "bigquery": _PLAIN,
    "spark": {
        **_PLAIN,
        **named(
            YEAR="YY YYYY YEARS",
            QUARTER="QTR",
            MONTH="MM MON MONTHS",
            WEEK="WEEKS",
            DAY="DD DAYS DAYOFYEAR",
            HOUR="HOURS",
            MINUTE="MINUTES",
            SECOND="SECONDS",
            MILLISECOND="MILLISECONDS",
            MICROSECOND="MICROSECONDS",
        ),
    },
    "mysql": _PLAIN,
    "tsql": {
        **_PLAIN,
        **named(
            YEAR="YY YYYY",
            QUARTER="QQ Q",
            MONTH="MM M",
            WEEK="WK WW",
            DAY="DD D DAYOFYEAR DY Y WEEKDAY DW W",
            HOUR="HH",
            MINUTE="MI N",
            SECOND="SS S",
            MILLISECOND="MS",
            MICROSECOND="MCS",
        ),
    },
    "oracle": _PLAIN,
    "trino": {unit: unit for unit in (*CALENDAR, *CLOCK[:-1])},
    "clickhouse": {
        **_PLAIN,
        **_PLURALS,
        **named(
            YEAR="YY YYYY",
            QUARTER="QQ Q",
            MONTH="MM M",
            WEEK="WK WW",
            DAY="DD D",
            HOUR="HH H",
            MINUTE="MI N",
            SECOND="SS S",
            MILLISECOND="MS",
            MICROSECOND="US U",
        ),
    },
    "flink": {**_PLAIN, **_PLURALS},
    "sqlite": {**_PLAIN, **_PLURALS},
}


def word(node: exp.Expr | None) -> str:
    """The text of a unit, a format or a weekday, in upper case; empty if it is computed."""
    match node:
        case exp.Literal(is_string=True) | exp.Var():
            return node.name.upper()
        case exp.Column() if not node.table:
            return node.name.upper()
        case exp.Week() | exp.WeekStart():
            return f"WEEK({node.this.name.upper()})"
        case exp.Anonymous() if node.name.upper() == "WEEK" and len(node.expressions) == 1:
            return f"WEEK({node.expressions[0].name.upper()})"
        case exp.Interval() | None:
            return ""
    return node.name.upper() if isinstance(node, exp.Identifier) else ""


def unit(name: str, family: str) -> str | None:
    """The unit of that name; for a week, with its first day unless that is Monday."""
    if family == "bigquery":
        special = {"ISOWEEK": "WEEK", "WEEK": "WEEK(SUNDAY)", "ISOYEAR": "ISOYEAR", "WEEK(MONDAY)": "WEEK"}
        if name in special:
            return special[name]
        first = re.fullmatch(r"WEEK\((\w+)\)", name)
        if first:
            return name if first[1] in DAYS else None
    if family == "tsql" and name in ("ISO_WEEK", "ISOWK", "ISOWW"):
        return "WEEK"
    if family == "tsql" and name in ("WEEK", "WK", "WW"):
        return "WEEK(SUNDAY)"
    return _NAMES.get(family, _NAMES["postgres"]).get(name)


def fields(family: str) -> dict[str, str]:
    """The units by which a system's moments are divided, by their names; without weeks."""
    kinds = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    return {name: unit for name, unit in _NAMES[family].items() if unit in kinds}


def length(name: str) -> str | None:
    """The unit without its first day, for sums; None if the unit cannot be added."""
    return None if name == "ISOYEAR" else name.partition("(")[0]


def is_clock(name: str) -> bool:
    """Whether the unit belongs to the time of day."""
    return name in CLOCK


def since_monday(name: str) -> int:
    """The number of days before Monday on which the unit's weeks begin: `WEEK(SUNDAY)` → 1."""
    first = re.fullmatch(r"WEEK\((\w+)\)", name)
    return (7 - DAYS.index(first[1])) % 7 if first else 0
