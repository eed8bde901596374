"""Texts to words, a column at a time, where all of them have the plainest form of their type.

The plain forms are few, so that they can be told from all others at the speed of columns, and every reader of
texts takes them with the same meaning: JSON strings, fields of CSV, names of directories. A column with any
other text is left to the reader, which takes its texts one by one and knows what it accepts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.decimals import decimal_words
from engine.kernels.floats import words_of
from engine.kernels.words import NULL
from engine.schema import Kind, Type
from engine.state.buffers import buffers
from engine.state.dictionary import Dictionary

_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_DIGITS = b"0123456789"
_LONGEST_NUMBER = 36
"""Characters of a number that cannot overflow a decimal128, whatever it is."""
_MINUTES = 13
"""The place of the colon between hours and minutes in a moment."""
_YEAR_1 = -62_135_596_800_000_000
"""The first moment of year 1. Before it, Arrow takes more forms than others do."""


def words_of_plain(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    """The words int64[n] of an array of texts; None if a text has another form than the plain one.

    Texts of TEXT must be UTF-8.
    """
    read = _READERS.get(type.kind)
    if read is None:
        return None
    if texts.null_count == len(texts):
        return np.full(len(texts), NULL)
    try:
        words = read(texts, type, dictionary)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if words is not None and texts.null_count:
        words[texts.is_null().to_numpy(zero_copy_only=False)] = NULL
    return words


def only(allowed: bytes) -> Callable[[pa.Array], bool]:
    """A function that says whether all texts of an array are made of the allowed ASCII characters."""
    table = np.zeros(256, np.bool_)
    table[list(allowed)] = True

    def check(texts: pa.Array) -> bool:
        offsets, data = buffers(texts)
        return bool(table[data[offsets[0] : offsets[-1]]].all())

    return check


_is_whole = only(_DIGITS + b"-")
_is_decimal = only(_DIGITS + b"-.")
_is_float = only(_DIGITS + b"-.eE+")
_is_clock = only(_DIGITS + b":.")
_is_moment = only(_DIGITS + b"-:. T")
_is_zoned = only(_DIGITS + b"-:. T+Z")


def _texts(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return dictionary.intern(texts)


def _integers(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    if not _is_whole(texts):
        return None
    words = texts.cast(pa.int64()).fill_null(0).to_numpy().astype(np.int64)
    low, high = type.bounds
    return words if low <= words.min() and words.max() <= high else None


def _numbers(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    if not _is_decimal(texts) or _longest(texts) > _LONGEST_NUMBER - (type.scale or 0):
        return None
    decimals = texts.cast(pa.decimal128(38, type.scale or 0))
    words, lost = decimal_words(decimals, type, dictionary)
    return None if lost.any() else words


def _floats(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    if not _is_float(texts):
        return None
    floats = texts.cast(pa.float64()).fill_null(0).to_numpy()
    if type.kind is Kind.REAL:
        with np.errstate(over="ignore"):
            floats = floats.astype(np.float32).astype(np.float64)
    return None if np.isinf(floats).any() else words_of(floats)


def _booleans(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return _places(texts, ("false", "true"))


def _labels(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return _places(texts, type.labels)


def _places(texts: pa.Array, words: tuple[str, ...]) -> np.ndarray | None:
    places = pc.index_in(texts, pa.array(words, texts.type))
    if places.null_count > texts.null_count:
        return None
    return places.fill_null(0).to_numpy().astype(np.int64)


def _dates(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return texts.cast(pa.date32()).view(pa.int32()).fill_null(0).to_numpy().astype(np.int64)


def _times(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    if not _is_clock(texts):
        return None
    first_day = pc.binary_join_element_wise(
        pa.scalar("1970-01-01T", texts.type), texts, pa.scalar("", texts.type)
    )
    return _timestamps(first_day, type, dictionary)


def _timestamps(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return _instants(texts.cast(pa.timestamp("us"))) if _is_moment(texts) and _has_minutes(texts) else None


def _moments(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    """Either all texts name an offset or none does."""
    if not _is_zoned(texts) or not _has_minutes(texts):
        return None
    try:
        return _instants(texts.cast(pa.timestamp("us", "UTC")))
    except pa.ArrowInvalid:
        return _instants(texts.cast(pa.timestamp("us")))


def _uuids(texts: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray | None:
    return dictionary.intern(texts) if pc.all(pc.match_substring_regex(texts, _UUID)).as_py() else None


def _instants(moments: pa.Array) -> np.ndarray | None:
    words = moments.view(pa.int64()).fill_null(0).to_numpy().astype(np.int64)
    return None if words.min() < _YEAR_1 else words


def _longest(texts: pa.Array) -> int:
    return pc.max(pc.binary_length(texts)).as_py() or 0


def _has_minutes(texts: pa.Array) -> bool:
    """Whether no text has a time of day that is an hour alone."""
    offsets, data = buffers(texts)
    long = np.diff(offsets) >= _MINUTES
    at = offsets[:-1][long] + _MINUTES
    return bool((at < offsets[1:][long]).all() and (data[at] == ord(":")).all())


Reader = Callable[[pa.Array, Type, Dictionary], np.ndarray | None]
_READERS: dict[Kind, Reader] = {
    Kind.TEXT: _texts,
    Kind.SMALLINT: _integers,
    Kind.INTEGER: _integers,
    Kind.BIGINT: _integers,
    Kind.NUMERIC: _numbers,
    Kind.REAL: _floats,
    Kind.DOUBLE: _floats,
    Kind.BOOLEAN: _booleans,
    Kind.ENUM: _labels,
    Kind.DATE: _dates,
    Kind.TIME: _times,
    Kind.TIMESTAMP: _timestamps,
    Kind.TIMESTAMPTZ: _moments,
    Kind.UUID: _uuids,
}
