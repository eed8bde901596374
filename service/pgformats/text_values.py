"""Values read from PostgreSQL's text format: see `value_texts`. Each reader raises InvalidValue."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from engine.codec.durations import interval_of
from engine.codec.interned import bit_text
from engine.codec.numerals import special_of
from engine.codec.ordered_text import Interval
from engine.codec.spelled_intervals import interval_of_words
from engine.codec.timestamps import date_word, time_word, timestamp_word, timestamptz_word
from engine.codec.zoned_times import timetz_text, timetz_word
from engine.errors import InvalidValue
from engine.schema import INTEGER_RANGES, Kind
from engine.state.dictionary import Dictionary
from service.reading.session_zones import UTC_ZONE, SessionZone

_NO_TEXTS = Dictionary()  # moments and days need none
_BOOLEANS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}
_HEX = re.compile("[0-9a-fA-F]*")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,40}\s*")
_EXPANDED = re.compile(r"([0-9]{4,})(-[0-9]{2}-[0-9]{2})(.*?)( BC)?")
_DAY = re.compile(r"([0-9]{4,}-[0-9]{2}-[0-9]{2})(?:[ T]?[0-9:.]*\s*(?:Z|[+-][0-9:]+)?)?( BC)?")
_WITH_OFFSET = re.compile(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}.*(?:Z|UTC|[+-][0-9:]+)(?: BC)?", re.DOTALL)
_ZONE = re.compile(r"(.*[0-9])\s*(Z|[+-][0-9]{2}(?::?[0-9]{2}){0,2}|UTC)?", re.DOTALL)


def not_a(kind: str, text: str) -> InvalidValue:
    shown = text if len(text) <= 100 else text[:100] + "..."
    return InvalidValue(f'invalid input syntax for type {kind}: "{shown}"')


def boolean_of(text: str) -> bool:
    found = _BOOLEANS.get(text.strip().lower())
    if found is None:
        raise not_a("boolean", text)
    return found


def _integer_of(kind: Kind) -> Callable[[str], int]:
    low, high = INTEGER_RANGES[kind]

    def integer_of(text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise not_a(kind.value.lower(), text)
        number = int(text)
        if not low <= number <= high:
            raise InvalidValue(f'value "{text.strip()}" is out of range for type {kind.value.lower()}')
        return number

    return integer_of


def float_of(text: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise not_a("double precision", text) from None


def numeric_of(text: str) -> Decimal:
    special = special_of(text)
    if special is not None:
        return Decimal(special)
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        raise not_a("numeric", text) from None
    if "_" in text or not found.is_finite():
        raise not_a("numeric", text)
    return found


def text_of_text(text: str) -> str:
    return text


def bytea_of(text: str) -> bytes:
    try:
        if text.startswith("\\x"):
            return bytes.fromhex(text[2:])
        return _escaped_bytes(text)
    except ValueError:
        raise not_a("bytea", text) from None


def _escaped_bytes(text: str) -> bytes:
    """Bytes in the older form, where `\\ooo` is a byte in octal."""
    parts = re.split(rb"\\(\\|[0-3][0-7]{2})", text.encode())
    for place in range(1, len(parts), 2):
        parts[place] = b"\\" if parts[place] == b"\\" else bytes([int(parts[place], 8)])
    if any(b"\\" in part for part in parts[::2]):
        raise ValueError
    return b"".join(parts)


def day_of(text: str) -> int:
    """A clock and a zone in the text do not count, as in PostgreSQL."""
    day = _DAY.fullmatch(text.strip())
    if day is not None and day[1] == text:  # as nearly all are written
        try:
            return date_word(text, _NO_TEXTS)
        except InvalidValue:
            raise not_a("date", text) from None
    bare = text if day is None else day[1] + (day[2] or "")
    return _moment_by(lambda iso: date_word(iso, _NO_TEXTS), bare, "date")


def clock_of(text: str) -> int:
    try:
        return time_word(text.strip(), _NO_TEXTS)
    except InvalidValue:
        raise not_a("time", text) from None


def zoned_clock_of(text: str) -> str:
    try:
        return timetz_text(timetz_word(text.strip(), _NO_TEXTS))
    except InvalidValue:
        raise not_a("time with time zone", text) from None


def bits_of(text: str) -> str:
    """Bits as zeros and ones, or as digits behind an x."""
    if text[:1] in ("b", "B"):
        return _bits(text[1:], text)
    if text[:1] in ("x", "X") and _HEX.fullmatch(text, 1):
        return "".join(f"{int(digit, 16):04b}" for digit in text[1:])
    return _bits(text, text)


def _bits(digits: str, text: str) -> str:
    try:
        return bit_text(digits)
    except InvalidValue:
        raise not_a("bit varying", text) from None


def moment_of(text: str) -> int:
    """A zone in the text does not count, as in PostgreSQL."""
    bare = _ZONE.fullmatch(text.strip())
    without = text if bare is None or " BC" in text else bare[1]
    return _moment_by(lambda iso: timestamp_word(iso, _NO_TEXTS), without, "timestamp")


def zoned_of(text: str, zone: SessionZone = UTC_ZONE) -> int:
    """A text without an offset is a time by the clock of the zone."""
    moment = _moment_by(lambda iso: timestamptz_word(iso, _NO_TEXTS), text, "timestamp with time zone")
    is_fixed = zone.is_utc or "infinity" in text.lower() or _WITH_OFFSET.fullmatch(text.strip()) is not None
    return moment if is_fixed else zone.moment(moment)


def _moment_by(read: Callable[[str], int], text: str, kind: str) -> int:
    bare = text.strip()
    try:
        if bare.lower() in ("infinity", "-infinity"):
            return read(bare.lower())
        match = _EXPANDED.fullmatch(bare)
        if match is None:
            raise not_a(kind, text)
        year, day, rest, era = match.groups()
        number = 1 - int(year) if era else int(year)
        sign = "-" if number < 0 else "+" if number > 9999 else ""
        rest = re.sub(r"^[ T]\s*", "T", rest).replace(" ", "")
        rest = re.sub(r"([+-][0-9]{2})$", r"\1:00", rest).replace("UTC", "Z")
        if kind != "date" and not rest:
            rest = "T00:00:00"
        rest, offset = _without_offset(rest) if sign else (rest, 0)
        return read(f"{sign}{abs(number):04}{day}{rest}") - offset
    except InvalidValue as error:
        raise InvalidValue(error.message if "finer" in error.message else not_a(kind, text).message) from None


def _without_offset(rest: str) -> tuple[str, int]:
    """A clock without its offset from UTC, and that in microseconds: years outside 1 to 9999 have none."""
    match = re.fullmatch(r"(.*)([+-])([0-9]{2}):([0-9]{2})", rest)
    if match is None:
        return rest, 0
    minutes = int(match[3]) * 60 + int(match[4])
    return match[1], (-minutes if match[2] == "-" else minutes) * 60_000_000


def interval_of_text(text: str) -> Interval:
    """ISO 8601, or numbers with units and a clock: `1 year 2 days 03:04:05`."""
    bare = text.strip().lower()
    if bare.startswith(("p", "-p")):
        return interval_of(text.strip().upper())
    found = interval_of_words(bare)
    if found is None:
        raise not_a("interval", text)
    return found


IN: dict[Kind, Callable[[str], Any]] = {
    Kind.BOOLEAN: boolean_of,
    Kind.SMALLINT: _integer_of(Kind.SMALLINT),
    Kind.INTEGER: _integer_of(Kind.INTEGER),
    Kind.BIGINT: _integer_of(Kind.BIGINT),
    Kind.REAL: float_of,
    Kind.DOUBLE: float_of,
    Kind.NUMERIC: numeric_of,
    Kind.TEXT: text_of_text,
    Kind.UUID: text_of_text,
    Kind.BIT: bits_of,
    Kind.JSON: text_of_text,
    Kind.BYTEA: bytea_of,
    Kind.DATE: day_of,
    Kind.TIME: clock_of,
    Kind.TIMETZ: zoned_clock_of,
    Kind.TIMESTAMP: moment_of,
    Kind.TIMESTAMPTZ: zoned_of,
    Kind.INTERVAL: interval_of_text,
}
"""Readers of values, by kind."""


def reader_of(kind: Kind, zone: SessionZone) -> Callable[[str], Any]:
    """The reader of a kind's values in a session of a time zone."""
    return partial(zoned_of, zone=zone) if kind is Kind.TIMESTAMPTZ else IN[kind]
