"""Running extremes: the least or greatest words of a group before a place.

A word cannot be taken out of an extreme as it can out of a sum. So each published batch stores, for every
place, which of the group's rows before it has the best word, counting only lines that add copies. The best of
all batches is the group's best if its row still exists; otherwise the rows are read.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer
from engine.kernels.runs import BEFORE, lower_bound, next_cursor, put_stretch, read_run
from engine.kernels.top import decoded
from engine.kernels.words import NULL

# An extreme, a line each: the word of its column, and 1 for the least or -1 for the greatest.
WORD, DIRECTION = 0, 1


@njit(inline="always")
def better(best, word, direction):
    """The lesser of two words that are not NULL; the greater if the direction is -1."""
    if word == NULL:
        return best
    if best == NULL or (word < best if direction > 0 else word > best):
        return word
    return best


@kernel("int64[:,::1](int64[:,::1], int64, int64[:,::1], int64[:,::1], int64[::1])")
def best_rows(batch, key, extremes, codes, entry_words):
    """int64[n + 1, E]: for each place, the row of the same `key` words before it with the best word, or
    -1."""
    n = batch.shape[0]
    rows = np.empty((n + 1, extremes.shape[0]), np.int64)
    rows[0] = -1
    for i in range(n):
        starts = i == 0 or compare(batch, i - 1, batch, i, key) != 0
        for e in range(extremes.shape[0]):
            known = -1 if starts else rows[i, e]
            if batch[i, batch.shape[1] - 1] > 0:
                word = decoded(batch, i, codes, extremes[e, WORD], entry_words)
                best = NULL
                if known >= 0:
                    best = decoded(batch, known, codes, extremes[e, WORD], entry_words)
                if word != NULL and better(best, word, extremes[e, DIRECTION]) != best:
                    known = i
            rows[i + 1, e] = known
    return rows


@njit
def bests_before(
    table,
    old,
    rows,
    m,
    lows,
    highs,
    places,
    key,
    epoch,
    extremes,
    codes,
    entry_words,
    ends,
    arena,
    cursors,
    run,
    bests,
):
    """Fill `bests` with the extremes of group m's rows before `places`, before an epoch.

    `rows` is a table of the `best_rows` of the `old` published batches. Returns how many rows were read.
    """
    width = codes.shape[0]
    read = 0
    for e in range(extremes.shape[0]):
        best, first, row = _candidate(
            table, old, rows, m, lows, places, epoch, e, extremes, codes, entry_words
        )
        bests[e] = best
        if first < 0 or _is_there(table, old, m, lows, highs, first, row, width, epoch, codes, ends, arena):
            continue
        bests[e] = NULL
        count = put_stretch(table, m, lows, places, cursors)
        while True:
            foremost = next_cursor(table, cursors, count, 1, key, width, codes, ends, arena)
            if foremost < 0:
                break
            read_run(table, old, cursors, count, foremost, 1, key, width, epoch, run)
            read += 1
            if run[BEFORE] > 0:
                word = decoded(layer(table, run[0]), run[1], codes, extremes[e, WORD], entry_words)
                bests[e] = better(bests[e], word, extremes[e, DIRECTION])
    return read


@njit
def _candidate(table, old, rows, m, lows, places, epoch, e, extremes, codes, entry_words):
    """The best word that a line before `places` has added, with its batch and row; NULL, -1, -1 if none."""
    width = codes.shape[0]
    best, first, found = NULL, -1, -1
    for index in range(table.shape[0]):
        low, place = lows[index, m], places[index]
        if low >= place:
            continue
        batch = layer(table, index)
        if index < old:
            start = layer(rows, index)[place, e]
            stop = start + 1
        else:
            start, stop = low, place
        for row in range(max(start, low), stop):
            if index >= old and (batch[row, width] >= epoch or batch[row, width + 1] <= 0):
                continue
            word = decoded(batch, row, codes, extremes[e, WORD], entry_words)
            if word != NULL and better(best, word, extremes[e, DIRECTION]) != best:
                best, first, found = word, index, row
    return best, first, found


@njit
def _is_there(table, old, m, lows, highs, first, row, width, epoch, codes, ends, arena):
    """Whether the group has copies of a row before an epoch."""
    other = layer(table, first)
    copies = 0
    for index in range(table.shape[0]):
        low, high = lows[index, m], highs[index, m]
        if low == high:
            continue
        batch = layer(table, index)
        at = lower_bound(batch, low, high, other, row, width, codes, ends, arena)
        while at < high and compare(batch, at, other, row, width) == 0:
            if index < old or batch[at, width] < epoch:
                copies += batch[at, width + 1]
            at += 1
    return copies > 0
