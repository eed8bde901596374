"""Debezium's encodings of values, by their names, converted to what the codec takes."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

from engine.codec.interned import json_value
from engine.codec.ordered_text import Interval
from engine.codec.refusals import invalid
from engine.errors import InvalidValue
from engine.schema import Kind, Type

Convert = Callable[[object], object]

UNITS: dict[str, int] = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}
"""Nanoseconds of each unit in which moments are counted."""
_MOMENTS = {
    "io.debezium.time.Timestamp": "milliseconds",
    "org.apache.kafka.connect.data.Timestamp": "milliseconds",
    "io.debezium.time.MicroTimestamp": "microseconds",
    "io.debezium.time.NanoTimestamp": "nanoseconds",
    "io.debezium.time.Time": "milliseconds",
    "org.apache.kafka.connect.data.Time": "milliseconds",
    "io.debezium.time.MicroTime": "microseconds",
    "io.debezium.time.NanoTime": "nanoseconds",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_FIRST_DAY = date(1970, 1, 1)
_FIRST_MOMENT = datetime(1970, 1, 1)


def converter(type: Type, encoding: str, scale: int, unit: str | None) -> Convert | None:
    """The converter of a column's values; None if the codec takes them as they are.

    `encoding` is the name in the envelope's schema, empty without a schema; `scale` is the schema's scale of
    decimals; `unit` applies to moments that are numbers without a schema.
    """
    unit = _MOMENTS.get(encoding, unit)
    match type.kind:
        case Kind.DATE:
            return _day
        case Kind.TIME:
            return partial(_clock, unit)
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return partial(_moment, type.kind, unit)
        case Kind.INTERVAL:
            return _span
        case Kind.JSON:
            return _document
        case Kind.NUMERIC:
            return partial(_decimal, type, scale if encoding == _DECIMAL else None)
    return None


def _day(value: object) -> object:
    """A day from its number since 1970-01-01, or from ISO 8601, where a zone is dropped."""
    if value.__class__ is int:
        try:
            return _FIRST_DAY + timedelta(days=value)  # type: ignore[arg-type]
        except OverflowError:
            raise invalid(value, Kind.DATE, "out of range") from None
    return value[:-1] if isinstance(value, str) and value.endswith("Z") else value


def _moment(kind: Kind, unit: str | None, value: object) -> object:
    """A moment from its number of units since 1970, or from ISO 8601 with an offset."""
    if isinstance(value, str):
        return _utc(value) if kind is Kind.TIMESTAMP else value
    if value.__class__ is not int:
        return value
    try:
        return _FIRST_MOMENT + timedelta(microseconds=_microseconds(value, kind, unit))  # type: ignore[arg-type]
    except OverflowError:
        raise invalid(value, kind, "out of range") from None


def _clock(unit: str | None, value: object) -> object:
    """A time of day from its number of units since midnight, or from ISO 8601, maybe in UTC."""
    if value.__class__ is int:
        moment = _moment(Kind.TIME, unit, value)
        if not isinstance(moment, datetime) or moment.date() != _FIRST_DAY:
            raise invalid(value, Kind.TIME, "out of range")
        return moment.time()
    return value[:-1] if isinstance(value, str) and value.endswith("Z") else value


def _microseconds(number: int, kind: Kind, unit: str | None) -> int:
    if unit is None:
        raise InvalidValue(
            f"{number} is not a valid {kind.value}: its unit is unknown",
            "send the envelope's schema, or set the parameter timestamps to the unit",
        )
    microseconds, finer = divmod(number * UNITS[unit], 1000)
    if finer:
        raise invalid(number, kind, "finer than microseconds")
    return microseconds


def _span(value: object) -> object:
    """An interval from its microseconds, or from an ISO 8601 duration."""
    if value.__class__ is not int:
        return value
    return Interval(microseconds=value)  # type: ignore[arg-type]


def _document(value: object) -> object:
    """JSON from its text."""
    return json_value(value) if isinstance(value, str) else value


def _utc(text: str) -> object:
    """The moment in UTC; the text unchanged if it has no offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if not moment.utcoffset() or moment.tzinfo is None:
        return text
    fraction = text.partition(".")[2].partition("+")[0].partition("-")[0]
    if fraction[6:].strip("0"):
        raise invalid(text, Kind.TIMESTAMP, "finer than microseconds")
    try:
        return moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise invalid(text, Kind.TIMESTAMP, "out of range") from None


def _decimal(type: Type, scale: int | None, value: object) -> object:
    """A number as it stands, or from a scale and the bytes of its digits."""
    if isinstance(value, dict) and value.keys() == {"scale", "value"}:
        scale, value = value["scale"], value["value"]
    if scale is None or not isinstance(value, str) or scale.__class__ is not int:
        return value
    try:
        digits = int.from_bytes(b64decode(value, validate=True), signed=True)
        return Decimal(f"{digits}e{-scale}")
    except (ValueError, ArithmeticError):
        raise invalid(value, type, f"not the bytes of digits of scale {scale}") from None
