"""Rows as lines of JSON or CSV, a column at a time: what Arrow can write is not made into Python's values.

The values are those of the REST contract, whichever way a column is written. CSV has JSON and arrays as JSON,
a NULL as an empty field, and an empty text in quotes; where there is one column, also a text of spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.arrow import decode_column
from engine.codec.column_texts import TEXTS, are_within, column_texts
from engine.codec.json import decode_values
from engine.codec.numerals import are_special
from engine.schema import NESTED, Kind, Schema, Type
from engine.state.dictionary import Dictionary

_BARE = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.BOOLEAN})
"""Kinds whose texts JSON writes without quotes."""
_BY_ARROW = frozenset(
    {
        *(Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.BOOLEAN, Kind.ENUM),
        *(Kind.TEXT, Kind.UUID, Kind.BIT, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ),
    }
)
"""Kinds of which Arrow writes most columns."""
_MOMENTS = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_PLAIN = frozenset({Kind.REAL, Kind.DOUBLE, Kind.TIME, Kind.TIMETZ, Kind.NUMERIC, Kind.DATE, *_MOMENTS})
"""Kinds whose values have no comma in JSON."""
_FIRST, _LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)
_ESCAPED, _ESCAPED_BYTES = r'["\\\x00-\x1f]', b'"\\' + bytes(range(32))
_QUOTED, _QUOTED_BYTES = '[,"\r\n]', b',"\r\n'


def json_lines(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> bytes:
    """The rows of words int64[W, n] as objects, each on a line of its own."""
    names = [orjson.dumps(name).decode() for name in schema.names]
    around = ["{" + names[0] + ":", *(f",{name}:" for name in names[1:]), "}\n"] if names else ["{}\n"]
    return _lines(
        [_json_values(*each, dictionary) for each in zip(words, schema.types, strict=True)], around, words
    )


def csv_lines(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> bytes:
    """The rows of words int64[W, n] as lines of CSV."""
    around = ["", *[","] * (len(schema) - 1), "\r\n"] if len(schema) else ["\r\n"]
    fields = [_csv_fields(*each, dictionary) for each in zip(words, schema.types, strict=True)]
    if len(fields) == 1 and schema.types[0].kind is Kind.TEXT:
        fields = [_unlike_blank_lines(fields[0])]
    return _lines(fields, around, words)


def csv_header(schema: Schema) -> bytes:
    """The names of the columns as a line of CSV."""
    return (",".join(_enclosed(_strings(schema.names)).to_pylist()) + "\r\n").encode()


def _lines(columns: Sequence[pa.LargeStringArray], around: Sequence[str], words: np.ndarray) -> bytes:
    """All lines, one after the other: the columns' texts with what is before, between and behind them."""
    if not columns:
        return around[0].encode() * words.shape[1]
    parts = [part for pair in zip(map(_text, around[:-1]), columns, strict=True) for part in pair]
    _, offsets, data = _joined(*parts, _text(around[-1])).buffers()
    return bytes(data[: int(np.frombuffer(offsets, np.int64)[-1])])


def _json_values(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.LargeStringArray:
    texts = _texts(words, type, dictionary)
    if texts is not None:
        whole = texts if type.kind in _BARE else _escaped(texts)
        return whole.fill_null("null")
    values = decode_values(words, type, dictionary)
    if type.kind in _PLAIN and values:
        return _strings(orjson.dumps(values)[1:-1].split(b","))
    return _strings([orjson.dumps(value) for value in values])


def _csv_fields(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.LargeStringArray:
    texts = _texts(words, type, dictionary)
    if texts is None:
        values = decode_values(words, type, dictionary)
        is_document = type.kind is Kind.JSON or type.kind in NESTED
        write: Callable[[object], object] = orjson.dumps if is_document else str
        texts = _strings([None if value is None else write(value) for value in values])
    return _enclosed(texts).fill_null("")


def _texts(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.LargeStringArray | None:
    """The texts of a column, null for NULL; None if they are written a value at a time."""
    kind = type.kind
    if kind not in _BY_ARROW or (type.has_specials and are_special(words, dictionary).any()):
        return None
    array = decode_column(words, type, dictionary)
    if kind is Kind.ENUM:
        return array.dictionary_decode().cast(TEXTS)
    if kind in _MOMENTS:
        return _moments(array.view(pa.timestamp("us")), kind)
    return array.cast(TEXTS) if kind is Kind.BOOLEAN else column_texts(array, kind)


def _moments(array: pa.Array, kind: Kind) -> pa.LargeStringArray | None:
    """Moments in ISO 8601, with a fraction where a second has one; None outside the years 1 to 9999."""
    if not are_within(array, _FIRST, _LAST):
        return None
    seconds = pc.floor_temporal(array, unit="second")
    texts = seconds.cast(pa.timestamp("s")).cast(TEXTS)
    if not pc.all(pc.equal(seconds, array)).as_py():
        texts = pc.if_else(pc.equal(seconds, array), texts, array.cast(TEXTS))
    texts = pc.binary_replace_slice(texts, 10, 11, "T")
    return _joined(texts, _text("Z")) if kind is Kind.TIMESTAMPTZ else texts


def _escaped(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as strings of JSON."""
    quoted = _between_quotes(texts)
    if not _has_byte_of(texts, _ESCAPED_BYTES):
        return quoted
    marked = pc.match_substring_regex(texts, _ESCAPED)
    written = [orjson.dumps(text) for text in texts.filter(marked).to_pylist()]
    return pc.replace_with_mask(quoted, marked.fill_null(False), _strings(written))


def _enclosed(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as fields of CSV: in quotes if they are empty, or have what divides fields."""
    empty = pc.equal(texts, "")
    if not _has_byte_of(texts, _QUOTED_BYTES):
        return pc.if_else(empty, _text('""'), texts) if pc.any(empty).as_py() else texts
    marked = pc.or_(pc.match_substring_regex(texts, _QUOTED), empty)
    return pc.if_else(marked, _between_quotes(pc.replace_substring(texts, '"', '""')), texts)


def _unlike_blank_lines(fields: pa.LargeStringArray) -> pa.LargeStringArray:
    """Fields that are a line each. Those of spaces are in quotes: some readers take them for blank lines."""
    return pc.if_else(pc.match_substring_regex(fields, r"^[ \t\f]+$"), _between_quotes(fields), fields)


def _has_byte_of(texts: pa.LargeStringArray, wanted: bytes) -> bool:
    """Whether one of the bytes may be in the texts."""
    data = texts.buffers()[2]
    written = b"" if data is None else data.to_pybytes()
    return any(bytes([byte]) in written for byte in wanted)


def _between_quotes(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return _joined(_text('"'), texts, _text('"'))


def _joined(*parts: pa.LargeStringArray | pa.LargeStringScalar) -> pa.LargeStringArray:
    """The parts, put together row by row; null where one of them is."""
    return pc.binary_join_element_wise(*parts, _text(""))


def _text(text: str) -> pa.LargeStringScalar:
    return pa.scalar(text, TEXTS)


def _strings(texts: Sequence[object]) -> pa.LargeStringArray:
    return pa.array(texts, TEXTS)
