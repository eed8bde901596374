"""The kernel of a memo: numbers for distinct rows of words, in order of arrival.

`keys` is int64[K, capacity], with the known rows as columns. `table` has a power of two of slots, at most
half of them taken; a slot holds a row's number plus one, or 0 if it is free. Rows are found from their hash
on, by linear probing.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.texts import WORDS

_ROWS = types.Array(types.int64, 2, "C", readonly=True)
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def _hash(rows, i):
    state = np.uint64(rows.shape[0])
    for k in range(rows.shape[0]):
        state = (state ^ np.uint64(rows[k, i])) * _MIX
        state ^= state >> np.uint64(32)
    return np.int64(state)


@njit(inline="always")
def _same(rows, i, keys, j):
    same = True
    for k in range(rows.shape[0]):
        same &= rows[k, i] == keys[k, j]
    return same


@kernel(
    types.int64(_ROWS, types.int64, types.int64, types.int64[:, ::1], types.uint32[::1], types.int64[::1]),
)
def number(rows, start, count, keys, table, numbers):
    """Write the numbers of rows int64[K, n] from `start` on; returns the next row, and in `numbers[n]` the
    new `count` of known rows.

    It stops early if the arrays are full.
    """
    mask = table.size - 1
    n = rows.shape[1]
    i = start
    while i < n:
        slot = _hash(rows, i) & mask
        while table[slot] != 0 and not _same(rows, i, keys, table[slot] - 1):
            slot = (slot + 1) & mask
        if table[slot] == 0:
            if count >= keys.shape[1] or 2 * count >= table.size:
                break
            for k in range(rows.shape[0]):
                keys[k, count] = rows[k, i]
            count += 1
            table[slot] = count
        numbers[i] = table[slot] - 1
        i += 1
    numbers[n] = count
    return i


@kernel(types.void(WORDS, WORDS, types.int64[::1]))
def gather(values, numbers, out):
    """`values[numbers]` into `out`."""
    for i in range(out.size):
        out[i] = values[numbers[i]]
