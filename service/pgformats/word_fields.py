"""Words of the engine as fields of a row, one at a time: for answers of a few rows.

What comes out is what `value_formats` writes of the same value. A kind that has no entry here becomes a value
by way of Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal

import numpy as np

from engine.codec.numerals import number_of
from engine.codec.values import decimal_text, word_float
from engine.codec.zoned_times import timetz_text
from engine.kernels.words import NULL
from engine.schema import Kind, Type
from engine.state.dictionary import Dictionary
from service.pgformats.value_formats import writer
from service.pgformats.value_texts import writer_of
from service.pgformats.wire_types import TEXT, WireColumn, wire_type
from service.reading.session_zones import SessionZone

WordWriter = Callable[[int, Dictionary], bytes]
_EXACT = Context(prec=50)
_NUMBERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT})
_TEXTS = frozenset({Kind.UUID, Kind.BIT, Kind.JSON})
_VALUES: dict[Kind, Callable[[int], object]] = {
    Kind.BOOLEAN: lambda word: word == 1,
    **dict.fromkeys((Kind.REAL, Kind.DOUBLE), word_float),
    Kind.TIMETZ: timetz_text,
    **dict.fromkeys((*_NUMBERS, Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ), int),
}
"""The values of words, as `value_texts` describes them."""


def word_writers(
    types: Sequence[Type], columns: Sequence[WireColumn], formats: Sequence[int], zone: SessionZone
) -> list[WordWriter] | None:
    """A function for each column from a word, not NULL, to its field, in a session of a time zone; None if a
    column needs Arrow."""
    found = [
        _writer(type, form, zone) if wire_type(type).oid == column.type.oid else None
        for type, column, form in zip(types, columns, formats, strict=True)
    ]
    return [each for each in found if each is not None] if all(found) else None


def word_rows(
    words: np.ndarray, writers: Sequence[WordWriter], dictionary: Dictionary
) -> Iterator[list[bytes | None]]:
    """The fields of each row of int64[W, n]; None for NULL."""
    for row in words.T.tolist():
        yield [
            None if word == NULL else write(word, dictionary)
            for word, write in zip(row, writers, strict=True)
        ]


def _writer(type: Type, form: int, zone: SessionZone) -> WordWriter | None:
    kind = type.kind
    if kind in _NUMBERS and form == TEXT:
        return lambda word, dictionary: b"%d" % word
    if kind is Kind.TEXT:
        return lambda word, dictionary: dictionary.text(word).encode()
    if kind in _TEXTS:
        put = writer(wire_type(type), form)
        return lambda word, dictionary: put(dictionary.text(word))
    if kind is Kind.ENUM:
        labels = [label.encode(errors="replace") for label in type.labels]
        return lambda word, dictionary: labels[word]
    if kind is Kind.NUMERIC:
        return _numeric_writer(type, form)
    value_of = _VALUES.get(kind)
    if value_of is None:
        return None
    if form == TEXT:
        text_of = writer_of(kind, zone)
        return lambda word, dictionary: text_of(value_of(word)).encode()
    write = writer(wire_type(type), form, zone)
    return lambda word, dictionary: write(value_of(word))


def _numeric_writer(type: Type, form: int) -> WordWriter:
    scale = type.scale or 0
    if form == TEXT:
        return lambda word, dictionary: decimal_text(number_of(word, dictionary), scale).encode()
    write = writer(wire_type(type), form)
    return lambda word, dictionary: write(Decimal(number_of(word, dictionary)).scaleb(-scale, _EXACT))
