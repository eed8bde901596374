"""Differences of two moments, `b - a`: unit boundaries between them, or whole units elapsed."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.dialects.call import DateCall
from planner.dialects.overloads import PREFIX
from planner.dialects.units import since_monday
from planner.native.templates import call_of

_A, _B = "CAST({0} AS TIMESTAMP)", "CAST({1} AS TIMESTAMP)"
_MICROSECONDS = {
    "WEEK": 604_800_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_BETWEEN = f"(12 * (year({_B}) - year({_A})) + month({_B}) - month({_A}))"
_REST = "(epoch_us({0}) - epoch_us(date_trunc('month', {0})))"
_REST_A, _REST_B = _REST.replace("{0}", _A), _REST.replace("{0}", _B)
_LAST_A, _LAST_B = f"(CAST({_A} AS DATE) = last_day({_A}))", f"(CAST({_B} AS DATE) = last_day({_B}))"


def boundaries(call: DateCall) -> exp.Expression:
    """The number of units that begin after `a` and up to `b`."""
    if call.family == "tsql":
        call = _of_moments(call)
    unit = call.unit()
    if unit.startswith("WEEK"):
        if call.family == "redshift":
            call.refuse("the unit week", "subtract the results of DATE_TRUNC('week', ...)")
        days = since_monday(unit)
        begun = [f"CAST(date_trunc('week', {at} + to_days({days})) AS DATE)" for at in (_A, _B)]
        return call.sql(f"({begun[1]} - {begun[0]}) // 7", "a", "b")
    if unit == "ISOYEAR":
        return call.sql(f"isoyear({_B}) - isoyear({_A})", "a", "b")
    return call.sql(f"date_diff('{unit.lower()}', {_A}, {_B})", "a", "b")


def _of_moments(call: DateCall) -> DateCall:
    """The call with times of day as moments of the day 1900-01-01."""
    sides = {side: call_of(f"{PREFIX}moment_of_tsql", [call[side]], call.name.lower()) for side in ("a", "b")}
    return replace(call, args={**call.args, **sides})


def time_boundaries(call: DateCall) -> exp.Expression:
    """The same of two times of day."""
    at = "(DATE '1970-01-01' + CAST({{{0}}} AS TIME))"
    a, b = at.format(0), at.format(1)
    return call.sql(f"date_diff('{call.unit().lower()}', {a}, {b})", "a", "b")


def days(call: DateCall) -> exp.Expression:
    """The days from the day of `a` to the day of `b`."""
    return call.sql(f"date_diff('day', {_A}, {_B})", "a", "b")


def elapsed(call: DateCall) -> exp.Expression:
    """The number of whole units elapsed from `a` to `b`."""
    unit = call.unit()
    if unit in _MONTHS:
        return _whole_months(call, _MONTHS[unit])
    if unit not in _MICROSECONDS or (call.family, unit) == ("clickhouse", "WEEK"):
        call.refuse(f"the unit {unit.lower()}")
    return call.sql(f"(epoch_us({_B}) - epoch_us({_A})) // {_MICROSECONDS[unit]}", "a", "b")


def _whole_months(call: DateCall, count: int) -> exp.Expression:
    """The whole months elapsed, divided by `count`; the system's rule decides when a month is complete."""
    months = _MONTHS_BY_SYSTEM.get(call.family, _MONTHS_REACHED)
    return call.sql(months if count == 1 else f"({months}) // {count}", "a", "b")


def _months_if(short: str, over: str) -> str:
    """The months between the months of `a` and `b`, corrected by one if the last month is `short` or
    `over`."""
    return (
        f"CASE WHEN {_BETWEEN} > 0 AND ({short}) THEN {_BETWEEN} - 1 "
        f"WHEN {_BETWEEN} < 0 AND ({over}) THEN {_BETWEEN} + 1 ELSE {_BETWEEN} END"
    )


def _clock(at: str) -> str:
    return f"(epoch_us({at}) - epoch_us(date_trunc('day', {at})))"


def _months_in_trino() -> str:
    """Trino's rule: the last day of a month counts as any later day of a longer month."""
    clock_a, clock_b = _clock(_A), _clock(_B)
    last_b, last_a = f"{_LAST_B} AND day({_A}) > day({_B})", f"{_LAST_A} AND day({_B}) > day({_A})"
    less = f"CASE WHEN {last_b} THEN {clock_b} < {clock_a} ELSE {_REST_B} < {_REST_A} END"
    more = f"CASE WHEN {last_a} THEN {clock_b} > {clock_a} ELSE {_REST_B} > {_REST_A} END"
    return _months_if(less, more)


def _months_in_spark() -> str:
    """Spark's rule: the times of day are compared first, and an incomplete day moves the end by a day."""
    day_a, day_b = f"CAST({_A} AS DATE)", f"CAST({_B} AS DATE)"
    end = (
        f"({day_b} + CASE WHEN {day_b} < {day_a} AND {_clock(_B)} > {_clock(_A)} THEN 1 "
        f"WHEN {day_b} > {day_a} AND {_clock(_B)} < {_clock(_A)} THEN -1 ELSE 0 END)"
    )
    days = f"((year({end}) - year({_A})) * 12 + month({end}) - month({_A})) * 32 + day({end}) - day({_A})"
    return f"({days}) // 32"


def _months_in_flink() -> str:
    """Flink's rule: as many months as can be added to the earlier moment."""
    over = f"{_A} + to_months(CAST({_BETWEEN} AS INTEGER)) > {_B}"
    under = f"{_B} + to_months(CAST(-{_BETWEEN} AS INTEGER)) > {_A}"
    return (
        f"CASE WHEN {_B} >= {_A} THEN {_BETWEEN} - CAST({over} AS INTEGER)"
        f" ELSE {_BETWEEN} + CAST({under} AS INTEGER) END"
    )


_MONTHS_REACHED = _months_if(f"{_REST_B} < {_REST_A}", f"{_REST_B} > {_REST_A}")
_MONTHS_BY_SYSTEM = {"flink": _months_in_flink(), "spark": _months_in_spark(), "trino": _months_in_trino()}
_SECONDS = (
    "(day({1}) - day({0})) * 86400 + (epoch_us(date_trunc('second', {1})) - epoch_us(date_trunc('day', {1}))"
    " - epoch_us(date_trunc('second', {0})) + epoch_us(date_trunc('day', {0}))) // 1000000"
)


def months_between(call: DateCall) -> exp.Expression:
    """The months from `a` to `b`. The fraction is in parts of 31 days; only there does the time of day
    count."""
    rest = _SECONDS.replace("{0}", _A).replace("{1}", _B)
    value = (
        f"CASE WHEN day({_A}) = day({_B}) OR ({_LAST_A} AND {_LAST_B}) THEN CAST({_BETWEEN} AS DOUBLE) "
        f"ELSE {_BETWEEN} + CAST({rest} AS DOUBLE) / 2678400 END"
    )
    rounds = call.family == "spark" and not _is_false(call.args.get("rounds"))
    return call.sql(f"round({value}, 8)" if rounds else value, "a", "b")


def _is_false(node: exp.Expression | None) -> bool:
    return isinstance(node, exp.Boolean) and not node.this
