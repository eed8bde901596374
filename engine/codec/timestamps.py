"""Days and moments: words to ISO 8601 and back, infinities and years outside 1 to 9999 included.

The `_word` functions take a text or Python's own value, None for NULL, and a dictionary that they do not use,
because all encoders take one; InvalidValue names the value and the type.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from engine.codec.refusals import invalid
from engine.kernels.casts import DAY, INFINITE_DAY, INFINITE_INSTANT
from engine.kernels.words import NULL
from engine.schema import Kind
from engine.state.dictionary import Dictionary

EPOCH_DAY = date(1970, 1, 1).toordinal()
EPOCH = datetime(1970, 1, 1)
EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_FAR_DATE = re.compile(r"\+?(-?[0-9]{4,}-[0-9]{2}-[0-9]{2})(T[0-9:.]+)?Z?")
_FINER = re.compile(r"\.[0-9]{6}[0-9]*[1-9]")


def date_word(value: object, dictionary: Dictionary) -> int:
    """The word of a day."""
    if value is None:
        return NULL
    if value.__class__ is date:
        return value.toordinal() - EPOCH_DAY  # type: ignore[attr-defined]
    if value.__class__ is not str:
        raise invalid(value, Kind.DATE)
    try:
        return date.fromisoformat(value).toordinal() - EPOCH_DAY  # type: ignore[arg-type]
    except ValueError:
        pass
    if value in ("infinity", "-infinity"):
        return INFINITE_DAY if value == "infinity" else -INFINITE_DAY
    match = _FAR_DATE.fullmatch(value)  # type: ignore[arg-type]
    try:
        if match and match[2] is None:
            days = int(np.datetime64(match[1], "D").astype(np.int64))
            if -INFINITE_DAY < days < INFINITE_DAY:
                return days
    except ValueError:
        pass
    raise invalid(value, Kind.DATE)


def time_word(value: object, dictionary: Dictionary) -> int:
    """The word of a time of day, without a time zone."""
    if value is None:
        return NULL
    clock = value
    if value.__class__ is str:
        if _FINER.search(value):  # type: ignore[arg-type]
            raise invalid(value, Kind.TIME, "finer than microseconds")
        try:
            clock = time.fromisoformat(value)  # type: ignore[arg-type]
        except ValueError:
            raise invalid(value, Kind.TIME) from None
    if not isinstance(clock, time):
        raise invalid(value, Kind.TIME)
    if clock.tzinfo is not None:
        raise invalid(value, Kind.TIME, "a time of day has no time zone")
    return (datetime.combine(EPOCH, clock) - EPOCH) // MICROSECOND


def timestamp_word(value: object, dictionary: Dictionary) -> int:
    """The word of a moment without a time zone; it may have the offset UTC."""
    if value is None:
        return NULL
    moment = _moment(value, Kind.TIMESTAMP)
    if isinstance(moment, int):
        return moment
    if moment.tzinfo is not None:
        if moment.utcoffset():
            raise invalid(value, Kind.TIMESTAMP, "its offset is not UTC")
        moment = moment.replace(tzinfo=None)
    return (moment - EPOCH) // MICROSECOND


def timestamptz_word(value: object, dictionary: Dictionary) -> int:
    """The word of a moment; a moment without an offset is in UTC."""
    if value is None:
        return NULL
    moment = _moment(value, Kind.TIMESTAMPTZ)
    if isinstance(moment, int):
        return moment
    return (moment - (EPOCH if moment.tzinfo is None else EPOCH_UTC)) // MICROSECOND


def _moment(value: object, kind: Kind) -> datetime | int:
    """The moment, or its word if Python has no datetime for it."""
    if value.__class__ is not str:
        if not isinstance(value, datetime):
            raise invalid(value, kind)
        return value
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
    except ValueError:
        return _far_moment(value, kind)  # type: ignore[arg-type]
    if len(value) > 26 and _FINER.search(value):  # type: ignore[arg-type]
        raise invalid(value, kind, "finer than microseconds")
    return moment


def _far_moment(value: str, kind: Kind) -> int:
    """The word of an infinity, or of a moment in a year outside 1 to 9999."""
    if value in ("infinity", "-infinity"):
        return INFINITE_INSTANT if value == "infinity" else -INFINITE_INSTANT
    match = _FAR_DATE.fullmatch(value)
    try:
        if match and match[2] is not None:
            days = int(np.datetime64(match[1], "D").astype(np.int64))
            clock = datetime.fromisoformat("1970-01-01" + match[2]) - EPOCH
            instant = days * DAY + clock // MICROSECOND
            if -INFINITE_INSTANT < instant < INFINITE_INSTANT:
                return instant
    except ValueError:
        pass
    raise invalid(value, kind)


def date_text(days: int) -> str:
    """A day in ISO 8601."""
    try:
        return date.fromordinal(days + EPOCH_DAY).isoformat()
    except (ValueError, OverflowError):
        return _infinity(days, INFINITE_DAY) or _far_date(days)


def time_text(clock: int) -> str:
    """A time of day in ISO 8601."""
    return (EPOCH + timedelta(microseconds=clock)).time().isoformat()


def timestamp_text(instant: int) -> str:
    """A moment in ISO 8601, without an offset."""
    try:
        return (EPOCH + timedelta(microseconds=instant)).isoformat()
    except OverflowError:
        days, clock = divmod(instant, DAY)
        far = _far_date(days) + (EPOCH + timedelta(microseconds=clock)).isoformat()[10:]
        return _infinity(instant, INFINITE_INSTANT) or far


def timestamptz_text(instant: int) -> str:
    """A moment in ISO 8601, in UTC with `Z`."""
    text = timestamp_text(instant)
    return text if text.endswith("infinity") else text + "Z"


def _infinity(word: int, infinite: int) -> str:
    return {infinite: "infinity", -infinite: "-infinity"}.get(word, "")


def _far_date(days: int) -> str:
    """A date in ISO's expanded form, with a sign before the year; the year before year 1 is 0000."""
    text = str(np.datetime64(days, "D"))
    year, rest = text.removeprefix("-").split("-", 1)
    sign = "-" if text.startswith("-") else "+" if days > 0 else ""
    return f"{sign}{year:0>4}-{rest}"
