"""Parts of days and moments for EXTRACT, DATE_PART and their like, by system and name.

`{0}` in a part is a moment in UTC. A week in MySQL's modes is numbered by the year and the day number of its
middle day, or of its first day.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from planner.dialects.call import DateCall
from planner.dialects.overloads import PREFIX
from planner.dialects.units import DAYS, fields, named, word
from planner.native.templates import call_of, sql

AT = "CAST({0} AS TIMESTAMP)"

_SIDE_BY_SIDE = {
    "YEAR_MONTH": "year({0}) * 100 + month({0})",
    "DAY_HOUR": "day({0}) * 100 + hour({0})",
    "DAY_MINUTE": "day({0}) * 10000 + hour({0}) * 100 + minute({0})",
    "DAY_SECOND": "day({0}) * 1000000 + hour({0}) * 10000 + minute({0}) * 100 + second({0})",
    "HOUR_MINUTE": "hour({0}) * 100 + minute({0})",
    "HOUR_SECOND": "hour({0}) * 10000 + minute({0}) * 100 + second({0})",
    "MINUTE_SECOND": "minute({0}) * 100 + second({0})",
}
"""MySQL's parts that have the digits of several."""
_PARTS = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "DAY": "day({0})",
    "HOUR": "hour({0})",
    "MINUTE": "minute({0})",
    "SECOND": "second({0})",
    "ISOWEEK": "week({0})",
    "ISOYEAR": "isoyear({0})",
    "DAYOFYEAR": "dayofyear({0})",
    "FROM_SUNDAY_0": "dayofweek({0})",
    "FROM_SUNDAY": "dayofweek({0}) + 1",
    "FROM_MONDAY": "isodow({0})",
    "FROM_MONDAY_0": "isodow({0}) - 1",
    "SECONDS": "CAST(microsecond({0}) AS DECIMAL(18, 0)) * 0.000001",
    "OWN_MILLISECOND": "(microsecond({0}) // 1000) % 1000",
    "OWN_MICROSECOND": "microsecond({0}) % 1000000",
    "CENTURY": "(year({0}) + 99) // 100",
    "EPOCH": "CAST(floor(CAST(epoch_us({0}) AS DOUBLE) / 1000000) AS BIGINT)",
    "EPOCH_MILLISECOND": "CAST(floor(CAST(epoch_us({0}) AS DOUBLE) / 1000) AS BIGINT)",
    "EPOCH_MICROSECOND": "epoch_us({0})",
    "DATE": "CAST({0} AS DATE)",
    "TIME": "CAST({0} AS TIME)",
    "MONTH_NAME": "monthname({0})",
    "DAY_NAME": "dayname({0})",
    "WEEK_OF_US": "(dayofyear({0}) - 1 + (dayofweek({0}) - dayofyear({0}) + 372) % 7) // 7 + 1",
    **_SIDE_BY_SIDE,
}
_CLOCK_PARTS = frozenset({"HOUR", "MINUTE", "SECOND"})
_CLOCK = {part: part for part in ("HOUR", "MINUTE")}
_CALENDAR = {part: part for part in ("YEAR", "QUARTER", "MONTH", "DAY")}


_BY_NAME: Mapping[str, Mapping[str, str]] = {
    "snowflake": {
        **fields("snowflake"),
        **named(
            ISOWEEK="WEEK W WK WEEKOFYEAR WOY WY WEEKISO WEEK_ISO WEEKOFYEARISO WEEKOFYEAR_ISO",
            ISOYEAR="YEAROFWEEK YEAROFWEEKISO",
            DAYOFYEAR="DAYOFYEAR YEARDAY DOY DY",
            FROM_SUNDAY_0="DAYOFWEEK WEEKDAY DOW DW",
            FROM_MONDAY="DAYOFWEEKISO WEEKDAY_ISO DOW_ISO DW_ISO DAYOFWEEK_ISO",
            EPOCH="EPOCH_SECOND EPOCH EPOCH_SECONDS",
            EPOCH_MILLISECOND="EPOCH_MILLISECOND EPOCH_MILLISECONDS",
            EPOCH_MICROSECOND="EPOCH_MICROSECOND EPOCH_MICROSECONDS",
        ),
    },
    "redshift": {
        **fields("redshift"),
        **named(
            ISOWEEK="WEEK W WEEKS",
            FROM_SUNDAY_0="DOW DAYOFWEEK DW WEEKDAY",
            DAYOFYEAR="DOY DAYOFYEAR DY YEARDAY",
            EPOCH="EPOCH",
        ),
    },
    "bigquery": {
        **_CALENDAR,
        **_CLOCK,
        **named(
            SECOND="SECOND",
            OWN_MILLISECOND="MILLISECOND",
            OWN_MICROSECOND="MICROSECOND",
            FROM_SUNDAY="DAYOFWEEK",
            DAYOFYEAR="DAYOFYEAR",
            ISOWEEK="ISOWEEK",
            ISOYEAR="ISOYEAR",
            DATE="DATE",
            TIME="TIME",
        ),
    },
    "spark": named(
        YEAR="YEAR Y YEARS YR YRS",
        QUARTER="QUARTER QTR",
        MONTH="MONTH MON MONS MONTHS",
        DAY="DAY D DAYS",
        HOUR="HOUR H HOURS HR HRS",
        MINUTE="MINUTE M MIN MINS MINUTES",
        SECONDS="SECOND S SEC SECONDS SECS",
        ISOWEEK="WEEK W WEEKS",
        ISOYEAR="YEAROFWEEK",
        DAYOFYEAR="DOY",
        FROM_SUNDAY="DAYOFWEEK DOW",
        FROM_MONDAY="DAYOFWEEK_ISO DOW_ISO",
    ),
    "mysql": {
        **_CALENDAR,
        **_CLOCK,
        **named(SECOND="SECOND", OWN_MICROSECOND="MICROSECOND"),
        **{name: name for name in _SIDE_BY_SIDE},
    },
    "tsql": named(
        YEAR="YEAR YY YYYY",
        QUARTER="QUARTER QQ Q",
        MONTH="MONTH MM M",
        DAY="DAY DD D",
        HOUR="HOUR HH",
        MINUTE="MINUTE MI N",
        SECOND="SECOND SS S",
        OWN_MILLISECOND="MILLISECOND MS",
        OWN_MICROSECOND="MICROSECOND MCS",
        DAYOFYEAR="DAYOFYEAR DY Y",
        WEEK_OF_US="WEEK WK WW",
        FROM_SUNDAY="WEEKDAY DW DAYOFWEEK",
        ISOWEEK="ISO_WEEK ISOWK ISOWW WEEKISO ISOWEEK",
    ),
    "oracle": named(YEAR="YEAR", MONTH="MONTH", DAY="DAY", HOUR="HOUR", MINUTE="MINUTE", SECONDS="SECOND"),
    "trino": {
        **_CALENDAR,
        **_CLOCK,
        **named(
            SECOND="SECOND",
            OWN_MILLISECOND="MILLISECOND",
            ISOWEEK="WEEK",
            DAY="DAY DAY_OF_MONTH",
            FROM_MONDAY="DAY_OF_WEEK DOW DAYOFWEEK",
            DAYOFYEAR="DAY_OF_YEAR DOY DAYOFYEAR",
            ISOYEAR="YEAR_OF_WEEK YOW",
        ),
    },
    "flink": {
        **_CALENDAR,
        **_CLOCK,
        **named(
            SECOND="SECOND",
            OWN_MILLISECOND="MILLISECOND",
            ISOWEEK="WEEK",
            ISOYEAR="ISOYEAR",
            DAYOFYEAR="DOY",
            FROM_SUNDAY="DOW",
            FROM_MONDAY="ISODOW",
            EPOCH="EPOCH",
            CENTURY="CENTURY",
        ),
    },
    "clickhouse": {**_CALENDAR, **_CLOCK, **named(SECOND="SECOND")},
}
_NAMED_PARTS = {"MONTH": "MONTH_NAME", "FROM_SUNDAY": "DAY_NAME"}


