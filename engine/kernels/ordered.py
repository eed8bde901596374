"""MIN and MAX from a trace that is ordered by value inside each group.

As in `reduce`, a group's output changes by the Möbius sum over corners; here a corner's
value is the first value, from the sought end, whose accumulated multiplicity is
positive. Batches are read together in order of value, and reading ends as soon as every
corner at every epoch has its value: what lies behind the extreme is not touched.
Only inside loops are all rows of the group looked at, for the rounds to visit later.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.layers import find_ranges, layer
from engine.kernels.reduce import (
    grow,
    later_visits,
    most_new_rows,
    order_by_epoch,
    parity,
    settle,
    strictness,
    value_delta,
)
from engine.schema import NULL

# What is known of a corner's value.
NOTHING, ONLY_NULL, FOUND = 0, 1, 2


@njit
def _note_epochs(table, old, m, width, depth, rounds, lows, highs, epochs):
    """The epochs of a group's new rows at rounds ≤ `rounds`, distinct and ascending, in epochs[:n]."""
    n = 0
    for index in range(old, table.shape[0]):
        if lows[index, m] == highs[index, m]:
            continue
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            if strictness(batch, j, width, depth, rounds) >= 0:
                epochs[n, 0] = batch[j, width + depth]
                n += 1
    order_by_epoch(epochs, n)
    distinct = 0
    for i in range(n):
        if i == 0 or epochs[i, 0] != epochs[distinct - 1, 0]:
            epochs[distinct, 0] = epochs[i, 0]
            distinct += 1
    return distinct


@njit
def _position(epochs, n, epoch):
    """The index of `epoch` among the first n of ascending `epochs`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if epochs[middle, 0] < epoch:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _next_value(table, m, cursors, lows, highs, column, largest):
    """The extreme value under the cursors, and whether there is one."""
    some = False
    value = 0
    for index in range(table.shape[0]):
        c = cursors[index]
        if c < lows[index, m] or c >= highs[index, m]:
            continue
        word = layer(table, index)[c, column]
        if not some or (word > value if largest else word < value):
            some = True
            value = word
    return some, value


@njit
def _take_value(table, old, m, cursors, lows, highs, value, largest, depth, rounds, epochs, n, counts):
    """Move the cursors past `value`, adding its multiplicities by version and corner to `counts`."""
    corners = 1 << depth
    counts[:] = 0
    step = -1 if largest else 1
    for index in range(table.shape[0]):
        low, high = lows[index, m], highs[index, m]
        if low == high:
            continue
        batch = layer(table, index)
        width = batch.shape[1] - 2 - depth
        column = width - 1
        c = cursors[index]
        while low <= c < high and batch[c, column] == value:
            mask = strictness(batch, c, width, depth, rounds)
            if mask >= 0:
                version = 0 if index < old else 1 + _position(epochs, n, batch[c, width + depth])
                for s in range(corners):
                    if s & mask == s:
                        counts[version, s] += batch[c, width + depth + 1]
            c += step
        cursors[index] = c


@njit
def _resolve(counts, n, corners, value, known, values):
    """Give `value` to the versions and corners that have waited for it; returns how many still wait."""
    waiting = 0
    for s in range(corners):
        total = 0
        for version in range(n + 1):
            total += counts[version, s]
            if known[version, s] != FOUND:
                if total > 0:
                    known[version, s] = ONLY_NULL if value == NULL else FOUND
                    values[version, s] = value
                if known[version, s] != FOUND:
                    waiting += 1
    return waiting


@njit(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], boolean)",
    cache=True,
    nogil=True,
)
def reduce_extreme(keys, table, old, depth, rounds, largest):
    """The changes of each group's least or largest value, for the groups `keys` [m, P] at one step.

    The trace's words are the key and the value. NULLs are skipped; a group of NULLs alone
    has the value NULL. Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit later.
    """
    size, key = keys.shape
    layers = table.shape[0]
    lows, highs = find_ranges(table, keys)
    corners = 1 << depth
    later = np.empty((0, depth + key), np.int64)
    count = 0
    if depth > 0:
        later, count = later_visits(later, count, table, keys, 0, size, lows, highs, key + 1, depth, rounds)
    epochs = np.empty((most_new_rows(lows, highs, old, size), 1), np.int64)
    cursors = np.empty(layers, np.int64)
    # A line: group, epoch, diff, value.
    lines = np.empty((2 * size + 16, 4), np.int64)
    written = 0
    for m in range(size):
        n = _note_epochs(table, old, m, key + 1, depth, rounds, lows, highs, epochs)
        if n == 0:
            continue
        published = False
        for index in range(layers):
            cursors[index] = highs[index, m] - 1 if largest else lows[index, m]
            published = published or (index < old and lows[index, m] < highs[index, m])
        counts = np.empty((n + 1, corners), np.int64)
        known = np.zeros((n + 1, corners), np.int64)
        values = np.full((n + 1, corners), NULL)
        if not published:
            known[0, :] = FOUND
        waiting = 1
        while waiting > 0:
            some, value = _next_value(table, m, cursors, lows, highs, key, largest)
            if not some:
                break
            _take_value(table, old, m, cursors, lows, highs, value, largest, depth, rounds, epochs, n, counts)
            waiting = _resolve(counts, n, corners, value, known, values)
        if not published:
            known[0, :] = NOTHING
        for version in range(1, n + 1):
            start = written
            for side in range(2):
                for s in range(corners):
                    if known[version - side, s] == NOTHING:
                        continue
                    if written == lines.shape[0]:
                        lines = grow(lines)
                    lines[written, 0] = m
                    lines[written, 1] = epochs[version - 1, 0]
                    lines[written, 2] = parity(s) if side == 0 else -parity(s)
                    lines[written, 3] = values[version - side, s]
                    written = settle(lines, start, written)
    return value_delta(keys, lines, written), later[:count]
