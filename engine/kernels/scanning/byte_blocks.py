"""Bytes eight at a time, as one number whose least significant byte is the first.

A set of bytes of a block is a number with the high bits of these bytes. Its first byte is certain; above that
one, bytes may be in it that do not belong to it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.hashing import eight
from engine.kernels.layers import WORD, rows_at

__all__ = ["eight", "equals", "first", "marks", "uncounted_bytes"]

_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_SPACE, _QUOTE, _ESCAPE = np.uint64(32), np.uint64(34), np.uint64(92)


@njit(inline="always")
def equals(block, byte):
    """The bytes of a block that are `byte`."""
    other = block ^ byte * _ONES
    return (other - _ONES) & ~other & _HIGHS


@njit(inline="always")
def marks(block):
    """The bytes that end a text of JSON, begin an escape or are control characters."""
    controls = (block - _SPACE * _ONES) & ~block & _HIGHS
    return controls | equals(block, _QUOTE) | equals(block, _ESCAPE)


@njit(inline="always")
def first(found):
    """The place in its block of the first byte of a set, which is not empty."""
    below = (found & -found) - np.uint64(1)
    return np.int64(((below & _ONES) * _ONES) >> np.uint64(56)) - 1


@njit(inline="always")
def uncounted_bytes(array):
    """As `engine.kernels.layers.uncounted`, for bytes."""
    words = rows_at(array.ctypes.data, 1, (array.size + WORD - 1) // WORD)
    return words[0].view(np.uint8)[: array.size]
