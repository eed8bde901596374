"""Running extremes: the least or greatest arguments of a group before a place.

A value cannot be taken out of an extreme as it can out of a sum. So each published batch stores, for every
place, which of the group's rows before it has the best argument, counting only lines that add copies. The
best of all batches is the group's best if its row still exists; otherwise the rows are read.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import texts_of
from engine.kernels.compiled import kernel
from engine.kernels.cursors import BATCH, foremost, put_stretch
from engine.kernels.layers import compare, layer
from engine.kernels.neighbours.arguments import argument_of, better
from engine.kernels.neighbours.runs import BEFORE, ROW, lower_bound, read_run
from engine.kernels.words import NULL

# An extreme, a line each: the word of its column, 1 for the least or -1 for the greatest, and its argument's
# sort.
WORD, DIRECTION, SORT, EXTREME = 0, 1, 2, 3


@njit(inline="always")
def _bettered(best, batch, row, codes, extremes, e, texts):
    """The better one of `best` and a row's argument of an extreme."""
    argument = argument_of(batch, row, codes, extremes[e, WORD], extremes[e, SORT], texts)
    return better(best, argument, extremes[e, DIRECTION], extremes[e, SORT], texts)


@kernel(
    "int64[:,::1](int64[:,::1], int64, int64[:,::1], int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def best_rows(batch, key, extremes, codes, entry_words, ends, arena):
    """int64[n + 1, E]: for each place, the row of the same `key` words before it with the best argument, or
    -1. The last three arguments are the dictionary's (see `texts`)."""
    n = batch.shape[0]
    texts = texts_of(entry_words, ends, arena)
    rows = np.empty((n + 1, extremes.shape[0]), np.int64)
    rows[0] = -1
    bests = np.full(extremes.shape[0], NULL)
    for i in range(n if extremes.shape[0] > 0 else 0):
        rows[i + 1] = rows[i]
        if i > 0 and compare(batch, i - 1, batch, i, key) != 0:
            bests[:] = NULL
            rows[i + 1] = -1
        if batch[i, batch.shape[1] - 1] > 0:
            for e in range(extremes.shape[0]):
                best = _bettered(bests[e], batch, i, codes, extremes, e, texts)
                if best != bests[e]:
                    bests[e] = best
                    rows[i + 1, e] = i
    return rows


@njit(forceinline=True)
def find_bests(group, rows, m, places, epoch, extremes, bests, run):
    """Fill `bests` with the extremes of group m's rows before `places`, before an epoch.

    `rows` is a table of the `best_rows` of the published batches, and `run` room for one. Returns how many
    rows were read.
    """
    read = 0
    for e in range(extremes.shape[0]):
        bests[e], first, row = _candidate(group, rows, m, places, epoch, extremes, e)
        if first >= 0 and not _is_there(group, m, first, row, epoch):
            bests[e], found = _read_best(group, m, places, epoch, extremes, e, run)
            read += found
    return read


@njit
def _candidate(group, rows, m, places, epoch, extremes, e):
    """The best argument that a line before `places` has added, with its batch and row; NULL, -1, -1 if
    none."""
    codes, texts, width = group.codes, group.texts, group.codes.shape[0]
    best, first, found = NULL, -1, -1
    for index in range(group.table.shape[0]):
        low, place = group.lows[index, m], places[index]
        if low >= place:
            continue
        batch = layer(group.table, index)
        start, stop = low, place
        if index < group.old:
            start = layer(rows, index)[place, e]
            stop = start + 1
        for row in range(max(start, low), stop):
            if index >= group.old and (batch[row, width] >= epoch or batch[row, width + 1] <= 0):
                continue
            better_one = _bettered(best, batch, row, codes, extremes, e, texts)
            if better_one != best:
                best, first, found = better_one, index, row
    return best, first, found


@njit
def _is_there(group, m, first, row, epoch):
    """Whether the group has copies of a row before an epoch."""
    other = layer(group.table, first)
    width = group.codes.shape[0]
    copies = 0
    for index in range(group.table.shape[0]):
        low, high = group.lows[index, m], group.highs[index, m]
        if low == high:
            continue
        batch = layer(group.table, index)
        at = lower_bound(group, batch, low, high, other, row, width)
        while at < high and compare(batch, at, other, row, width) == 0:
            if index < group.old or batch[at, width] < epoch:
                copies += batch[at, width + 1]
            at += 1
    return copies > 0


@njit
def _read_best(group, m, places, epoch, extremes, e, run):
    """The best argument of the rows before `places` that exist before an epoch, and how many rows were
    read."""
    best = NULL
    read = 0
    count = put_stretch(group, m, places)
    while count > 0:
        count, _ = read_run(group, count, foremost(group, count, 1), 1, epoch, run)
        read += 1
        if run[BEFORE] > 0:
            batch = layer(group.table, run[BATCH])
            best = _bettered(best, batch, run[ROW], group.codes, extremes, e, group.texts)
    return best, read
