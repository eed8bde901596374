"""PostgreSQL's functions that carry parts of an interval over: 30 days are a month, 24 hours a day."""

from __future__ import annotations

from collections.abc import Mapping

_MONTH, _DAY = 30 * 86_400_000_000, 86_400_000_000
_CLOCK = (
    "date_part('hour', {SPAN}) * 3600000000 + date_part('minute', {SPAN}) * 60000000"
    " + date_part('microsecond', {SPAN})"
)
_DAYS = "date_part('day', {SPAN})"
_MONTHS = "date_part('year', {SPAN}) * 12 + date_part('month', {SPAN})"
_INTERVAL = (
    "to_months(CAST({MONTHS} AS INTEGER)) + to_days(CAST({DAYS} AS INTEGER))"
    " + to_microseconds(CAST({REST} AS BIGINT))"
)


def _carried(total: str, months: str, days: str, rest: str) -> str:
    """An interval of these parts; `t` stands for the total of those that are carried over."""
    parts = _INTERVAL.replace("{MONTHS}", months).replace("{DAYS}", days).replace("{REST}", rest)
    return f"list_transform([{total}], lambda t: {parts})[1]".replace("{SPAN}", "CAST({0} AS INTERVAL)")


JUSTIFIED: Mapping[str, str] = {
    # justify_days(INTERVAL '35 days') is 1 mon 5 days
    "JUSTIFY_DAYS(span)": _carried(f"({_MONTHS}) * 30 + {_DAYS}", "t // 30", "t % 30", _CLOCK),
    # justify_hours(INTERVAL '27 hours') is 1 day 03:00:00
    "JUSTIFY_HOURS(span)": _carried(f"{_DAYS} * {_DAY} + {_CLOCK}", _MONTHS, f"t // {_DAY}", f"t % {_DAY}"),
    # justify_interval(INTERVAL '1 mon -1 hour') is 29 days 23:00:00
    "JUSTIFY_INTERVAL(span)": _carried(
        f"({_MONTHS}) * {_MONTH} + {_DAYS} * {_DAY} + {_CLOCK}",
        f"t // {_MONTH}",
        f"t // {_DAY} % 30",
        f"t % {_DAY}",
    ),
}
