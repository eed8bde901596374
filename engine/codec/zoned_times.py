"""Times of day with an offset from UTC: words to PostgreSQL's text and back.

A word has the time in UTC, in microseconds, above 17 bits for the offset, of which a greater one sorts first.
So words sort as PostgreSQL and DuckDB sort these times, and times are equal only if their offsets are, too.
The offset is less than 16 hours, in seconds. 24:00 is a time of day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone

from engine.codec.refusals import invalid
from engine.codec.timestamps import DAY, EPOCH, MICROSECOND
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import Kind
from engine.state.dictionary import Dictionary

SECOND = 1_000_000
"""In microseconds."""
FARTHEST = 16 * 3600 - 1
"""The greatest offset, in seconds."""
_BITS = 17
_OFFSETS = (1 << _BITS) - 1

_WRITTEN = re.compile(
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"\s*(?:[zZ]|(?P<sign>[+-])(?P<hours>[0-9]{2})(?::?(?P<minutes>[0-9]{2})(?::?(?P<seconds>[0-9]{2}))?)?)?"
)
_DIGITS = 6


def zoned_time(clock: int, offset: int) -> int:
    """The word of a time of day, in microseconds, at an offset in seconds east of UTC."""
    return (clock - offset * SECOND << _BITS) | (FARTHEST - offset)


def clock_and_offset(word: int) -> tuple[int, int]:
    """The time of day, in microseconds, and the offset in seconds east of UTC."""
    offset = FARTHEST - (word & _OFFSETS)
    return (word >> _BITS) + offset * SECOND, offset


def timetz_word(value: object, dictionary: Dictionary) -> int:
    """The word of a time of day with an offset; one without is in UTC."""
    if value is None:
        return NULL
    if value.__class__ is str:
        return _of_text(value)  # type: ignore[arg-type]
    if not isinstance(value, time):
        raise invalid(value, Kind.TIMETZ)
    offset = value.utcoffset() or timedelta()
    if offset % timedelta(seconds=1) or abs(offset) > timedelta(seconds=FARTHEST):
        raise invalid(value, Kind.TIMETZ, "its offset is not one of whole seconds below 16 hours")
    clock = datetime.combine(EPOCH, value.replace(tzinfo=None)) - EPOCH
    return zoned_time(clock // MICROSECOND, int(offset.total_seconds()))


def _of_text(text: str) -> int:
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise invalid(text, Kind.TIMETZ)
    hour, minute, second = (int(written[part] or 0) for part in ("hour", "minute", "second"))
    fraction = written["fraction"] or ""
    if fraction[_DIGITS:].strip("0"):
        raise invalid(text, Kind.TIMETZ, "finer than microseconds")
    clock = (hour * 3600 + minute * 60 + second) * SECOND + int(f"{fraction[:_DIGITS]:0<{_DIGITS}}")
    hours, minutes, seconds = (int(written[part] or 0) for part in ("hours", "minutes", "seconds"))
    offset = (hours * 3600 + minutes * 60 + seconds) * (-1 if written["sign"] == "-" else 1)
    if max(minute, second, minutes, seconds) > 59 or clock > DAY or abs(offset) > FARTHEST:
        raise invalid(text, Kind.TIMETZ, "out of range")
    return zoned_time(clock, offset)


def timetz_text(word: int) -> str:
    """A time of day with its offset, as PostgreSQL and DuckDB write it: `12:00:00.5-03:30`."""
    clock, offset = clock_and_offset(word)
    seconds, fraction = divmod(clock, SECOND)
    digits = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{_colons(seconds, 3)}{digits}{'-' if offset < 0 else '+'}{_colons(abs(offset), 1)}"


def _colons(seconds: int, least: int) -> str:
    """Hours, minutes and seconds, without the last ones if they are 0, but for so many."""
    parts = [seconds // 3600, seconds // 60 % 60, seconds % 60]
    while len(parts) > least and not parts[-1]:
        parts.pop()
    return ":".join(f"{part:02}" for part in parts)


def python_timetz(word: int, dictionary: Dictionary) -> time:
    """The time as Python's own; InvalidValue for 24:00, which Python lacks."""
    clock, offset = clock_and_offset(word)
    if clock == DAY:
        raise InvalidValue("Python cannot represent the time 24:00")
    zone = timezone(timedelta(seconds=offset)) if offset else UTC
    return (EPOCH + timedelta(microseconds=clock)).time().replace(tzinfo=zone)
