"""Intervals as ISO 8601 durations, and as Python's and Arrow's values."""

from __future__ import annotations

import re
from datetime import timedelta

from engine.codec.ordered_text import Interval
from engine.codec.refusals import invalid
from engine.schema import Kind

_NUMBER = r"([+-]?[0-9]+)"
_DURATION = re.compile(
    rf"([+-]?)P(?=.)(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=.)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:([+-]?)([0-9]+)(?:[.,]([0-9]+))?S)?)?"
)
_PARTS = 2**31  # of months and of days
_NANOSECONDS = 2**63 // 1000  # microseconds that exceed Arrow's nanoseconds


def interval_of(value: object) -> Interval:
    """The interval that a value means: an ISO 8601 duration, or an interval of Python or Arrow.

    Raises InvalidValue if it is none, is finer than microseconds, or is out of range.
    """
    match value:
        case str():
            interval = _read(value)
        case Interval():
            interval = value
        case timedelta():
            microseconds = value.seconds * 10**6 + value.microseconds
            interval = Interval(0, value.days, microseconds)
        case (int(months), int(days), int(nanoseconds)) if hasattr(value, "nanoseconds"):
            microseconds, finer = divmod(nanoseconds, 1000)
            if finer:
                raise invalid(str(value), Kind.INTERVAL, "finer than microseconds")
            interval = Interval(months, days, microseconds)
        case _:
            raise invalid(value, Kind.INTERVAL)
    if not (
        -_PARTS <= interval.months < _PARTS
        and -_PARTS <= interval.days < _PARTS
        and abs(interval.microseconds) < _NANOSECONDS
    ):
        raise invalid(value, Kind.INTERVAL, "out of range")
    return interval


def _read(text: str) -> Interval:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise invalid(text, Kind.INTERVAL, "an ISO 8601 duration is expected, such as P1DT2H")
    sign, *parts, negative, seconds, fraction = match.groups()
    years, months, weeks, days, hours, minutes = (int(part or 0) for part in parts)
    fraction = (fraction or "").rstrip("0")
    if len(fraction) > 6:
        raise invalid(text, Kind.INTERVAL, "finer than microseconds")
    clock = int(f"{negative or ''}{seconds or 0}{fraction:0<6}")
    turn = -1 if sign == "-" else 1
    return Interval(
        turn * (12 * years + months),
        turn * (7 * weeks + days),
        turn * (3_600_000_000 * hours + 60_000_000 * minutes + clock),
    )


def duration(interval: Interval) -> str:
    """An ISO 8601 duration, P1Y2M3DT4H5M6.5S; each part has its own sign."""
    seconds, fraction = divmod(abs(interval.microseconds), 10**6)
    years, months = _parts(interval.months, 12)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if interval.microseconds < 0 else ""
    date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (interval.days, "D")) if n)
    time = "".join(f"{sign}{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if seconds or fraction:
        decimals = f".{fraction:06}".rstrip("0") if fraction else ""
        time += f"{sign}{seconds}{decimals}S"
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def _parts(number: int, size: int) -> tuple[int, int]:
    """The quotient and remainder of a number, both with its sign."""
    whole, rest = divmod(abs(number), size)
    return (-whole, -rest) if number < 0 else (whole, rest)
