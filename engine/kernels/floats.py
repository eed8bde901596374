"""Floats as words that sort as signed integers, and back.

The word has the IEEE bits; for negative numbers, all but the sign are inverted. -0 becomes +0, and there is
one NaN, the positive quiet one, whose word is greater than all others. No float has the word NULL, whose bits
would be those of a negative NaN.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.texts import WORDS

_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF
NAN_WORD = 0x7FF8000000000000

FLOATS = types.Array(types.float64, 1, "C", readonly=True)


@njit(inline="always")
def to_word(value):
    if value != value:
        return NAN_WORD
    bits = np.float64(value + 0.0).view(np.int64)  # the sum turns -0 into +0
    return bits ^ ((bits >> 63) & _ALL_BUT_SIGN)


@njit(inline="always")
def to_float(word):
    return np.int64(word ^ ((word >> 63) & _ALL_BUT_SIGN)).view(np.float64)


@kernel(types.int64[::1](FLOATS))
def words_of(floats):
    """The words int64[n] of `floats` float64[n]."""
    words = np.empty(floats.size, np.int64)
    for i in range(floats.size):
        words[i] = to_word(floats[i])
    return words


@kernel(types.float64[::1](WORDS))
def floats_of(words):
    """The floats float64[n] of `words` int64[n]; NaN for NULL."""
    floats = np.empty(words.size, np.float64)
    for i in range(words.size):
        floats[i] = to_float(words[i])
    return floats
