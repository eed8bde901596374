"""Sums of days or moments with units and intervals.

A DATE and a calendar unit give a DATE or a moment, depending on the system; a clock unit gives a moment.
Months differ in length: adding a month to the 31st gives the last day of a shorter month.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.call import DateCall
from planner.dialects.overloads import PREFIX
from planner.dialects.units import is_clock, length, unit
from planner.native.templates import call_of, sql

_MOMENTS = frozenset({"redshift"})
"""Systems in which a DATE and any unit give a moment."""
_ROUNDED = frozenset({"mysql", "snowflake"})
"""Systems that round a number of units; the others truncate it."""
_DAYS = frozenset({"flink"})
"""Systems in which a DATE and any unit give a DATE."""
_STRICT = frozenset({"tsql", "trino"})
"""Systems that cannot add hours to a DATE."""
_WHOLE = re.compile(r"-?\d+")
_IN_FIELD = {"DAY": 1, "HOUR": 24, "MINUTE": 60, "SECOND": 60, "MICROSECOND": 1_000_000}
"""The fields of an interval, and how many of each are in the one before."""
_WRITTEN = re.compile(r"\s*([-+]?\d+)\s*([a-zA-Z]+)\s*")


def shift(call: DateCall, sign: int = 1) -> exp.Expression:
    """`n` units added to `at`."""
    unit_name = length(call.unit())
    if unit_name is None:
        call.refuse("this unit", "use YEAR")
    return shifted(call["at"], span(call["n"], unit_name, call.family, sign), unit_name, call)


def shift_back(call: DateCall) -> exp.Expression:
    return shift(call, -1)


def shift_by(call: DateCall, sign: int = 1) -> exp.Expression:
    """An interval added to `at`; a plain number counts days."""
    by = call["by"]
    if not isinstance(by, exp.Interval):
        if call.family not in ("mysql", "spark"):
            call.refuse("a second argument that is not an interval", "use INTERVAL")
        return shifted(call["at"], span(by, "DAY", call.family, sign), "DAY", call)
    if call.family == "snowflake" and isinstance(by.this, exp.Literal) and "," in by.this.name:
        return _shift_by_each(call, by.this.name, sign)
    count, unit_name = counted(by, call)
    return shifted(call["at"], span(count, unit_name, call.family, sign), unit_name, call)


def _shift_by_each(call: DateCall, parts: str, sign: int) -> exp.Expression:
    """The parts of an interval added one after the other: INTERVAL '1 year, 3 days'."""
    at = call["at"]
    for part in parts.split(","):
        count, unit_name = counted(exp.Interval(this=exp.Literal.string(part)), call)
        at = shifted(at, span(count, unit_name, call.family, sign), unit_name, call)
    return at


def shift_back_by(call: DateCall) -> exp.Expression:
    return shift_by(call, -1)


def counted(interval: exp.Interval, call: DateCall) -> tuple[exp.Expression, str]:
    """The number and the unit of an interval of one unit."""
    count, name = interval.this, interval.text("unit").upper()
    if not name and isinstance(count, exp.Literal) and (written := _WRITTEN.fullmatch(count.name)):
        count, name = exp.Literal.string(written[1]), written[2].upper()
    ends = interval.args.get("unit")
    if isinstance(ends, exp.IntervalSpan):
        name = f"{ends.this.name}_{ends.expression.name}".upper()
    spans = call.family == "mysql" or isinstance(ends, exp.IntervalSpan)
    if spans and "_" in name and isinstance(count, exp.Literal):
        count, name = _of_several(count.name, name) or (count, name)
    found = length(unit(name, call.family) or "ISOYEAR")
    if found is None or count is None:
        call.refuse(f"the interval {interval.sql(call.dialect)}", "use an interval of one unit")
    return count, found


def _of_several(text: str, name: str) -> tuple[exp.Expression, str] | None:
    """An interval that names its first and last field, as a number of the last ones.

    INTERVAL '1 1:1:1' DAY_SECOND, or DAY TO SECOND, has 90061 seconds. If fields are missing, these are the
    first ones.
    """
    first, _, last = name.partition("_")
    fields = ("YEAR", "MONTH") if last == "MONTH" else tuple(_IN_FIELD)
    if first not in fields or last not in fields:
        return None
    fields = fields[fields.index(first) : fields.index(last) + 1]
    digits = re.findall(r"\d+", text)
    if not 0 < len(digits) <= len(fields):
        return None
    if last == "MICROSECOND":
        digits[-1] = digits[-1].ljust(6, "0")
    total = 0
    for field, number in zip(fields[-len(digits) :], digits, strict=True):
        total = total * {"YEAR": 1, "MONTH": 12, **_IN_FIELD}[field] + int(number)
    return exp.Literal.string(str(-total if text.strip().startswith("-") else total)), last


def span(count: exp.Expression, unit_name: str, family: str, sign: int = 1) -> exp.Expression:
    """`count` units as a DuckDB interval."""
    text = count.name if isinstance(count, exp.Literal) else ""
    if _WHOLE.fullmatch(text):
        return sql(f"INTERVAL '{sign * int(text)}' {unit_name}", [])
    if isinstance(count, exp.Neg) and _WHOLE.fullmatch(count.this.name):
        return sql(f"INTERVAL '{-sign * int(count.this.name)}' {unit_name}", [])
    minus = "-" if sign < 0 else ""
    if family == "mysql" and unit_name == "SECOND":
        return sql(
            f"to_microseconds(CAST({minus}round(CAST({{0}} AS DECIMAL(18, 6)) * 1000000) AS BIGINT))", [count]
        )
    if family in _ROUNDED:
        return sql(f"INTERVAL ({minus}round(CAST({{0}} AS DECIMAL(38, 9)))) {unit_name}", [count])
    return sql(f"INTERVAL ({minus}({{0}})) {unit_name}", [count])


def shifted(at: exp.Expression, by: exp.Expression, unit_name: str, call: DateCall) -> exp.Expression:
    """The sum, with the type that the system gives it."""
    clock = is_clock(unit_name)
    kind = "shifted"
    if clock and call.family in _STRICT:
        kind = "shifted_strictly"
    elif clock:
        kind = "shifted_clock_kept" if call.family in _DAYS else "shifted_clock"
    elif call.family in _MOMENTS:
        kind = "shifted_moment"
    if call.family == "mysql":
        kind += "_mysql"
    return call_of(PREFIX + kind, [at, by], call.name.lower())


def shift_moment(call: DateCall) -> exp.Expression:
    """`n` units added to `at`, as a moment in UTC."""
    by = span(call["n"], call.unit(), call.family)
    return sql("CAST({0} AS TIMESTAMPTZ) + {1}", [call["at"], by])


def shift_day(call: DateCall, sign: int = 1) -> exp.Expression:
    """`n` days added to the day of `at`."""
    by = span(call["n"], "DAY", call.family, sign)
    return sql("CAST(CAST(CAST({0} AS TIMESTAMP) AS DATE) + {1} AS DATE)", [call["at"], by])


def shift_day_back(call: DateCall) -> exp.Expression:
    return shift_day(call, -1)


def add_months(call: DateCall) -> exp.Expression:
    """`n` months added to the day of `at`."""
    by = span(call["n"], "MONTH", call.family)
    return sql("CAST(CAST(CAST({0} AS TIMESTAMP) AS DATE) + {1} AS DATE)", [call["at"], by])


def add_months_at_end(call: DateCall) -> exp.Expression:
    """`n` months added to `at`; the last day of a month gives the last day of the other month."""
    by = span(call["n"], "MONTH", call.family)
    kind = "shifted_moment_at_months_end" if call.family == "redshift" else "shifted_at_months_end"
    return call_of(PREFIX + kind, [call["at"], by], call.name.lower())
