"""Moments truncated to a unit, last days of units, and the next or previous weekday."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.dialects.call import DateCall, number
from planner.dialects.overloads import PREFIX
from planner.dialects.units import is_clock, since_monday, word
from planner.native.templates import call_of, sql

_FORMATS = {
    "SPARK": {
        **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"),
        "QUARTER": "QUARTER",
        **dict.fromkeys(("MONTH", "MM", "MON"), "MONTH"),
        "WEEK": "WEEK",
    },
    "ORACLE": {
        **dict.fromkeys(("YEAR", "SYEAR", "SYYYY", "YYYY", "YYY", "YY", "Y"), "YEAR"),
        **dict.fromkeys(("IYYY", "IYY", "IY", "I"), "ISOYEAR"),
        "Q": "QUARTER",
        **dict.fromkeys(("MONTH", "MON", "MM", "RM"), "MONTH"),
        "IW": "WEEK",
        **dict.fromkeys(("DDD", "DD", "J"), "DAY"),
        **dict.fromkeys(("HH", "HH12", "HH24"), "HOUR"),
        "MI": "MINUTE",
    },
}
"""The units of the formats of TRUNC(date, format)."""
_DAY = "CAST(CAST({0} AS TIMESTAMP) AS DATE)"
_OWN_BEGINNINGS = {
    **dict.fromkeys(("DAY", "DY", "D"), f"date_trunc('week', {_DAY} + 1) - INTERVAL 1 DAY"),
    "W": f"{_DAY} - CAST((day({_DAY}) - 1) % 7 AS INTEGER)",
    "WW": f"{_DAY} - CAST((dayofyear({_DAY}) - 1) % 7 AS INTEGER)",
    **dict.fromkeys(("CC", "SCC"), f"make_date((year({_DAY}) - 1) // 100 * 100 + 1, 1, 1)"),
}
"""Oracle's weeks, which begin on Sunday or on the weekday of the month's or the year's first day, and
centuries."""
_OF_MOMENTS = {
    **_FORMATS["SPARK"],
    "DAY": "DAY",
    "DD": "DAY",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
    "MILLISECOND": "MILLISECOND",
    "MICROSECOND": "MICROSECOND",
}


def truncate(call: DateCall) -> exp.Expression:
    """`at` truncated to the unit, in its own type."""
    unit = call.unit()
    if unit.startswith("WEEK("):
        return call_of(PREFIX + "week_begun", [call["at"], number(since_monday(unit))], call.name.lower())
    kind = "truncated"
    if is_clock(unit) and call.family in ("tsql", "trino"):
        kind = "truncated_strictly"
    return call_of(PREFIX + kind, [call["at"], exp.Literal.string(unit.lower())], call.name.lower())


def truncate_moment(call: DateCall) -> exp.Expression:
    """The same as a moment."""
    unit = call.unit()
    moment = sql("CAST({0} AS TIMESTAMP)", [call["at"]])
    if unit.startswith("WEEK("):
        return call_of(PREFIX + "week_begun", [moment, number(since_monday(unit))], call.name.lower())
    return sql(f"date_trunc('{unit.lower()}', {{0}})", [moment])


def truncate_zoned(call: DateCall) -> exp.Expression:
    """The same as a moment in UTC, with the units of Spark's `date_trunc`."""
    unit = _OF_MOMENTS.get(word(call["unit"])) if call.family == "spark" else call.unit()
    if unit is None:
        call.refuse("this unit")
    if unit.startswith("WEEK("):
        moment = sql("CAST({0} AS TIMESTAMPTZ)", [call["at"]])
        return call_of(PREFIX + "week_begun", [moment, number(since_monday(unit))], call.name.lower())
    return call.sql(f"date_trunc('{unit.lower()}', CAST({{0}} AS TIMESTAMPTZ))", "at")


def truncate_given(moment: str) -> Callable[[DateCall], exp.Expression]:
    """A moment truncated in its own type; the overload makes one of a day or a text."""

    def truncated(call: DateCall) -> exp.Expression:
        at = call_of(PREFIX + moment, [call["at"]], call.name.lower())
        return truncate(DateCall(call.name, {**call.args, "at": at}, call.node, call.dialect, call.family))

    return truncated


def truncate_there(call: DateCall) -> exp.Expression:
    """A moment truncated to a unit of a zone's local time."""
    there = call.sql("timezone({1}, CAST({0} AS TIMESTAMPTZ))", "at", "zone")
    begun = truncate_moment(
        DateCall(call.name, {**call.args, "at": there}, call.node, call.dialect, call.family)
    )
    return sql("timezone({1}, CAST({0} AS TIMESTAMP))", [begun, call["zone"]])


