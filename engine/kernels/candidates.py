"""What a trace knows of the words bound so far: how many rows, and the values of one more column.

Lines are a delta in progress, int64[W + 2, n], in any order. The kernels count all rows in the trace's
batches, whatever their diffs: the result covers every row that exists, and perhaps some that do not, which a
join drops later.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.join import runs
from engine.kernels.layers import layer
from engine.kernels.lookup import hash_keys, locate
from engine.kernels.sort import sort_rows


@njit
def _sorted_keys(lines, key):
    """Each line's words `key` and its number, sorted: [n, P + 1]; where runs begin; and the number of
    runs."""
    n = lines.shape[1]
    size = key.shape[0]
    keys = np.empty((n, size + 1), np.int64)
    for i in range(n):
        for p in range(size):
            keys[i, p] = lines[key[p], i]
        keys[i, size] = i
    sort_rows(keys, size)
    starts, count = runs(keys, size)
    return keys, starts, count


@njit
def _count(lines, key, table):
    size = key.shape[0]
    keys, starts, count = _sorted_keys(lines, key)
    lows = np.empty(count, np.int64)
    highs = np.empty(count, np.int64)
    hashes = hash_keys(table, keys, starts, count, size)
    found = np.zeros(count, np.int64)
    for index in range(table.shape[0]):
        locate(table, index, keys, starts, count, size, 0, hashes, lows, highs)
        for k in range(count):
            found[k] += highs[k] - lows[k]
    out = np.empty(lines.shape[1], np.int64)
    for k in range(count):
        for i in range(starts[k], starts[k + 1]):
            out[keys[i, size]] = found[k]
    return out


@kernel("int64[::1](int64[:,::1], int64[::1], int64[:,::1])")
def count_rows(lines, key, table):
    """How many rows of a trace begin with the words `key` (P) of each line."""
    return _count(lines, key, table)


@kernel("void(int64[:,::1], int64[::1], int64[:,::1], int64, int64[::1], int64[::1])")
def take_fewer(lines, key, table, number, fewest, chosen):
    """Where `count_rows` is below `fewest`, update `fewest` to it and `chosen` to `number`, or to -1 if it is
    zero."""
    counts = _count(lines, key, table)
    for i in range(lines.shape[1]):
        if counts[i] < fewest[i]:
            fewest[i] = counts[i]
            chosen[i] = number if counts[i] > 0 else -1


@njit
def _values(table, lows, highs, k, column):
    """The distinct words of a column in the k-th range of every batch, ascending."""
    total = 0
    for index in range(table.shape[0]):
        total += highs[index, k] - lows[index, k]
    values = np.empty((total, 1), np.int64)
    n = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        for j in range(lows[index, k], highs[index, k]):
            if n == 0 or values[n - 1, 0] != batch[j, column]:
                values[n, 0] = batch[j, column]
                n += 1
    values = values[:n]
    sort_rows(values, 1)
    m = 0
    for i in range(n):
        if i == 0 or values[i, 0] != values[m - 1, 0]:
            values[m, 0] = values[i, 0]
            m += 1
    return values[:m, 0]


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[:,::1], int64)")
def propose(lines, key, table, column):
    """Each line with each distinct word of `column` in the rows that begin with its words `key`.

    Returns [W + 3, m]: the words, the new word, and the epoch and diff unchanged.
    """
    height, size = lines.shape[0], key.shape[0]
    keys, starts, count = _sorted_keys(lines, key)
    hashes = hash_keys(table, keys, starts, count, size)
    lows = np.empty((table.shape[0], count), np.int64)
    highs = np.empty((table.shape[0], count), np.int64)
    for index in range(table.shape[0]):
        locate(table, index, keys, starts, count, size, 0, hashes, lows[index], highs[index])
    found = [_values(table, lows, highs, k, column) for k in range(count)]
    total = 0
    for k in range(count):
        total += found[k].shape[0] * (starts[k + 1] - starts[k])
    out = np.empty((height + 1, total), np.int64)
    m = 0
    for k in range(count):
        for i in range(starts[k], starts[k + 1]):
            line = keys[i, size]
            for word in found[k]:
                for r in range(height - 2):
                    out[r, m] = lines[r, line]
                out[height - 2, m] = word
                out[height - 1, m] = lines[height - 2, line]
                out[height, m] = lines[height - 1, line]
                m += 1
    return out
