"""How kernels see matrices: comparing rows, and reading many batches in one call.

A delta on its way is columnar, int64[W + 2, n], as expressions want it. A batch at
rest is row by row, int64[n, W + d + 1 + K]: words, rounds, epoch and diffs of a row lie
in one cache line where a seek finds them, and a merge that comes out shorter than its
inputs is a prefix of its buffer.

A trace hands its batches to a kernel as a *table*: int64[L, 3], a line a batch, of
address, number of rows, number of columns. The caller keeps the arrays alive.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

COLUMNS = 3
BLOCK = 1024
"""Keys that a kernel looks up at a time, so that what it finds is still in the cache when it is used."""


@intrinsic
def _as_pointer(typing_context, address):
    signature = types.CPointer(types.int64)(types.int64)

    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return signature, codegen


@njit(inline="always")
def layer(table, index):
    """Batch `index` of a table, as a matrix."""
    pointer = _as_pointer(table[index, 0])  # type: ignore[call-arg, var-annotated]
    return carray(pointer, (table[index, 1], table[index, 2]))


@njit("void(int64[:,::1], int64, int64[:,::1])", cache=True, nogil=True)
def register(table, index, batch):
    """Write `batch` into line `index` of a table."""
    table[index, 0] = batch.ctypes.data
    table[index, 1] = batch.shape[0]
    table[index, 2] = batch.shape[1]


@njit(inline="always")
def compare(a, i, b, j, width):
    """-1, 0 or 1: the first `width` words of row i of `a` against those of row j of `b`."""
    for w in range(width):
        x = a[i, w]
        y = b[j, w]
        if x != y:
            return -1 if x < y else 1
    return 0


@njit
def seek(a, start, b, j, width):
    """The first row of sorted `a` from `start` on that is not below row j of `b` in its first `width` words.

    Gallops: its cost is the logarithm of the distance travelled.
    """
    n = a.shape[0]
    if start >= n or compare(a, start, b, j, width) >= 0:
        return start
    low = start
    step = 1
    while low + step < n and compare(a, low + step, b, j, width) < 0:
        low += step
        step <<= 1
    high = min(low + step, n)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if compare(a, middle, b, j, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def seek_past(a, start, b, j, width):
    """The first row of sorted `a`, from `start` on, that is above row j of `b`; gallops too."""
    n = a.shape[0]
    if start >= n or compare(a, start, b, j, width) > 0:
        return start
    low = start
    step = 1
    while low + step < n and compare(a, low + step, b, j, width) <= 0:
        low += step
        step <<= 1
    high = min(low + step, n)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if compare(a, middle, b, j, width) <= 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _halve_by_one(batch, low, high, first_words, bounds):
    """bounds[k]: the first row in [low, high) whose first word is not below first_words[k].

    All searches halve their ranges together: no branch to mispredict, and their memory
    accesses do not wait for each other.
    """
    bounds[:] = low
    length = high - low
    while length > 1:
        half = length >> 1
        for k in range(bounds.shape[0]):
            b = bounds[k]
            if batch[b + half - 1, 0] < first_words[k]:
                b += half
            bounds[k] = b
        length -= half
    if length == 1:
        for k in range(bounds.shape[0]):
            bounds[k] += batch[bounds[k], 0] < first_words[k]


@njit
def _halve_by_two(batch, low, high, first_words, second_words, bounds):
    """As `_halve_by_one`, by the first two words."""
    bounds[:] = low
    length = high - low
    while length > 1:
        half = length >> 1
        for k in range(bounds.shape[0]):
            b = bounds[k]
            x = batch[b + half - 1, 0]
            y = batch[b + half - 1, 1]
            if (x < first_words[k]) | ((x == first_words[k]) & (y < second_words[k])):
                b += half
            bounds[k] = b
        length -= half
    if length == 1:
        for k in range(bounds.shape[0]):
            x = batch[bounds[k], 0]
            y = batch[bounds[k], 1]
            bounds[k] += (x < first_words[k]) | ((x == first_words[k]) & (y < second_words[k]))


@njit
def _lower_bounds(batch, low, high, keys, rows, first, last, width, bounds):
    """bounds[k]: the first row in [low, high) not below row rows[k] of `keys`, for first ≤ k < last."""
    count = last - first
    words = np.empty((2, count), np.int64)
    for k in range(count):
        for w in range(min(width, 2)):
            words[w, k] = keys[rows[first + k], w]
    found = bounds[first:last]
    if width == 0:
        found[:] = low
    elif width == 1:
        _halve_by_one(batch, low, high, words[0], found)
    else:
        _halve_by_two(batch, low, high, words[0], words[1], found)
        if width > 2:
            for k in range(count):
                found[k] = seek(batch, found[k], keys, rows[first + k], width)


@njit
def locate(batch, keys, rows, count, width, start, lows, highs):
    """Where the keys in the given `count` rows of sorted `keys`, distinct and ascending, lie in `batch`.

    Fills lows[k] and highs[k]; no key lies before row `start`. A block of keys is sought in
    the stretch of the batch between its first and its last. Returns where that ends.
    """
    position = start
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        low = seek(batch, position, keys, rows[first], width)
        position = seek_past(batch, low, keys, rows[last - 1], width)
        _lower_bounds(batch, low, position, keys, rows, first, last, width, lows)
        for k in range(first, last):
            highs[k] = seek_past(batch, lows[k], keys, rows[k], width)
    return position


@njit
def find_block(table, keys, first, last, positions, lows, highs):
    """For every batch l and key first ≤ m < last of sorted, distinct `keys`, where the rows of that key lie.

    Fills lows[l, m - first] and highs[l, m - first]. Blocks are asked for in order;
    `positions` (a number a batch, zero at first) carries the sweep from one to the next.
    """
    width = keys.shape[1]
    rows = np.arange(first, last)
    for index in range(table.shape[0]):
        batch = layer(table, index)
        positions[index] = locate(
            batch, keys, rows, last - first, width, positions[index], lows[index], highs[index]
        )


@njit("UniTuple(int64[:,::1], 2)(int64[:,::1], int64[:,::1])", cache=True, nogil=True)
def find_ranges(table, keys):
    """For every batch l and every line m of sorted, distinct `keys` [m, P], where the rows of that key lie.

    Returns lows[l, m] and highs[l, m].
    """
    layers = table.shape[0]
    size = keys.shape[0]
    lows = np.empty((layers, size), np.int64)
    highs = np.empty((layers, size), np.int64)
    find_block(table, keys, 0, size, np.zeros(layers, np.int64), lows, highs)
    return lows, highs


def table_of(batches: list[np.ndarray]) -> np.ndarray:
    """A table over `batches`."""
    table = np.empty((len(batches), COLUMNS), np.int64)
    for index, batch in enumerate(batches):
        register(table, index, batch)
    return table
