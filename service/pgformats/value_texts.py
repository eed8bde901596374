"""Values in PostgreSQL's text format, as they are written.

A value is what Python has for its kind: bool, int, float, Decimal, bytes, and str for texts and all that is
written in one way, as a UUID, bits or a TIMETZ; days since 1970 for a
DATE, microseconds for a TIME (since midnight) and for moments (since 1970, UTC), an `Interval`, a list for an
array.

Texts are written as PostgreSQL writes them with DateStyle ISO, IntervalStyle postgres and
extra_float_digits 1; moments by the clock of the session's zone. Source: PostgreSQL's manual, "Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

import numpy as np

from engine.codec.ordered_text import Interval
from engine.codec.timestamps import date_text, time_text, timestamp_text
from engine.schema import Kind
from service.reading.session_zones import UTC_ZONE, SessionZone, offset_text

_DAYS = 1 << 12
"""Days whose texts are kept."""


def boolean_text(value: bool) -> str:
    return "t" if value else "f"


def double_text(value: float) -> str:
    """The shortest text that is the number again; with an exponent below 0.0001 and from 1e15 on."""
    return _float_text(repr(value))


def real_text(value: float) -> str:
    return _float_text(str(np.float32(value)), 6)


def _float_text(shortest: str, digits: int = 15) -> str:
    if len(shortest) <= digits and shortest.removeprefix("-").replace(".", "", 1).isdecimal():
        return shortest.removesuffix(".0")
    if shortest[-1] in "nf":
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[shortest]
    sign, number = ("-", shortest[1:]) if shortest[0] == "-" else ("", shortest)
    parts = Decimal(number).as_tuple()
    figures = "".join(map(str, parts.digits)).rstrip("0") or "0"
    exponent = len(parts.digits) + int(parts.exponent) - 1 if figures != "0" else 0
    if -4 <= exponent < digits:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{figures}"
        whole = figures[: exponent + 1].ljust(exponent + 1, "0")
        rest = figures[exponent + 1 :]
        return f"{sign}{whole}.{rest}" if rest else sign + whole
    mantissa = f"{figures[0]}.{figures[1:]}" if len(figures) > 1 else figures
    return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def numeric_text(value: Decimal) -> str:
    return format(value, "f")


def as_it_is(value: str) -> str:
    return value


def bytea_text_of(value: bytes) -> str:
    return "\\x" + value.hex()


@lru_cache(_DAYS)
def day_text(value: int) -> str:
    return _with_era(date_text(value))


def moment_text(value: int) -> str:
    return _with_era(timestamp_text(value).replace("T", " ")) if value else "1970-01-01 00:00:00"


def clock_text(value: int) -> str:
    return _trimmed(time_text(value)) if value < 86_400_000_000 else "24:00:00"


def zoned_text(value: int, zone: SessionZone = UTC_ZONE) -> str:
    text = timestamp_text(value)
    if text.endswith("infinity"):
        return text
    offset = 0 if zone.is_utc else zone.offset(value)
    shown = timestamp_text(value + offset * 1_000_000) if offset else text
    return _with_era(shown.replace("T", " "), offset_text(offset))


def _trimmed(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def _with_era(text: str, zone: str = "") -> str:
    """A day or moment in ISO's form as PostgreSQL writes it: years before 1 with BC."""
    if text[0] not in "+-" and not text.startswith("0000"):
        return _trimmed(text) + zone
    if text.endswith("infinity"):
        return text
    year, rest = re.fullmatch(r"([+-]?[0-9]+)(-.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if int(year) <= 0:
        return f"{1 - int(year):04}{_trimmed(rest)}{zone} BC"
    return f"{int(year):04}{_trimmed(rest)}{zone}"


def interval_text_of(value: Interval) -> str:
    years, months = _divided(value.months, 12)
    parts: list[str] = []
    before = False
    for number, unit in ((years, "year"), (months, "mon"), (value.days, "day")):
        if number:
            sign = "+" if before and number > 0 else ""
            parts.append(f"{sign}{number} {unit}{'' if number == 1 else 's'}")
            before = number < 0
    if value.microseconds or not parts:
        seconds, fraction = divmod(abs(value.microseconds), 1_000_000)
        sign = "-" if value.microseconds < 0 else "+" if before else ""
        clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        parts.append(clock + (f".{fraction:06}".rstrip("0") if fraction else ""))
    return " ".join(parts)


def _divided(number: int, by: int) -> tuple[int, int]:
    """Quotient and remainder, both with the number's sign."""
    quotient, rest = divmod(abs(number), by)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


OUT: dict[Kind, Callable[[Any], str]] = {
    Kind.BOOLEAN: boolean_text,
    Kind.SMALLINT: str,
    Kind.INTEGER: str,
    Kind.BIGINT: str,
    Kind.REAL: real_text,
    Kind.DOUBLE: double_text,
    Kind.NUMERIC: numeric_text,
    Kind.TEXT: as_it_is,
    Kind.UUID: as_it_is,
    Kind.BIT: as_it_is,
    Kind.JSON: as_it_is,
    Kind.BYTEA: bytea_text_of,
    Kind.DATE: day_text,
    Kind.TIME: clock_text,
    Kind.TIMETZ: as_it_is,
    Kind.TIMESTAMP: moment_text,
    Kind.TIMESTAMPTZ: zoned_text,
    Kind.INTERVAL: interval_text_of,
}
"""Writers of values, by kind."""


def writer_of(kind: Kind, zone: SessionZone) -> Callable[[Any], str]:
    """The writer of a kind's values in a session of a time zone."""
    return partial(zoned_text, zone=zone) if kind is Kind.TIMESTAMPTZ else OUT[kind]
