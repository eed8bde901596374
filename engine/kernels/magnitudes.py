"""Magnitudes of counts: whether they stay so small that no sum or product of them wraps around.

Counts and sums have 64 bits. All of them are kept below MOST, so that two can be added before somebody looks
at the result. A kernel that meets more raises OverflowError, and the views that need the operator fail.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import layer
from engine.kernels.sort import sort_rows

MOST = 1 << 62
"""Counts and sums are smaller than this."""
_MOST_FLOAT = float(MOST)
_HALF_WORD = 1 << 31


@njit(inline="always")
def bits(count):
    """A number with the highest bit that the count needs; a bitwise OR of several shows the largest."""
    return count ^ (count >> 63)


@njit(inline="always")
def require_small(seen):
    """Raise OverflowError if one of the counts whose `bits` are in `seen` is not below MOST."""
    if seen >= MOST:
        raise OverflowError("a count does not fit into 64 bits")


@njit(inline="always")
def is_product_large(a, b):
    """Whether a product may be MOST or more; factors of 32 bits are not multiplied to find out."""
    if ((a + _HALF_WORD) | (b + _HALF_WORD)) >> 32 == 0:
        return False
    return abs(np.float64(a) * np.float64(b)) >= _MOST_FLOAT


@kernel("float64(int64[::1])")
def mass(counts):
    """The sum of the counts' magnitudes."""
    seen = np.int64(0)
    for i in range(counts.shape[0]):
        seen |= bits(counts[i] - (counts[i] > 0))
    if seen == 0:
        return np.float64(counts.shape[0])
    total = 0.0
    for i in range(counts.shape[0]):
        total += abs(np.float64(counts[i]))
    return total


@kernel("boolean(int64[:,::1], int64[:,::1], int64[:,::1], int64, float64, boolean)")
def any_large(table, lows, highs, epoch, most, in_order):
    """Whether the sums of some rows may reach `most`: those of a table's batches between lows[l, m] and
    highs[l, m], for one of the m.

    `epoch` is the column of the epoch, which the counts follow. With `in_order`, the sums are those up to
    each epoch; otherwise those of any of the rows.
    """
    for m in range(lows.shape[1]):
        for index in range(table.shape[0]):
            if lows[index, m] < highs[index, m]:
                for column in range(epoch + 1, layer(table, index).shape[1]):
                    if _is_large(table, lows, highs, m, column, most) and not (
                        in_order and _stays_small(table, lows, highs, m, epoch, column, most)
                    ):
                        return True
                break
    return False


@njit
def _is_large(table, lows, highs, m, column, most):
    """Whether the positive or the negative counts of a column add up to `most`."""
    positive = negative = 0.0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            count = np.float64(batch[j, column])
            positive += max(count, 0.0)
            negative -= min(count, 0.0)
    return positive >= most or negative >= most


@njit
def _stays_small(table, lows, highs, m, epoch, column, most):
    """Whether the counts up to each epoch add up to less than `most`, whatever their sign."""
    size = 0
    for index in range(table.shape[0]):
        size += highs[index, m] - lows[index, m]
    lines = np.empty((size, 2), np.int64)
    size = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            lines[size, 0] = batch[j, epoch]
            lines[size, 1] = batch[j, column]
            size += 1
    sort_rows(lines, 1)
    total = 0.0
    for i in range(size):
        total += np.float64(lines[i, 1])
        if (i + 1 == size or lines[i + 1, 0] != lines[i, 0]) and abs(total) >= most:
            return False
    return True