def template(part: str) -> str:
    """DuckDB's SQL for a part of the argument `{0}`."""
    return _PARTS[part].replace("{0}", AT)


def extract(call: DateCall) -> exp.Expression:
    """The named part of `at`."""
    name = word(call["unit"])
    if call.family == "mysql" and name == "WEEK":
        return sql(week_template(0), [call["at"]])
    if call.family == "bigquery" and name.startswith("WEEK"):
        first = name.removeprefix("WEEK").strip("()") or "SUNDAY"
        if first in DAYS:
            return sql(_numbered(_since(DAYS.index(first)), 0, whole_year=False), [call["at"]])
    part = _BY_NAME[call.family].get(name)
    if part is None:
        call.refuse(f"the part {name.lower()}" if name else "a computed part")
    if call.name.upper() == "DATENAME":
        return _name(part, call)
    return part_of(part, call["at"], call.name)


def part_of(part: str, at: exp.Expression, called: str) -> exp.Expression:
    """A part of a moment, or of a time of day if the part belongs to that."""
    if part in _CLOCK_PARTS:
        return call_of(f"{PREFIX}clock_{part.lower()}", [at], called.lower())
    return sql(template(part), [at])


def _name(part: str, call: DateCall) -> exp.Expression:
    """The part as text: the name of a month or day, or the number."""
    named = template(_NAMED_PARTS.get(part, part))
    return call.sql(f"CAST({named} AS VARCHAR)", "at")


_SINCE_MONDAY, _SINCE_SUNDAY = f"(isodow({AT}) - 1)", f"dayofweek({AT})"


def _since(day: int) -> str:
    """The days since the last such weekday, from Monday as 1."""
    return f"((isodow({AT}) + {6 - day}) % 7)"


def _numbered(since: str, middle: int, whole_year: bool, year: bool = False) -> str:
    """The number of a week within the year of its day `middle`; with `year`, preceded by that year."""
    pivot = f"(CAST({AT} AS DATE) - CAST({since} AS INTEGER) + {middle})"
    number = f"(dayofyear({pivot}) + 6) // 7"
    if year:
        return f"year({pivot}) * 100 + {number}"
    if whole_year:
        return number
    return (
        f"CASE WHEN year({pivot}) < year({AT}) THEN 0 "
        f"WHEN year({pivot}) > year({AT}) THEN 53 ELSE {number} END"
    )


def week_template(mode: int, year: bool = False) -> str:
    """The week of `{0}` in one of MySQL's modes.

    Odd modes begin weeks on Monday. In 1, 3, 4 and 6 the first week has at least four days of the year. In 2,
    3, 6 and 7 weeks are numbered from 1.
    """
    since = _SINCE_MONDAY if mode % 2 else _SINCE_SUNDAY
    middle = 3 if mode in (1, 3, 4, 6) else 0
    return _numbered(since, middle, mode in (2, 3, 6, 7), year)


def _mode(call: DateCall) -> int:
    node = call.args.get("mode")
    if node is None:
        return 0
    if not isinstance(node, exp.Literal) or node.name not in map(str, range(8)):
        call.refuse("a mode that is not one of 0 to 7")
    return int(node.name)


def week(call: DateCall) -> exp.Expression:
    return call.sql(week_template(_mode(call)), "at")


def year_and_week(call: DateCall) -> exp.Expression:
    """The year of the week and its number, as one number."""
    return call.sql(week_template(_mode(call), year=True), "at")
