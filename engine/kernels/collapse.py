"""Batches that do not tell times apart: the sums of their rows over all rounds, or up to an epoch."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer
from engine.kernels.lookup import find_block


@kernel("int64[:,::1](int64[:,::1], int64, int64, int64)")
def collapse(batch, width, depth, epoch):
    """Rows `[words | epoch | diffs]`: the sum, at `epoch`, of the batch's rows of the same `width` words."""
    n, columns = batch.shape
    first = width + depth + 1
    diffs = columns - first
    out = np.empty((n, width + 1 + diffs), np.int64)
    m = 0
    i = 0
    while i < n:
        start = i
        for w in range(width):
            out[m, w] = batch[i, w]
        out[m, width] = epoch
        for d in range(diffs):
            out[m, width + 1 + d] = 0
        while i < n and (i == start or compare(batch, i, batch, start, width) == 0):
            for d in range(diffs):
                out[m, width + 1 + d] += batch[i, first + d]
            i += 1
        for d in range(diffs):
            if out[m, width + 1 + d] != 0:
                m += 1
                break
    return out[:m]


@kernel("int64[:,::1](int64[:,::1], int64, int64)")
def rows_until(table, width, epoch):
    """The rows of a table's first batch, of `width` words, up to `epoch`, all at epoch 0; consolidated."""
    batch = layer(table, 0)
    n, columns = batch.shape
    out = np.empty((n, columns), np.int64)
    k = 0
    for i in range(n):
        if batch[i, width] > epoch:
            continue
        if k > 0 and compare(out, k - 1, batch, i, width) == 0:
            out[k - 1, width + 1] += batch[i, width + 1]
            continue
        if k > 0 and out[k - 1, width + 1] == 0:
            k -= 1
        for c in range(columns):
            out[k, c] = batch[i, c]
        out[k, width] = 0
        k += 1
    if k > 0 and out[k - 1, width + 1] == 0:
        k -= 1
    return out[:k]


@kernel("int64[:,::1](int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64, int64)")
def few_rows(table, low, high, positions, epoch, most):
    """The rows at `epoch` whose first words are between a line of `low` [m, P] and that line of `high`, or
    are one of these: [W + 1, n], the words by column and the counts, all positive.

    The lines ascend, and their ranges do not overlap. `positions` has the word's place of each of the W
    columns. The rows are sorted by insertion; [0, 0] if they come from more than `most` differences.
    """
    width = positions.shape[0]
    starts, stops, found = _ranges(table, low, high)
    if found > most:
        return np.empty((0, 0), np.int64)
    rows = np.empty((found, width + 2), np.int64)
    n = 0
    for m in range(low.shape[0]):
        start = n
        for index in range(table.shape[0]):
            batch = layer(table, index)
            for i in range(starts[index, m], stops[index, m]):
                if batch[i, width] <= epoch:
                    n = _insert(rows, start, n, batch, i, width)
        kept = start
        for i in range(start, n):
            if rows[i, width + 1] > 0:
                for c in range(width + 2):
                    rows[kept, c] = rows[i, c]
                kept += 1
        n = kept
    out = np.empty((width + 1, n), np.int64)
    for i in range(n):
        for column in range(width):
            out[column, i] = rows[i, positions[column]]
        out[width, i] = rows[i, width + 1]
    return out


@njit
def _ranges(table, low, high):
    """Where the rows from a line of `low` to that line of `high` lie in each batch, and how many they are."""
    layers, size = table.shape[0], low.shape[0]
    starts = np.empty((layers, size), np.int64)
    stops = np.empty((layers, size), np.int64)
    find_block(table, low, 0, size, np.zeros(layers, np.int64), starts, stops)
    if high.ctypes.data != low.ctypes.data:
        find_block(table, high, 0, size, np.zeros(layers, np.int64), np.empty_like(starts), stops)
    found = 0
    for index in range(layers):
        for m in range(size):
            found += max(stops[index, m] - starts[index, m], 0)
    return starts, stops, found


@njit
def _insert(out, start, n, batch, i, width):
    """Add row i of a batch to the sorted rows [start, n) of `out`; returns the new n."""
    place = n
    order = -1
    while place > start:
        order = compare(out, place - 1, batch, i, width)
        if order <= 0:
            break
        place -= 1
    if place > start and order == 0:
        out[place - 1, width + 1] += batch[i, width + 1]
        return n
    for row in range(n, place, -1):
        for c in range(width + 2):
            out[row, c] = out[row - 1, c]
    for w in range(width):
        out[place, w] = batch[i, w]
    out[place, width] = 0
    out[place, width + 1] = batch[i, width + 1]
    return n + 1
