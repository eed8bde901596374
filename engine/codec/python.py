"""Rows of Python values to words and back, a row at a time: for functions written in Python.

Values are bool, int, Decimal, float, str, date and datetime; NULL is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal

from engine.codec.schemas import per_schema
from engine.codec.values import EPOCH, EPOCH_DAY, encoder, word_float
from engine.dictionary import Dictionary
from engine.errors import InvalidValue
from engine.schema import NULL, Kind, Schema, Type

Decoder = Callable[[int, Dictionary], object]


def decode_row(words: Sequence[int], schema: Schema, dictionary: Dictionary) -> tuple[object, ...]:
    """The values of one row; InvalidValue for a date that Python has not."""
    return tuple(
        None if word == NULL else decode(word, dictionary)
        for word, decode in zip(words, _decoders(schema), strict=True)
    )


def encode_row(values: Sequence[object], schema: Schema, dictionary: Dictionary) -> tuple[int, ...]:
    """The words of one row; InvalidValue says which column a value does not fit."""
    encoders = _encoders(schema)
    if len(values) != len(encoders):
        raise InvalidValue(f"{values!r} has {len(values)} values, not {len(encoders)}")
    words = []
    for value, encode, column in zip(values, encoders, schema.columns, strict=True):
        try:
            words.append(encode(value, dictionary))
        except InvalidValue as error:
            raise InvalidValue(f"column {column.name}: {error.message}") from None
    return tuple(words)


def _decoder(type: Type) -> Decoder:
    if type.kind is Kind.NUMERIC:
        scale = type.scale or 0
        return lambda word, dictionary: Decimal(word).scaleb(-scale)
    return _DECODERS[type.kind]


def _date(word: int, dictionary: Dictionary) -> date:
    try:
        return date.fromordinal(word + EPOCH_DAY)
    except (ValueError, OverflowError):
        raise InvalidValue(f"the date {word} days from 1970 is none of Python's") from None


def _timestamp(word: int, dictionary: Dictionary) -> date:
    try:
        return EPOCH + timedelta(microseconds=word)
    except OverflowError:
        raise InvalidValue(f"the timestamp {word} µs from 1970 is none of Python's") from None


def _integer(word: int, dictionary: Dictionary) -> int:
    return word


def _float(word: int, dictionary: Dictionary) -> float:
    return word_float(word)


_DECODERS: dict[Kind, Decoder] = {
    Kind.BOOLEAN: lambda word, dictionary: word == 1,
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.TEXT: lambda word, dictionary: dictionary.text(word),
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}

_decoders = per_schema(lambda schema: tuple(_decoder(type) for type in schema.types))
_encoders = per_schema(lambda schema: tuple(encoder(type) for type in schema.types))
