"""Days and moments in plain Python, by the manuals of systems: a second implementation for tests.

It shares no code with the planner: months are counted on the year and the month, weeks on the day's number.
"""

from __future__ import annotations

import calendar
from datetime import date, datetime, timedelta

Moment = date | datetime
_STEPS = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
CLOCK = ("hour", "minute", "second", "millisecond", "microsecond")


def moment(at: Moment) -> datetime:
    return at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)


def day(at: Moment) -> date:
    return at.date() if isinstance(at, datetime) else at


def month_length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def add(at: Moment, unit: str, count: int, end_to_end: bool = False) -> Moment:
    """With `end_to_end` the last day of a month gives the last day of another."""
    if unit not in _MONTHS:
        return moment(at) + count * _STEPS[unit] if unit in CLOCK else at + count * _STEPS[unit]
    months = at.year * 12 + at.month - 1 + count * _MONTHS[unit]
    length = month_length(months // 12, months % 12 + 1)
    is_last = at.day == month_length(at.year, at.month)
    return at.replace(
        year=months // 12,
        month=months % 12 + 1,
        day=length if end_to_end and is_last else min(at.day, length),
    )


def begin(at: Moment, unit: str, first: int = 0) -> datetime:
    """The moment at which the unit began; weeks begin on the weekday `first`, Monday being 0."""
    full = moment(at)
    midnight = full.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "year":
            return midnight.replace(month=1, day=1)
        case "quarter":
            return midnight.replace(month=(full.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return midnight.replace(day=1)
        case "week":
            return midnight - timedelta(days=(full.weekday() - first) % 7)
        case "isoyear":
            fourth = datetime(full.isocalendar().year, 1, 4)
            return fourth - timedelta(days=fourth.weekday())
        case "day":
            return midnight
    return full - (full - midnight) % _STEPS[unit]


def crossed(a: Moment, b: Moment, unit: str, first: int = 0) -> int:
    """The beginnings of units after `a` and up to `b`."""
    one, other = begin(a, unit, first), begin(b, unit, first)
    if unit == "isoyear":
        return other.isocalendar().year - one.isocalendar().year
    if unit in _MONTHS:
        return ((other.year - one.year) * 12 + other.month - one.month) // _MONTHS[unit]
    return (other - one) // _STEPS[unit]


def passed(a: Moment, b: Moment, unit: str) -> int:
    """The whole units from `a` to `b`, by going from the earlier to the later, month by month."""
    one, other = moment(a), moment(b)
    if other < one:
        return -passed(b, a, unit)
    if unit not in _MONTHS:
        return (other - one) // _STEPS[unit]
    count = 0
    while add(one, unit, count + 1) <= other:
        count += 1
    return count


def months_between(b: Moment, a: Moment) -> float:
    one, other = moment(a), moment(b)
    months = (other.year - one.year) * 12 + other.month - one.month
    ends = [at.day == month_length(at.year, at.month) for at in (one, other)]
    if one.day == other.day or all(ends):
        return float(months)
    rests = [at.replace(microsecond=0) - begin(at, "month") for at in (one, other)]
    return months + (rests[1] - rests[0]).total_seconds() / 86400 / 31


def following(at: Moment, weekday: int) -> date:
    """The first later day of the weekday."""
    return next(
        day(at) + timedelta(days=n) for n in range(1, 8) if (day(at) + timedelta(days=n)).weekday() == weekday
    )


def last(at: Moment, unit: str = "month", first: int = 0) -> date:
    """The last day of the unit."""
    there = day(at)
    start = begin(at, unit, first)
    while begin(there + timedelta(days=1), unit, first) == start:
        there += timedelta(days=1)
    return there


def week_of_us(at: Moment) -> int:
    """The first week has January 1, and weeks begin on Sunday."""
    return crossed(date(at.year, 1, 1), at, "week", 6) + 1


def week_from_first(at: Moment, first: int) -> int:
    """Week 1 begins on the year's first of a weekday, and days before it are in week 0."""
    days = [date(at.year, 1, 1) + timedelta(days=n) for n in range(day(at).timetuple().tm_yday)]
    return sum(each.weekday() == first for each in days)
