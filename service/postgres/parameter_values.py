"""The values of a Bind as the parameters of a statement.

A value whose type is the one that its place wants becomes the literal that a person would write there: so a
plain INSERT stays plain, and a read by key can be told as such. Any other is of exactly its declared type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from engine.codec.durations import duration
from engine.codec.timestamps import date_text, time_text, timestamp_text, timestamptz_text
from engine.errors import InvalidValue
from engine.schema import WORD_DIGITS, Kind, Type, array_of, numeric
from planner.parsing.parameters import Given, Parameters
from service.errors import Invalid
from service.pgformats.value_formats import reader, spread
from service.pgformats.wire_types import WireType
from service.postgres.frontend_messages import BindMessage
from service.reading.session_zones import UTC_ZONE, SessionZone

_WIDTHS = {Kind.SMALLINT: 2, Kind.INTEGER: 4, Kind.BIGINT: 8}
_MOST_DIGITS = 38
_TYPED = frozenset({Kind.REAL, Kind.INTERVAL, Kind.BYTEA, Kind.JSON, Kind.ARRAY})
"""Kinds whose literals DuckDB and a plain INSERT read in different forms."""
_NULL = Given(None)
_TEXTS: dict[Kind, Callable[[Any], str]] = {
    Kind.DATE: date_text,
    Kind.TIME: time_text,
    Kind.TIMESTAMP: timestamp_text,
    Kind.TIMESTAMPTZ: timestamptz_text,
    Kind.INTERVAL: duration,
}


ReadsGiven = Callable[[bytes | None], Given]
"""A parameter from its bytes, None for NULL. Raises InvalidValue."""


def bound(
    bind: BindMessage,
    types: Sequence[WireType],
    wanted: Sequence[Type | None],
    zone: SessionZone = UTC_ZONE,
) -> Parameters:
    """The parameters of a Bind, in a session of a time zone. Raises Invalid and InvalidValue."""
    if len(bind.values) != len(types):
        shown = f'"{bind.statement}"' if bind.statement else "without a name"
        raise Invalid(
            f"{len(bind.values)} values are bound, and the statement {shown} has {len(types)} parameters",
            code="protocol_violation",
        )
    given: dict[str, Given] = {}
    readers = given_readers(bind.formats, types, wanted, zone)
    for place, (data, read) in enumerate(zip(bind.values, readers, strict=True)):
        try:
            given[str(place + 1)] = read(data)
        except InvalidValue as error:
            raise InvalidValue(f"parameter ${place + 1}: {error.message}", error.hint) from None
    return Parameters(given, True)


def given_readers(
    formats: Sequence[int], types: Sequence[WireType], wanted: Sequence[Type | None], zone: SessionZone
) -> list[ReadsGiven]:
    """What reads each parameter that comes in a format of Bind. Raises Invalid."""
    forms = spread(formats, len(types), "parameter formats", "parameters")
    return [
        _given_reader(type, form, wanted[place] if place < len(wanted) else None, zone)
        for place, (type, form) in enumerate(zip(types, forms, strict=True))
    ]


@lru_cache(1 << 12)
def _given_reader(type: WireType, form: int, wanted: Type | None, zone: SessionZone) -> ReadsGiven:
    read = reader(type, form, zone)
    if is_plain(type.kind, wanted):
        write = _TEXTS.get(type.kind)
        if write is None:
            return lambda data: _NULL if data is None else Given(read(data))
        return lambda data: _NULL if data is None else Given(write(read(data)))
    untyped = wanted is not None or type.kind in (Kind.ARRAY, Kind.NUMERIC)
    null = _NULL if untyped else Given(None, Type(type.kind))
    return lambda data: null if data is None else _typed(read(data), type)


def _typed(value: Any, type: WireType) -> Given:
    return Given(said(value, type), engine_type(type, [value]))


def is_plain(kind: Kind, wanted: Type | None) -> bool:
    """Whether a literal means the same as a value of the kind where the type is wanted."""
    if kind is Kind.TEXT:
        return True
    if wanted is None or kind in _TYPED:
        return False
    if kind in _WIDTHS:
        return wanted.kind in (Kind.NUMERIC, Kind.DOUBLE) or _WIDTHS[kind] <= _WIDTHS.get(wanted.kind, 0)
    return kind is wanted.kind


def said(value: Any, type: WireType) -> Any:
    """The value as the REST contract writes values of the type."""
    if value is None:
        return None
    if type.element is not None:
        return [said(part, type if isinstance(part, list) else type.element) for part in value]
    if type.fields:
        return {name: said(part, field) for part, (name, field) in zip(value, type.fields, strict=True)}
    match type.kind:
        case Kind.NUMERIC:
            return format(value, "f")
        case Kind.JSON:
            return _json(value)
    write = _TEXTS.get(type.kind)
    return value if write is None else write(value)


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise InvalidValue(f"the value is not JSON: {text[:100]}") from None


def engine_type(type: WireType, values: Sequence[Any] = ()) -> Type:
    """The engine's type of values of a wire type; of a NUMERIC, the one with the digits that they need."""
    if type.element is not None:
        leaves, depth = list(values), 0
        while any(isinstance(leaf, list) for leaf in leaves):
            leaves = [part for leaf in leaves if isinstance(leaf, list) for part in leaf]
            depth += 1
        found = engine_type(type.element, leaves)
        for _ in range(max(depth, 1)):
            found = array_of(found)
        return found
    if type.kind is not Kind.NUMERIC:
        return Type(type.kind)
    return _numeric([value for value in values if value is not None])


def _numeric(values: Sequence[Decimal]) -> Type:
    numbers = [value for value in values if value.is_finite()]
    if not values:
        return numeric(_MOST_DIGITS, 10)
    scale = max((max(0, -int(number.as_tuple().exponent)) for number in numbers), default=0)
    whole = max((max(number.adjusted() + 1, 0) for number in numbers), default=1)
    if len(numbers) < len(values):  # NaN and infinities need a NUMERIC that is not its own word
        whole = max(whole, WORD_DIGITS + 1 - scale)
    if scale + whole > _MOST_DIGITS:
        raise InvalidValue("a NUMERIC has more than 38 digits", "send it as DOUBLE PRECISION")
    return numeric(max(scale + whole, 1), scale)