def truncate_time(call: DateCall) -> exp.Expression:
    """A time of day truncated to a unit."""
    unit = call.unit().lower()
    return call.sql(f"CAST(date_trunc('{unit}', DATE '1970-01-01' + CAST({{0}} AS TIME)) AS TIME)", "at")


def truncate_day(call: DateCall) -> exp.Expression:
    """The day of `at` truncated to a format; in Oracle, a clock format gives a moment."""
    form = word(call["unit"])
    if call.family == "oracle" and form in _OWN_BEGINNINGS:
        return call.sql(f"CAST({_OWN_BEGINNINGS[form]} AS DATE)", "at")
    unit = _FORMATS[call.family.upper()].get(form)
    if unit is None:
        call.refuse(f"the format {word(call['unit']) or 'that is not a constant'}")
    if is_clock(unit):
        return call.sql(f"date_trunc('{unit.lower()}', CAST({{0}} AS TIMESTAMP))", "at")
    return call.sql(f"CAST(date_trunc('{unit.lower()}', CAST({{0}} AS TIMESTAMP)) AS DATE)", "at")


def slice_of(call: DateCall) -> exp.Expression:
    """The first moment of the slice of `n` units that contains `at`, or the first one behind it. Slices
    are counted from 1970."""
    unit, count = call.unit(), call["n"]
    side = word(call.args.get("end")) or "START"
    if unit.startswith("WEEK") or unit == "ISOYEAR" or not _is_count(count) or side not in ("START", "END"):
        call.refuse("a slice of weeks, of a computed length or with another end", "use days, START and END")
    length = f"INTERVAL '{count.name}' {unit}"
    begun = call_of(f"{PREFIX}sliced", [call["at"], sql(length, [])], call.name.lower())
    return (
        begun if side == "START" else call_of(f"{PREFIX}shifted", [begun, sql(length, [])], call.name.lower())
    )


def slice_from(call: DateCall) -> exp.Expression:
    """The first moment of the slice of `n` units that contains `at`. Slices are counted from `origin`, or
    from 1900-01-01, a Monday."""
    unit, count = call.unit().partition("(")[0], call["n"]
    if unit == "ISOYEAR" or not _is_count(count):
        call.refuse("a slice of a computed length", "write the number of units")
    origin = call.args.get("origin") or exp.Literal.string("1900-01-01")
    args = [call["at"], sql(f"INTERVAL '{count.name}' {unit}", []), sql("CAST({0} AS TIMESTAMP)", [origin])]
    return call_of(f"{PREFIX}sliced_from", args, call.name.lower())


def _is_count(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) and node.is_int


def last_day_of(call: DateCall) -> exp.Expression:
    """The last day of the unit that contains `at`."""
    unit = call.unit()
    if is_clock(unit):
        call.refuse(f"the unit {unit.lower()}")
    days = since_monday(unit)
    if unit == "ISOYEAR":
        begun = "date_trunc('isoyear', date_trunc('isoyear', {0}) + INTERVAL 380 DAY)"
        return call.sql(f"CAST({begun.replace('{0}', _AT)} - INTERVAL 1 DAY AS DATE)", "at")
    if unit.startswith("WEEK"):
        begun = f"date_trunc('week', {_AT} + to_days({days})) - to_days({days})"
        return call.sql(f"CAST({begun} + INTERVAL 6 DAY AS DATE)", "at")
    return call.sql(
        f"CAST(date_trunc('{unit.lower()}', {_AT}) + INTERVAL 1 {unit} - INTERVAL 1 DAY AS DATE)", "at"
    )


_AT = "CAST({0} AS TIMESTAMP)"


def next_day(call: DateCall) -> exp.Expression:
    """The first such weekday after the day of `at`."""
    steps = f"({call.day()} - isodow({_AT}) + 6) % 7 + 1"
    return call.sql(f"CAST(CAST({_AT} AS DATE) + to_days(CAST({steps} AS INTEGER)) AS DATE)", "at")


def previous_day(call: DateCall) -> exp.Expression:
    """The last such weekday before the day of `at`."""
    steps = f"(isodow({_AT}) - {call.day()} + 6) % 7 + 1"
    return call.sql(f"CAST(CAST({_AT} AS DATE) - to_days(CAST({steps} AS INTEGER)) AS DATE)", "at")


def next_day_kept(call: DateCall) -> exp.Expression:
    """The same, at the time of day of `at`."""
    return call_of(PREFIX + "next_day_kept", [call["at"], number(call.day())], call.name.lower())
