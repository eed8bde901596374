"""Intervals in the words of PostgreSQL: numbers with units, clocks, and the SQL standard's years and months.

    1 year 2 mons -3 days +04:05:06.5      @ 14 seconds ago      1.5 weeks      1-2 3 4:05:06

A fraction of a unit becomes smaller units, with 30 days to a month and 24 hours to a day.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal

from engine.codec.durations import interval_of
from engine.codec.ordered_text import Interval

_DAY = 86_400_000_000
_UNITS = {
    **dict.fromkeys(("millennium", "millennia", "mil", "mils"), ("months", 12_000)),
    **dict.fromkeys(("century", "centuries", "cent", "c"), ("months", 1_200)),
    **dict.fromkeys(("decade", "decades", "dec", "decs"), ("months", 120)),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), ("months", 12)),
    **dict.fromkeys(("mon", "mons", "month", "months"), ("months", 1)),
    **dict.fromkeys(("w", "week", "weeks"), ("days", 7)),
    **dict.fromkeys(("d", "day", "days"), ("days", 1)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("microseconds", 3_600_000_000)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), ("microseconds", 60_000_000)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("microseconds", 1_000_000)),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), ("microseconds", 1_000)),
    **dict.fromkeys(("us", "usec", "usecs", "microsecond", "microseconds"), ("microseconds", 1)),
}
_PART = re.compile(
    r"(?P<sign>[+-]?)(?P<hours>\d+):(?P<minutes>\d\d?)(?::(?P<seconds>\d\d?(?:\.\d{1,6})?))?(?![\d:.])"
    r"|(?P<turn>[+-]?)(?P<years>\d+)-(?P<months>\d+)(?!\S)"
    r"|(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?P<unit>[a-z]+|(?=\s*[+-]?\d+:\d)|$)"
)


def interval_of_words(text: str) -> Interval | None:
    """The interval that a text spells in words; None if it spells none. Raises InvalidValue for one that is
    out of range."""
    words = text.strip().lower()
    is_turned = words.endswith("ago")
    words = words.removesuffix("ago").removeprefix("@").strip()
    sums = {"months": Decimal(0), "days": Decimal(0), "microseconds": Decimal(0)}
    at = 0
    while at < len(words):
        part = _PART.match(words, at)
        if part is None or not _add(part, sums, part.end() == len(words)):
            return None
        at = part.end()
        at += len(words[at:]) - len(words[at:].lstrip())
    if not words:
        return None
    sign = -1 if is_turned else 1
    return interval_of(Interval(*(sign * int(part) for part in sums.values())))


def _add(part: re.Match[str], sums: dict[str, Decimal], is_last: bool) -> bool:
    """Adds a part of the text; whether it is one. A number without a unit is one of seconds at the end, and
    one of days before a clock."""
    if part["hours"]:
        minutes = int(part["hours"]) * 60 + int(part["minutes"])
        seconds = 60 * minutes + Decimal(part["seconds"] or 0)
        sums["microseconds"] += (-1 if part["sign"] == "-" else 1) * seconds * 1_000_000
        return True
    if part["years"]:
        months = 12 * int(part["years"]) + int(part["months"])
        sums["months"] += -months if part["turn"] == "-" else months
        return True
    found = _UNITS.get(part["unit"] or ("seconds" if is_last else "days"))
    if found is None:
        return False
    unit, size = found
    number = Decimal(part["number"])
    whole = int(number)
    sums[unit] += whole * size
    _add_fraction((number - whole) * size, unit, size, sums)
    return True


def _add_fraction(rest: Decimal, unit: str, size: int, sums: dict[str, Decimal]) -> None:
    """Adds a fraction of a unit: of a year in months, of a month or a week in days and a rest of one."""
    if unit == "months" and size > 1:
        sums["months"] += rest.to_integral_value(ROUND_HALF_EVEN)
    elif unit == "microseconds":
        sums["microseconds"] += rest.to_integral_value(ROUND_HALF_EVEN)
    else:
        days = rest * 30 if unit == "months" else rest
        sums["days"] += int(days)
        sums["microseconds"] += ((days - int(days)) * _DAY).to_integral_value(ROUND_HALF_EVEN)
