"""Rows of JSON values to words and back, by the REST contract's table of values.

A few rows are encoded value by value, more column by column. Both refuse the same values with the same
messages. The output is ready for any JSON writer: it has no float that JSON cannot represent. This module
does not parse or write JSON itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from engine.codec.interned import JSON_VALUES, Numbers, values_of
from engine.codec.numerals import is_wide, numbers_of
from engine.codec.refusals import invalid
from engine.codec.schemas import per_schema
from engine.codec.timestamps import date_text, time_text, timestamp_text, timestamptz_text
from engine.codec.values import Encoder, decimal_text, encoder
from engine.codec.zoned_times import timetz_text
from engine.errors import InvalidValue
from engine.kernels.floats import floats_of
from engine.kernels.words import NULL
from engine.schema import Column, Kind, Schema, Type
from engine.state.dictionary import Dictionary

_WORD = np.dtype(np.int64)
_FEW = 8  # up to this many rows, value by value is faster than column by column

_encoders = per_schema(lambda schema: tuple((column, encoder(column.type)) for column in schema.columns))


def encode_rows(rows: Sequence[Sequence[object]], schema: Schema, dictionary: Dictionary) -> np.ndarray:
    """The words int64[W, n] of rows of JSON or Python values; InvalidValue names column and value."""
    width, count = len(schema), len(rows)
    for row in rows:
        if len(row) != width:
            raise InvalidValue(f"a row has {len(row)} values for {width} columns")
    if count <= _FEW:  # one array of all numbers costs as much as one of a column's
        return np.fromiter(_few(rows, schema, dictionary), _WORD, width * count).reshape(width, count)
    words = np.empty((width, count), np.int64)
    for position, (column, encode) in enumerate(_encoders(schema)):
        values = [row[position] for row in rows]
        try:
            words[position] = _column(values, column, encode, dictionary)
        except InvalidValue as error:
            raise _in_column(column, error) from None
    return words


def _few(rows: Sequence[Sequence[object]], schema: Schema, dictionary: Dictionary) -> list[int]:
    """The words of rows, column after column."""
    words: list[int] = []
    for position, (column, encode) in enumerate(_encoders(schema)):
        try:
            if not column.nullable and None in [row[position] for row in rows]:
                raise _null()
            for row in rows:
                words.append(encode(row[position], dictionary))
        except InvalidValue as error:
            raise _in_column(column, error) from None
    return words


def _column(
    values: list[object], column: Column, encode: Encoder, dictionary: Dictionary
) -> np.ndarray | list[int]:
    """The words of many values."""
    if not column.nullable and None in values:
        raise _null()
    classes = set(map(type, values))
    if column.type.kind is Kind.TEXT and classes <= {str, type(None)}:
        return dictionary.intern(values)  # type: ignore[arg-type]
    if column.type.is_integer and classes == {int}:
        return _integers(values, column.type)
    return [encode(value, dictionary) for value in values]


def _null() -> InvalidValue:
    return InvalidValue("NULL in a column that is NOT NULL")


def _in_column(column: Column, error: InvalidValue) -> InvalidValue:
    return InvalidValue(f"column {column.name}: {error.message}", error.hint)


def _integers(values: list[object], type: Type) -> np.ndarray:
    low, high = type.bounds
    try:
        words = np.array(values, np.int64)
    except OverflowError:
        words = None
    if words is None or words.min() < low or words.max() > high:
        raise invalid(next(v for v in values if not low <= v <= high), type, "out of range")  # type: ignore[operator]
    return words


Decoder = Callable[[np.ndarray, Dictionary], list]


def decode_rows(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> list[tuple]:
    """The rows of `words` int64[W, n] as tuples of JSON-ready values; KeyError for an unknown text."""
    columns = [decode(words[i], dictionary) for i, decode in enumerate(_decoders(schema))]
    return list(zip(*columns, strict=True)) if columns else [()] * words.shape[1]


def decode_values(words: np.ndarray, type: Type, dictionary: Dictionary) -> list:
    """The same of one column int64[n]."""
    return _decoder(type)(words, dictionary)


def _decode_integers(words: np.ndarray, dictionary: Dictionary) -> list:
    values = words.tolist()
    if NULL in values:
        return [None if word == NULL else word for word in values]
    return values


def _decode_booleans(words: np.ndarray, dictionary: Dictionary) -> list:
    return [None if word == NULL else word == 1 for word in words.tolist()]


def _decode_texts(words: np.ndarray, dictionary: Dictionary) -> list:
    return dictionary.texts(words)


def _decode_doubles(words: np.ndarray, dictionary: Dictionary) -> list:
    floats = floats_of(words)
    return _named(words, floats, floats.tolist())


def _decode_reals(words: np.ndarray, dictionary: Dictionary) -> list:
    """The doubles that print as the float32 values do: 0.1 and not 0.10000000149011612."""
    floats = floats_of(words)
    return _named(words, floats, [float(text) for text in floats.astype(np.float32).astype("U")])


def _named(words: np.ndarray, floats: np.ndarray, values: list) -> list:
    """`values` with None for NULL, and with names for the floats that JSON cannot represent."""
    for i in np.flatnonzero(~np.isfinite(floats)).tolist():
        if words[i] == NULL:
            values[i] = None
        else:
            values[i] = "NaN" if np.isnan(floats[i]) else "Infinity" if floats[i] > 0 else "-Infinity"
    return values


def _texts_decoder(text: Callable[[int], str]) -> Decoder:
    """The decoder of kinds whose words are written one by one."""
    return lambda words, dictionary: [None if word == NULL else text(word) for word in words.tolist()]


def _numeric_decoder(type: Type) -> Decoder:
    text = partial(decimal_text, scale=type.scale or 0)
    narrow = _texts_decoder(text)

    def decode(words: np.ndarray, dictionary: Dictionary) -> list:
        if not is_wide(words).any():
            return narrow(words, dictionary)
        return [None if number is None else text(number) for number in numbers_of(words, dictionary)]

    return decode if type.may_be_wide else narrow


def _interned_decoder(type: Type) -> Decoder:
    def decode(words: np.ndarray, dictionary: Dictionary) -> list:
        def of_numbers(numbers: Numbers, type: Type) -> list:
            if type.kind is Kind.NUMERIC:
                return [
                    None if number is None else decimal_text(number, type.scale or 0) for number in numbers
                ]
            words = [NULL if number is None else number for number in numbers]
            return _decoder(type)(np.array(words, np.int64), dictionary)

        return values_of(dictionary.texts(words), type, JSON_VALUES, of_numbers)

    return decode


_DECODERS: dict[Kind, Decoder] = {
    Kind.BOOLEAN: _decode_booleans,
    Kind.SMALLINT: _decode_integers,
    Kind.INTEGER: _decode_integers,
    Kind.BIGINT: _decode_integers,
    Kind.REAL: _decode_reals,
    Kind.DOUBLE: _decode_doubles,
    Kind.TEXT: _decode_texts,
    Kind.DATE: _texts_decoder(date_text),
    Kind.TIME: _texts_decoder(time_text),
    Kind.TIMETZ: _texts_decoder(timetz_text),
    Kind.TIMESTAMP: _texts_decoder(timestamp_text),
    Kind.TIMESTAMPTZ: _texts_decoder(timestamptz_text),
}


def _decoder(type: Type) -> Decoder:
    match type.kind:
        case Kind.NUMERIC:
            return _numeric_decoder(type)
        case Kind.ENUM:
            return _texts_decoder(type.labels.__getitem__)
        case kind if kind in _DECODERS:
            return _DECODERS[kind]
    return _interned_decoder(type)


_decoders = per_schema(lambda schema: tuple(_decoder(type) for type in schema.types))
