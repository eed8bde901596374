"""Time zones of sessions: what a client may call one, and the offsets that it has.

    America/New_York     a name of the time zone database, in any case
    -8, 5.5              hours east of Greenwich
    UTC+3, <+07>-07      as POSIX writes zones without summer time: hours west of Greenwich

A moment that a change of the clocks skips is read by the offset before the change, one that it repeats by the
offset after it. Source: PostgreSQL's manual, "SET" and "Date/Time Configuration Files".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

_1970 = datetime(1970, 1, 1)
_FIRST, _LAST = (
    (moment - _1970) // timedelta(microseconds=1) for moment in (datetime(1, 1, 2), datetime(9999, 12, 30))
)
"""Microseconds since 1970 of the moments between which Python knows offsets."""
_SECOND = 1_000_000
_QUARTER = 900 * _SECOND
_OTHER_NAMES = {"z": "UTC", "zulu": "UTC", "local": "UTC", "default": "UTC"}
_MOST_HOURS = 168
_HOURS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,6})?")
_POSIX = re.compile(
    r"(?:[A-Za-z]{3,}|<[A-Za-z0-9:+-]{3,}>)([+-]?)([0-9]{1,3})(?::([0-9]{2}))?(?::([0-9]{2}))?"
)


@dataclass(frozen=True)
class SessionZone:
    """`name` is what SHOW TimeZone says, `icu` what DuckDB calls the zone. Moments are microseconds since
    1970, UTC; times by the clock of the zone are counted in the same way."""

    name: str
    icu: str
    rules: tzinfo

    @property
    def is_utc(self) -> bool:
        return self.icu == "UTC"

    def offset(self, moment: int) -> int:
        """The seconds by which the clock is ahead of UTC at a moment."""
        if moment >= 0:  # from then on clocks change at full quarters of an hour
            moment -= moment % _QUARTER
        return _offset(self.rules, max(_FIRST, min(moment, _LAST)))

    def moment(self, clock: int) -> int:
        """The moment at which the clock shows a time."""
        shown = _1970 + timedelta(microseconds=max(_FIRST, min(clock, _LAST)))
        offsets = (self.rules.utcoffset(shown.replace(fold=fold)) for fold in (0, 1))
        return (
            clock - min(offset // timedelta(seconds=1) for offset in offsets if offset is not None) * _SECOND
        )


@lru_cache(1 << 14)
def _offset(rules: tzinfo, moment: int) -> int:
    shown = (_1970 + timedelta(microseconds=moment)).replace(tzinfo=UTC).astimezone(rules)
    return (shown.utcoffset() or timedelta()) // timedelta(seconds=1)


UTC_ZONE = SessionZone("UTC", "UTC", UTC)


@lru_cache(1024)
def session_zone(text: str) -> SessionZone:
    """The zone that a client calls so. Raises ValueError."""
    bare = text.strip()
    name = _names().get(_OTHER_NAMES.get(bare.lower(), bare).lower())
    if name is not None:
        return UTC_ZONE if name == "UTC" else SessionZone(name, name, ZoneInfo(name))
    if _HOURS.fullmatch(bare) and abs(float(bare)) <= _MOST_HOURS:
        east = round(float(bare) * 3600)
        shown = _clock(east)
        return _fixed(f"<{shown}>{_clock(-east)}", east)
    posix = _POSIX.fullmatch(bare)
    if posix is not None and int(posix[2]) <= _MOST_HOURS:
        seconds = int(posix[2]) * 3600 + int(posix[3] or 0) * 60 + int(posix[4] or 0)
        return _fixed(bare, seconds if posix[1] == "-" else -seconds)
    raise ValueError(f"there is no time zone {text[:100]}")


def _fixed(name: str, east: int) -> SessionZone:
    if abs(east) >= 24 * 3600 or east % 60:
        raise ValueError("an offset has whole minutes, and is less than a day")
    rules = timezone(timedelta(seconds=east))
    return SessionZone(name, f"GMT{_clock(east, always=True)}" if east else "UTC", rules)


def _clock(seconds: int, always: bool = False) -> str:
    """An offset as `+05:30`, or `+05` if the minutes are 0 and need not `always` be there."""
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}" + (f":{minutes:02}" if minutes or always else "")


@cache
def _names() -> dict[str, str]:
    """The names of the time zone database, by their lower case."""
    found = {name.lower(): name for name in available_timezones() if name not in ("localtime", "Factory")}
    return {**found, "utc": "UTC"}


def offset_text(seconds: int) -> str:
    """An offset as PostgreSQL writes it behind a moment."""
    hours, rest = divmod(abs(seconds), 3600)
    minutes, left = divmod(rest, 60)
    text = f"{'-' if seconds < 0 else '+'}{hours:02}"
    if minutes or left:
        text += f":{minutes:02}"
    return text + (f":{left:02}" if left else "")
