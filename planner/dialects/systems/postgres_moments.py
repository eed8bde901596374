"""Constant moments in PostgreSQL's spellings, as DuckDB reads them.

    'January 8, 1999 04:05 PM BC'::timestamp   →  '1999-01-08 (BC) 16:05:00'::timestamp
    '2024-01-31 04:05 PST'::timestamptz        →  '2024-01-31 04:05-08:00'::timestamptz
    '2024-01-31 04:05 Europe/Paris'::date      →  '2024-01-31'::date

Examples are those of https://www.postgresql.org/docs/15/datatype-datetime.html. Numbers of months come first,
as in the setting MDY of DateStyle. A text of another form stays as it is.
"""

from __future__ import annotations

import re

from engine.schema import Kind
from planner.dialects.systems.postgres_zones import offset_of_zone
from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch

MOMENTS = frozenset({Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
"""The kinds of days, times of day and moments."""
_SPELLED = re.compile(
    r"(?=.*\d{4})(?=.*(?:[a-z/]|\.\d{7}|:60))|.*\d:\d\d.*(?:[ap]m|\.\d{7}|:60)", re.IGNORECASE | re.DOTALL
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
)
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_YEAR, _DAY, _NUMBER = r"(?P<year>\d{4})", r"(?P<day>\d\d?)", r"(?P<month>\d\d?)"
_DATES = [
    re.compile(rf"{form}(?P<rest>(?:[ tT]\d.*|\s*(?:BC|AD)\b.*)?)", re.IGNORECASE)
    for form in (
        rf"{_MONTH}\.? {_DAY},? {_YEAR}",
        rf"{_DAY}[ -]{_MONTH}[ -]{_YEAR}",
        rf"{_MONTH}-{_DAY}-{_YEAR}",
        rf"{_YEAR}[ -]{_MONTH}[ -]{_DAY}",
        rf"{_NUMBER}/{_DAY}/{_YEAR}",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    )
]
_WHOLE = re.compile(
    r"(?P<day>\d{4,}-\d\d?-\d\d?)(?:\s*(?P<early>BC|AD)\b)?"
    r"(?:(?:\s+|t)(?P<clock>\d\d?:\d\d?(?::\d\d?(?:\.\d*)?)?|\d{6}(?:\.\d+)?)"
    r"(?:\s*(?P<half>[ap]m)\b)?(?:\s*(?!(?:BC|AD)\b)(?P<zone>[a-z]\S*?|[-+]\s?\d[\d:]*))?)?"
    r"(?:\s*(?<![a-z])(?P<late>BC|AD))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?P<hour>\d\d?):(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?P<fraction>\.\d*)?)?(?: ?(?P<half>[ap]m))?",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(?P<hour>\d\d)(?P<minute>\d\d)(?:(?P<second>\d\d)(?P<fraction>\.\d+)?)?(?: ?(?P<half>[ap]m))?",
    re.IGNORECASE,
)
_DISTANCE = re.compile(r"([-+])\s?(\d\d?)(?::?(\d\d)(?::?(\d\d))?)?")
_PLACE = re.compile(r"(?!\w*(?:bc|ad)$)(?:[a-z]{3,5}|[a-z]{3}\d[a-z]{3}|\w+(?:/[-+\w]+)+)", re.IGNORECASE)
_FARTHEST = 15
"""Hours of the largest distance from UTC."""
_LONGEST = 128
"""The most characters of a moment, as in PostgreSQL."""
_SECOND = 1_000_000
_WHOLE_DAY = 24 * 60 * 60 * _SECOND
"""In microseconds, as moments are kept."""


def is_spelled(text: str) -> bool:
    """Whether a text may be a moment that other systems read in another way, or not at all."""
    return _SPELLED.match(text[:_LONGEST]) is not None


def as_moment(text: str, kind: Kind, dialect: str) -> str:
    """A text that takes this kind, as `moment` gives it; itself if the kind is no moment, or if the dialect
    does not read moments as PostgreSQL does."""
    is_read = kind in MOMENTS and has(dialect, Trait.MOMENTS_AS_POSTGRES)
    return moment(text, kind) if is_read else text


def moment(text: str, kind: Kind) -> str:
    """The text of a constant day, time or moment of this kind. Raises TypeMismatch for one that is no moment,
    and that DuckDB would read as one."""
    if len(text) > _LONGEST:
        raise TypeMismatch(f"a text of {len(text)} characters is no moment")
    if kind is Kind.TIME:
        return clock(text.strip(), text)
    found = _WHOLE.fullmatch(_iso_day(text.strip(), text).strip())
    if found is None:
        return text
    if found["early"] and found["late"]:
        raise TypeMismatch(f"{text} has two eras")
    is_before_christ = (found["early"] or found["late"] or "").upper() == "BC"
    year, month, day_of_month = found["day"].split("-")
    if not int(year):
        raise TypeMismatch(f"{text} is in the year 0, which does not exist")
    day = f"{year}-{month:0>2}-{day_of_month:0>2}{' (BC)' if is_before_christ else ''}"
    zone = _zone(text, found["zone"]) if found["zone"] else ""
    time = _time(text, found["clock"], found["half"]) if found["clock"] else ""
    if kind is Kind.DATE or not time:
        return day
    return f"{day} {time}{zone}" if kind is Kind.TIMESTAMPTZ else f"{day} {time}"


def clock(text: str, other: str) -> str:
    """'04:05 PM'::time is 16:05:00, '040506'::time 04:05:06, and '04:05:59.9999999'::time 04:06:00; `other`
    for a text that is no time of day."""
    microseconds = _of_day(text)
    return other if microseconds is None else _clock_of(microseconds)


def _iso_day(text: str, other: str) -> str:
    """A day as ISO 8601 writes it, with what stands behind it; `other` for a text that begins otherwise."""
    for form in _DATES:
        if found := form.fullmatch(text):
            month = found["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            return f"{found['year']}-{number:02}-{int(found['day']):02}{found['rest']}"
    return other


def _time(text: str, written: str, half: str | None) -> str:
    """The time of day by a clock of 24 hours, in microseconds."""
    time = f"{written} {half}" if half else written
    microseconds = _of_day(time)
    if microseconds is None:
        raise TypeMismatch(f"{time} in {text} is no time of day")
    return _clock_of(microseconds)


def _of_day(text: str) -> int | None:
    """The microseconds of a day until a time; None for a text that is no time of day. Fractions of a second
    are rounded as PostgreSQL does it, in floating point, and may make it the next second."""
    found = _DIGITS.fullmatch(text) or _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if minute > 59 or second > 60 or (found["half"] and hour > 12):
        return None
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    fraction = round(float(f"0{found['fraction'] or ''}") * _SECOND)
    microseconds = ((hour * 60 + minute) * 60 + second) * _SECOND + fraction
    return microseconds if microseconds <= _WHOLE_DAY else None


def _clock_of(microseconds: int) -> str:
    """The time of day; the end of a day is 24:00:00."""
    seconds, fraction = divmod(microseconds, _SECOND)
    minutes, second = divmod(seconds, 60)
    digits = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}{digits}"


def _zone(text: str, zone: str) -> str:
    """A zone behind a time: its distance from UTC, or a place."""
    offset = _DISTANCE.fullmatch(zone)
    if offset is not None and int(offset[2]) <= _FARTHEST:
        seconds = f":{offset[4]}" if offset[4] else ""
        return f"{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}{seconds}"
    if (named := offset_of_zone(zone)) is not None:
        return named
    if offset is not None or not _PLACE.fullmatch(zone):
        raise TypeMismatch(f"{zone} in {text} is no time zone")
    return f" {zone}"
