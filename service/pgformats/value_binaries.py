"""Values in PostgreSQL's binary format, out and in. Values are those of `value_texts`.

Source: the send and receive functions of PostgreSQL's types.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from engine.codec.durations import interval_of
from engine.codec.ordered_text import Interval
from engine.codec.zoned_times import FARTHEST, clock_and_offset, timetz_text, timetz_word, zoned_time
from engine.errors import InvalidValue
from engine.kernels.casts import INFINITE_DAY, INFINITE_INSTANT
from engine.schema import Kind
from engine.state.dictionary import Dictionary

DAY_2000 = 10_957
"""2000-01-01, from which PostgreSQL counts, in days since 1970-01-01."""
DAY = 86_400_000_000
"""In microseconds."""
_FIRST_DAY, _LAST_DAY = -(2**31), 2**31 - 1
_FIRST_MOMENT, _LAST_MOMENT = -(2**63), 2**63 - 1
_NEGATIVE, _SPECIAL = 0x4000, 0xC000
_NOT_FINITE = {"NaN": 0xC000, "Infinity": 0xD000, "-Infinity": 0xF000}
_NO_TEXTS = Dictionary()  # a time needs none
_GROUP = 10_000
_GROUPS = 20
"""The most groups of four digits that a NUMERIC of 38 digits has, and a few more for zeros."""


def _packed(form: str) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """A writer and a reader of one number."""
    found = struct.Struct(f"!{form}")

    def read(data: bytes) -> Any:
        _check_size(data, found.size)
        return found.unpack(data)[0]

    return found.pack, read


def _check_size(data: bytes, size: int) -> None:
    if len(data) != size:
        raise InvalidValue(f"a binary value has {len(data)} bytes, and its type {size}")


_BOOL, _INT2, _INT4, _INT8, _FLOAT4, _FLOAT8 = map(_packed, ("?", "h", "i", "q", "f", "d"))


def _date(value: int) -> bytes:
    infinite = {INFINITE_DAY: _LAST_DAY, -INFINITE_DAY: _FIRST_DAY}.get(value)
    return _INT4[0](value - DAY_2000 if infinite is None else infinite)


def _date_of(data: bytes) -> int:
    days = _INT4[1](data)
    return {_LAST_DAY: INFINITE_DAY, _FIRST_DAY: -INFINITE_DAY}.get(days, days + DAY_2000)


def _moment(value: int) -> bytes:
    infinite = {INFINITE_INSTANT: _LAST_MOMENT, -INFINITE_INSTANT: _FIRST_MOMENT}.get(value)
    return _INT8[0](value - DAY_2000 * DAY if infinite is None else infinite)


def _moment_of(data: bytes) -> int:
    instant = _INT8[1](data)
    infinite = {_LAST_MOMENT: INFINITE_INSTANT, _FIRST_MOMENT: -INFINITE_INSTANT}.get(instant)
    found = instant + DAY_2000 * DAY if infinite is None else infinite
    if abs(found) > INFINITE_INSTANT:
        raise InvalidValue("a timestamp is out of range")
    return found


def _time_of(data: bytes) -> int:
    clock = _INT8[1](data)
    if not 0 <= clock < DAY:
        raise InvalidValue("a time is out of range")
    return clock


def _zoned_time(value: str) -> bytes:
    """The time of day, and the offset in seconds west of UTC."""
    clock, offset = clock_and_offset(timetz_word(value, _NO_TEXTS))
    return struct.pack("!qi", clock, -offset)


def _zoned_time_of(data: bytes) -> str:
    _check_size(data, 12)
    clock, west = struct.unpack("!qi", data)
    if not 0 <= clock <= DAY or abs(west) > FARTHEST:
        raise InvalidValue("a time with time zone is out of range")
    return timetz_text(zoned_time(clock, -west))


def _bits(value: str) -> bytes:
    """The number of bits, and the bits, with zeros up to a whole byte."""
    size = (len(value) + 7) // 8
    return struct.pack("!i", len(value)) + int(value.ljust(8 * size, "0") or "0", 2).to_bytes(size, "big")


def _bits_of(data: bytes) -> str:
    count = int.from_bytes(data[:4], "big", signed=True)
    if len(data) < 4 or count < 0 or len(data) != 4 + (count + 7) // 8:
        raise InvalidValue("binary bits have another length than they say")
    return "".join(f"{byte:08b}" for byte in data[4:])[:count]


def _interval(value: Interval) -> bytes:
    return struct.pack("!qii", value.microseconds, value.days, value.months)


def _interval_of(data: bytes) -> Interval:
    _check_size(data, 16)
    microseconds, days, months = struct.unpack("!qii", data)
    return interval_of(Interval(months, days, microseconds))


def _numeric(value: Decimal) -> bytes:
    """Groups of four digits, the weight of the first, the sign and the number of decimals."""
    if not value.is_finite():
        return struct.pack("!HhHH", 0, 0, _NOT_FINITE[str(value)], 0)
    sign, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    number = int("".join(map(str, digits))) * 10 ** max(0, int(exponent))
    number *= 10 ** (-scale % 4)
    groups: list[int] = []
    while number:
        number, group = divmod(number, _GROUP)
        groups.append(group)
    weight = len(groups) - 1 - (scale + 3) // 4
    while groups and groups[0] == 0:
        del groups[0]
    groups.reverse()
    head = struct.pack("!HhHH", len(groups), weight if groups else 0, _NEGATIVE if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}H", *groups)


def _numeric_of(data: bytes) -> Decimal:
    if len(data) < 8:
        raise InvalidValue("a binary NUMERIC is too short")
    count, weight, sign, scale = struct.unpack("!HhHH", data[:8])
    if sign & _SPECIAL == _SPECIAL:
        return _special_of(sign)
    if len(data) != 8 + 2 * count or count > _GROUPS or abs(weight) > _GROUPS or scale > 4 * _GROUPS:
        raise InvalidValue("a NUMERIC has too many digits", "it has at most 38")
    number = 0
    for group in struct.unpack(f"!{count}H", data[8:]):
        number = number * _GROUP + group
    shift = 4 * (weight - count + 1)
    digits = number * 10 ** (shift + scale) if shift + scale >= 0 else number // 10 ** -(shift + scale)
    return Decimal((1 if sign == _NEGATIVE else 0, tuple(map(int, str(digits))), -scale))


def _special_of(sign: int) -> Decimal:
    for name, own in _NOT_FINITE.items():
        if sign == own:
            return Decimal(name)
    raise InvalidValue("a binary NUMERIC has an unknown sign")


def _text(value: str) -> bytes:
    return value.encode(errors="replace")


def _text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidValue("a text is not UTF-8") from None


def _uuid(value: str) -> bytes:
    return UUID(value).bytes


def _uuid_of(data: bytes) -> str:
    _check_size(data, 16)
    return str(UUID(bytes=data))


def _bytes(value: bytes) -> bytes:
    return value


def jsonb_of(data: bytes) -> str:
    """JSONB has a version, 1, before its text."""
    if data[:1] != b"\x01":
        raise InvalidValue("a binary JSONB does not begin with version 1")
    return _text_of(data[1:])


oid_written, oid_of = _packed("I")
"""An OID has no sign."""


OUT: dict[Kind, Callable[[Any], bytes]] = {
    Kind.BOOLEAN: _BOOL[0],
    Kind.SMALLINT: _INT2[0],
    Kind.INTEGER: _INT4[0],
    Kind.BIGINT: _INT8[0],
    Kind.REAL: _FLOAT4[0],
    Kind.DOUBLE: _FLOAT8[0],
    Kind.NUMERIC: _numeric,
    Kind.TEXT: _text,
    Kind.UUID: _uuid,
    Kind.BIT: _bits,
    Kind.JSON: _text,
    Kind.BYTEA: _bytes,
    Kind.DATE: _date,
    Kind.TIME: _INT8[0],
    Kind.TIMETZ: _zoned_time,
    Kind.TIMESTAMP: _moment,
    Kind.TIMESTAMPTZ: _moment,
    Kind.INTERVAL: _interval,
}
"""Writers of values, by kind."""
IN: dict[Kind, Callable[[bytes], Any]] = {
    Kind.BOOLEAN: _BOOL[1],
    Kind.SMALLINT: _INT2[1],
    Kind.INTEGER: _INT4[1],
    Kind.BIGINT: _INT8[1],
    Kind.REAL: _FLOAT4[1],
    Kind.DOUBLE: _FLOAT8[1],
    Kind.NUMERIC: _numeric_of,
    Kind.TEXT: _text_of,
    Kind.UUID: _uuid_of,
    Kind.BIT: _bits_of,
    Kind.JSON: _text_of,
    Kind.BYTEA: _bytes,
    Kind.DATE: _date_of,
    Kind.TIME: _time_of,
    Kind.TIMETZ: _zoned_time_of,
    Kind.TIMESTAMP: _moment_of,
    Kind.TIMESTAMPTZ: _moment_of,
    Kind.INTERVAL: _interval_of,
}
"""Readers of values, by kind. Each raises InvalidValue."""
