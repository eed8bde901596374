"""Rows of Python values to words and back, a row at a time: for functions written in Python.

Values are bool, int, Decimal, float, str, date, time, datetime (in UTC for TIMESTAMPTZ), Interval, bytes,
UUID, JSON values, and lists and dicts of them (`engine.codec.interned.values_of`); NULL is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal

from engine.codec.interned import PYTHON_VALUES, Numbers, values_of
from engine.codec.numerals import Number, number_of
from engine.codec.schemas import per_schema
from engine.codec.timestamps import (
    EPOCH,
    EPOCH_DAY,
    EPOCH_UTC,
    date_text,
    timestamp_text,
    timestamptz_text,
)
from engine.codec.values import encoder, word_float
from engine.codec.zoned_times import python_timetz, timetz_text
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import Kind, Schema, Type
from engine.state.dictionary import Dictionary

Decoder = Callable[[int, Dictionary], object]

_EXACT = Context(prec=50)  # more digits than a number has


def decode_row(words: Sequence[int], schema: Schema, dictionary: Dictionary) -> tuple[object, ...]:
    """The values of one row; InvalidValue for a date that Python cannot represent."""
    return tuple(
        None if word == NULL else decode(word, dictionary)
        for word, decode in zip(words, _decoders(schema), strict=True)
    )


def exact_row(words: Sequence[int], schema: Schema, dictionary: Dictionary) -> tuple[object, ...]:
    """The values of one row, as `encode_row` and literals take them: a date or moment that Python cannot
    represent is its text."""
    return tuple(
        None if word == NULL else _exact(word, decode, type, dictionary)
        for word, decode, type in zip(words, _decoders(schema), schema.types, strict=True)
    )


def _exact(word: int, decode: Decoder, type: Type, dictionary: Dictionary) -> object:
    try:
        return decode(word, dictionary)
    except InvalidValue:
        if type.kind not in _TEXTS:
            raise
        return _TEXTS[type.kind](word)


def encode_row(values: Sequence[object], schema: Schema, dictionary: Dictionary) -> tuple[int, ...]:
    """The words of one row; InvalidValue names the column that a value does not fit."""
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
        return lambda word, dictionary: _numeric(number_of(word, dictionary), type)
    if type.kind is Kind.ENUM:
        return lambda word, dictionary: type.labels[word]
    if type.kind in _DECODERS:
        return _DECODERS[type.kind]
    return _interned_decoder(type)


def _interned_decoder(type: Type) -> Decoder:
    def decode(word: int, dictionary: Dictionary) -> object:
        def of_numbers(numbers: Numbers, type: Type) -> list:
            if type.kind is Kind.NUMERIC:
                return [None if number is None else _numeric(number, type) for number in numbers]
            one = _decoder(type)
            return [None if word is None else one(word, dictionary) for word in numbers]  # type: ignore[arg-type]

        return values_of([dictionary.text(word)], type, PYTHON_VALUES, of_numbers)[0]

    return decode


def _numeric(number: Number, type: Type) -> Decimal:
    return (
        Decimal(number) if isinstance(number, float) else Decimal(number).scaleb(-(type.scale or 0), _EXACT)
    )


def _date(word: int, dictionary: Dictionary) -> date:
    try:
        return date.fromordinal(word + EPOCH_DAY)
    except (ValueError, OverflowError):
        raise InvalidValue(f"Python cannot represent the date {word} days from 1970") from None


def _time(word: int, dictionary: Dictionary) -> time:
    return (EPOCH + timedelta(microseconds=word)).time()


def _timestamp(word: int, dictionary: Dictionary) -> datetime:
    return _moment(EPOCH, word)


def _timestamptz(word: int, dictionary: Dictionary) -> datetime:
    return _moment(EPOCH_UTC, word)


def _moment(epoch: datetime, word: int) -> datetime:
    try:
        return epoch + timedelta(microseconds=word)
    except OverflowError:
        raise InvalidValue(f"Python cannot represent the timestamp {word} µs from 1970") from None


def _integer(word: int, dictionary: Dictionary) -> int:
    return word


def _float(word: int, dictionary: Dictionary) -> float:
    return word_float(word)


_TEXTS = {
    Kind.DATE: date_text,
    Kind.TIMETZ: timetz_text,
    Kind.TIMESTAMP: timestamp_text,
    Kind.TIMESTAMPTZ: timestamptz_text,
}
_DECODERS: dict[Kind, Decoder] = {
    Kind.BOOLEAN: lambda word, dictionary: word == 1,
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.TEXT: lambda word, dictionary: dictionary.text(word),
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMETZ: python_timetz,
    Kind.TIMESTAMP: _timestamp,
    Kind.TIMESTAMPTZ: _timestamptz,
}

_decoders = per_schema(lambda schema: tuple(_decoder(type) for type in schema.types))
_encoders = per_schema(lambda schema: tuple(encoder(type) for type in schema.types))
