"""Tuples of PostgreSQL's binary COPY: where their fields lie, and fields of numbers and texts by columns.

A tuple is its number of fields in 16 bits, then each field after its length in 32 bits, -1 for NULL. All
numbers have their highest byte first.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.hashing import BYTES

MORE, DONE, CUT, UNEVEN, LONG = range(5)
"""Why a scan stops: there is no place for more tuples, or the end mark has come; the data ends too early, the
next tuple has another number of fields, or one of its fields is longer than the data."""
_PLACES = types.int64[:, ::1]


@njit(inline="always")
def _number(data, at, size):
    """The signed number of so many bytes, up to 8."""
    found = np.int64(data[at]) - ((np.int64(data[at]) & 128) << 1)
    for k in range(1, size):
        found = (found << 8) | np.int64(data[at + k])
    return found


@kernel(types.UniTuple(types.int64, 3)(BYTES, types.int64, _PLACES, _PLACES))
def find_fields(data, at, starts, sizes):
    """Where the fields of the tuples from byte `at` on lie: starts[c, i] and sizes[c, i], -1 for NULL.

    Returns the number of whole tuples, the byte after them (for UNEVEN, after the number of fields of the
    next), and why the scan stops.
    """
    end = data.size
    width, most = starts.shape
    for row in range(most):
        if end < at + 2:
            return row, at, CUT
        count = _number(data, at, 2)
        if count == -1:
            return row, at + 2, DONE
        if count != width:
            return row, at + 2, UNEVEN
        start = at
        at += 2
        for c in range(width):
            if end < at + 4:
                return row, start, LONG
            size = _number(data, at, 4)
            at += 4
            if size < -1 or size > end - at:
                return row, start, LONG
            starts[c, row] = at
            sizes[c, row] = size
            at += max(size, 0)
    return most, at, MORE


@kernel(types.boolean(BYTES, types.int64[::1], types.int64[::1], types.int64, types.int64[::1]))
def read_numbers(data, starts, sizes, size, numbers):
    """The number in each field, 0 for NULL; False if a field has not `size` bytes."""
    for i in range(starts.size):
        if sizes[i] == size:
            numbers[i] = _number(data, starts[i], size)
        elif sizes[i] == -1:
            numbers[i] = 0
        else:
            return False
    return True


@kernel(types.void(BYTES, types.int64[::1], types.int64[::1], types.int64[::1], types.uint8[::1]))
def gather_fields(data, starts, sizes, offsets, out):
    """Copy the bytes of all fields to `out`, each to its offset."""
    for i in range(starts.size):
        for k in range(max(sizes[i], 0)):
            out[offsets[i] + k] = data[starts[i] + k]
