"""Columns of NUMERIC: words to Arrow's decimals and back.

A decimal128 has two halves of 64 bits. If a number is not wide (`engine.codec.numerals`), its word is the
lower half, and the upper half is its sign.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from math import isfinite

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.arrow_texts import is_text
from engine.codec.numerals import is_wide, name_of, number_of, special_of, word_of
from engine.codec.refusals import invalid
from engine.errors import InvalidValue
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.words import NULL
from engine.schema import Type
from engine.state.dictionary import Dictionary

_WIDEST = 38  # digits of a decimal128


def decode_decimals(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.Buffer:
    """The halves of the numbers of words int64[n]; KeyError for an unknown numeral, InvalidValue for NaN and
    the infinities, which decimals lack."""
    halves = _halves(words)
    if type.may_be_wide:
        for row in np.flatnonzero(is_wide(words)).tolist():
            number = number_of(int(words[row]), dictionary)
            if isinstance(number, float):
                raise InvalidValue(
                    f"a decimal of Arrow, of Parquet and of DuckDB cannot be {name_of(number)}",
                    "read the rows of its table or view as JSON, NDJSON or CSV, leave it out, "
                    "or cast it to DOUBLE PRECISION in a view",
                )
            halves[row] = np.frombuffer(number.to_bytes(16, "little", signed=True), np.int64)
    return pa.py_buffer(halves)


def _halves(words: np.ndarray) -> np.ndarray:
    """The lower and the upper halves of numbers that are not wide, int64[n, 2]."""
    return np.stack((words, words >> 63), axis=1)


def decimals_of(longs: pa.Array, type: pa.DataType) -> pa.Array:
    """The decimals, of a type of Arrow's of up to 18 digits, that have the digits of an int64 array without
    an offset."""
    words = np.frombuffer(longs.buffers()[1], np.int64, len(longs))
    return pa.Array.from_buffers(
        type, len(longs), [longs.buffers()[0], pa.py_buffer(_halves(words))], longs.null_count
    )


def encode_decimals(array: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of an array of numbers; InvalidValue for one that does not fit exactly."""
    if array.null_count == len(array):
        return np.zeros(len(array), np.int64)
    try:
        return _encode(array, type, dictionary)
    except (InvalidValue, pa.ArrowInvalid):
        specials = _specials(array) if type.has_specials else []
        if not any(special is not None for special in specials):
            raise
    apart = np.array([special is not None for special in specials])
    words = encode_decimals(pc.if_else(apart, None, array), type, dictionary)
    words[apart] = [word_of(special, dictionary) for special in specials if special is not None]
    return words


def _specials(array: pa.Array) -> list[float | None]:
    """NaN and the infinities of an array of texts or floats, None for other values."""
    if pa.types.is_floating(array.type):
        return [None if value is None or isfinite(value) else value for value in array.to_pylist()]
    if is_text(array.type):
        return [None if text is None else special_of(text) for text in array.to_pylist()]
    return []


def _encode(array: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray:
    if is_text(array.type):
        array = _readable(array, type)
    is_held = pa.types.is_decimal128(array.type) and array.type.scale == type.scale
    decimals = array if is_held else array.cast(pa.decimal128(_WIDEST, type.scale))
    if pa.types.is_floating(array.type):
        # Arrow rounds floats to decimals; a float that does not come back had more decimals.
        same = pc.equal(decimals.cast(pa.float64()), array.cast(pa.float64()))
        if not pc.all(same).as_py():
            raise invalid(array.filter(pc.invert(same))[0].as_py(), type, "too many decimals")
    words, lost = decimal_words(decimals, type, dictionary)
    if lost.any():
        raise invalid(decimals[int(np.flatnonzero(lost)[0])].as_py(), type, "out of range")
    return words


def _readable(array: pa.Array, type: Type) -> pa.Array:
    """The texts of numbers without exponents, each of which fits: Arrow overflows silently where one has
    more digits than a decimal128."""
    doubtful = pc.or_(pc.match_substring_regex(array, "[eE]"), pc.greater(pc.binary_length(array), _WIDEST))
    if not pc.any(doubtful).as_py():
        return array
    texts = zip(array.to_pylist(), doubtful.to_pylist(), strict=True)
    return pa.array([_written_out(text, type) if odd else text for text, odd in texts], pa.large_string())


def _written_out(text: str, type: Type) -> str:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise invalid(text, type) from None
    if not number.is_finite() or number.adjusted() + (type.scale or 0) >= _WIDEST:
        raise invalid(text, type, "out of range")
    if number.adjusted() < -2 * _WIDEST and number:
        raise invalid(text, type, "too many decimals")
    return format(number, "f")


def decimal_words(decimals: pa.Array, type: Type, dictionary: Dictionary) -> tuple[np.ndarray, np.ndarray]:
    """The words int64[n] of a decimal128 array of the type's scale, and bool[n]: which have too many digits.

    The word is NULL if the array is null there, and undefined if there are too many digits.
    """
    if len(decimals) == 0:
        return np.zeros(0, np.int64), np.zeros(0, bool)
    halves = np.frombuffer(decimals.buffers()[1], np.int64).reshape(-1, 2)[decimals.offset :][: len(decimals)]
    words = halves[:, 0].copy()
    low, high = type.bounds
    least, most = max(low, 1 - FIRST_NUMERAL), min(high, FIRST_NUMERAL - 1)
    lost = halves[:, 1] != words >> 63
    lost |= words < least
    lost |= words > most
    if decimals.null_count:
        null = decimals.is_null().to_numpy(zero_copy_only=False)
        words[null] = NULL
        lost[null] = False
    if type.may_be_wide:
        for row in np.flatnonzero(lost).tolist():
            number = int.from_bytes(halves[row].tobytes(), "little", signed=True)
            if low <= number <= high:
                words[row] = word_of(number, dictionary)
                lost[row] = False
    return words, lost
