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

MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
"""The kinds of days and moments."""
_SPELLED = re.compile(r"(?=.*\d{4})(?=.*(?:[a-z/]|\.\d{7}))", re.IGNORECASE | re.DOTALL)
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
    r"(?P<hour>\d\d?):(?P<minute>\d\d?)(?P<rest>(?::\d\d?(?:\.\d*)?)?) ?(?P<half>[ap]m)", re.IGNORECASE
)
_PARTS = re.compile(r"(\d+):(\d+)(?::(\d+)(?:\.|(\.\d+))?)?")
_FRACTION = re.compile(r"\.\d{7,}")
_DIGITS = re.compile(r"(\d\d)(\d\d)(\d\d(?:\.\d+)?)?")
_DISTANCE = re.compile(r"([-+])\s?(\d\d?)(?::?(\d\d)(?::?(\d\d))?)?")
_PLACE = re.compile(r"(?!\w*(?:bc|ad)$)(?:[a-z]{3,5}|[a-z]{3}\d[a-z]{3}|\w+(?:/[-+\w]+)+)", re.IGNORECASE)
_FARTHEST = 15
"""Hours of the largest distance from UTC."""
_LONGEST = 128
"""The most characters of a moment, as in PostgreSQL."""


def is_spelled(text: str) -> bool:
    """Whether a text may be a moment that other systems read in another way, or not at all."""
    return _SPELLED.match(text[:_LONGEST]) is not None


def as_moment(text: str, kind: Kind, dialect: str) -> str:
    """A text that takes this kind, as `moment` gives it; itself if the kind is no moment, or if the dialect
    does not read moments as PostgreSQL does."""
    is_read = kind in MOMENTS and has(dialect, Trait.MOMENTS_AS_POSTGRES)
    return moment(text, kind) if is_read else text


def moment(text: str, kind: Kind) -> str:
    """The text of a constant day or moment of this kind. Raises TypeMismatch for one that is no moment, and
    that DuckDB would read as one."""
    if len(text) > _LONGEST:
        raise TypeMismatch(f"a text of {len(text)} characters is no moment")
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
    """'04:05 PM'::time is 16:05:00, and '040506'::time 04:05:06; `other` for a text of neither form."""
    if digits := _DIGITS.fullmatch(text):
        return f"{digits[1]}:{digits[2]}:{digits[3] or '00'}"
    found = _CLOCK.fullmatch(text)
    if found is None or not 0 <= (hour := int(found["hour"])) <= 12:
        return other
    hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    return f"{hour:02}:{found['minute']:0>2}{found['rest'] or ':00'}"


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
    found = _PARTS.fullmatch(clock(time, "" if half else time))
    hour, minute, second = (int(part or 0) for part in found.groups()[:3]) if found else (99, 0, 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        raise TypeMismatch(f"{time} in {text} is no time of day")
    fraction = _FRACTION.sub(_rounded, found[4] or "") if found else ""
    return f"{hour:02}:{minute:02}:{second:02}{fraction}"


def _rounded(fraction: re.Match[str]) -> str:
    """Six digits of a second, rounded as PostgreSQL does it, in floating point; all digits where they make
    another second."""
    microseconds = round(float(fraction[0]) * 1e6)
    return f".{microseconds:06}" if microseconds < 1_000_000 else fraction[0]


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
