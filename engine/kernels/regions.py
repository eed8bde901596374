"""Regions: the stretches of a group in which a window function's answer can change at an epoch.

A region begins far enough before a change to include all rows whose frames contain it, and the rows in their
frames; it ends once as many rows have passed since the last change, and all sums from the group's beginning
are the same before and after the epoch. Of the rows before a region only the sums are needed, which follow
from the batches' prefix sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.bests import better
from engine.kernels.coding import compare_coded
from engine.kernels.layers import layer
from engine.kernels.prefixes import add_parts, is_high
from engine.kernels.reduce import grow
from engine.kernels.runs import (
    AFTER,
    BATCH,
    BEFORE,
    CHANGES,
    NEXT,
    ROW,
    RUN,
    find_places,
    next_cursor,
    put_backward,
    put_forward,
    read_run,
)
from engine.kernels.top import decoded

# What a region needs, in `shape`: how many rows before and behind a change, and the number of words in
# which peers agree, or -1. A region that begins with peers of rows before a change could overlap the
# previous one; then there is one region for all changes.
REACH, PEERS, SHAPE = 0, 1, 2


@njit
def epochs_of(table, old, m, lows, highs, width):
    """The epochs of a group's new rows, distinct and ascending."""
    count = 0
    for index in range(old, table.shape[0]):
        count += highs[index, m] - lows[index, m]
    found = np.empty(count, np.int64)
    count = 0
    for index in range(old, table.shape[0]):
        batch = layer(table, index)
        for row in range(lows[index, m], highs[index, m]):
            found[count] = batch[row, width]
            count += 1
    return np.unique(found)


@njit
def changes_at(table, old, m, lows, highs, width, epoch, codes, ends, arena):
    """A group's new rows of an epoch, in order, as lines of batch and row."""
    count = 0
    found = np.empty((16, 2), np.int64)
    for index in range(old, table.shape[0]):
        batch = layer(table, index)
        for row in range(lows[index, m], highs[index, m]):
            if batch[row, width] != epoch:
                continue
            if count == found.shape[0]:
                found = grow(found)
            place = count
            while place > 0 and found[place - 1, 0] != index:
                before = layer(table, found[place - 1, 0])
                if compare_coded(codes, ends, arena, before, found[place - 1, 1], batch, row, width) <= 0:
                    break
                found[place] = found[place - 1]
                place -= 1
            found[place, 0] = index
            found[place, 1] = row
            count += 1
    return found[:count]


@njit
def earlier_sums(table, old, m, lows, highs, epoch, summed, codes, entry_words, offsets, sums):
    """Fill `sums` with prefix sums of the group's new rows of epochs before one, batch after batch.

    The sums of a batch begin at its line in `offsets`.
    """
    width = codes.shape[0]
    line = 0
    for index in range(old, table.shape[0]):
        offsets[index] = line
        sums[line] = 0
        batch = layer(table, index)
        for row in range(lows[index, m], highs[index, m]):
            sums[line + 1] = sums[line]
            line += 1
            if batch[row, width] < epoch:
                add_parts(batch, row, summed, codes, entry_words, batch[row, width + 1], sums[line])
        line += 1


@njit
def sums_before(prefixes, old, m, lows, places, offsets, earlier, sums):
    """Fill `sums` with the sums of the group's rows before `places`, before an epoch."""
    sums[:] = 0
    for index in range(places.shape[0]):
        low, place = lows[index, m], places[index]
        if index < old and low < place:
            batch = layer(prefixes, index)
            for slot in range(sums.shape[0]):
                sums[slot] += batch[place, slot] - batch[low, slot]
        elif low < place:
            line = offsets[index]
            for slot in range(sums.shape[0]):
                sums[slot] += earlier[line + place - low, slot] - earlier[line, slot]


@njit
def find_start(
    table, old, m, lows, highs, first, row, key, shape, epoch, codes, ends, arena, cursors, run, places
):
    """Fill `places` with the beginning of the region around a change, row `row` of batch `first`.

    Returns how many rows were read.
    """
    width = codes.shape[0]
    rows = 0
    find_places(table, m, lows, highs, layer(table, first), row, width, codes, ends, arena, places)
    if shape[REACH] > 0:
        count = put_backward(table, m, lows, places, cursors)
        passed = 0
        while passed < shape[REACH]:
            best = next_cursor(table, cursors, count, -1, key, width, codes, ends, arena)
            if best < 0:
                break
            read_run(table, old, cursors, count, best, -1, key, width, epoch, run)
            passed += min(run[BEFORE], run[AFTER])
            rows += 1
            first, row = run[BATCH], run[ROW]
        find_places(table, m, lows, highs, layer(table, first), row, width, codes, ends, arena, places)
    if shape[PEERS] >= 0:
        batch = layer(table, first)
        find_places(table, m, lows, highs, batch, row, shape[PEERS], codes, ends, arena, places)
    return rows


@njit
def are_peers(table, first, row, second, other, shape):
    """Whether two rows of a group are peers."""
    left, right = layer(table, first), layer(table, second)
    for w in range(shape[PEERS]):
        if left[row, w] != right[other, w]:
            return False
    return True


@njit
def read_region(
    table,
    old,
    m,
    highs,
    places,
    remaining,
    key,
    shape,
    counted,
    extremes,
    bests,
    epoch,
    summed,
    codes,
    entry_words,
    ends,
    arena,
    cursors,
    run,
    runs,
):
    """Read the region that begins at `places` into `runs`.

    It ends behind one of the `remaining` changes, once the sums of the slots `counted` and the `extremes` are
    the same before and after the epoch; `bests` are the extremes of everything before the region. Returns the
    runs, their number, how many lines of changes were read, how many rows, and how many published lines of
    rows that do not exist.
    """
    width = codes.shape[0]
    count = put_forward(table, m, highs, places, cursors)
    least = remaining if shape[REACH] > 0 and shape[PEERS] >= 0 else 1
    surplus = np.zeros(1 + 3 * summed.shape[0], np.int64)
    best_words = np.empty((extremes.shape[0], 2), np.int64)
    best_words[:, 0] = bests
    best_words[:, 1] = bests
    n = 0
    rows = 0
    changes = 0
    since = 0
    wasted = 0
    while True:
        best = next_cursor(table, cursors, count, 1, key, width, codes, ends, arena)
        if best < 0:
            break
        if changes >= least and since >= shape[REACH] and _is_settled(counted, surplus, best_words):
            first, row = cursors[best, BATCH], cursors[best, NEXT]
            if shape[PEERS] < 0 or not are_peers(table, run[BATCH], run[ROW], first, row, shape):
                break
        published = read_run(table, old, cursors, count, best, 1, key, width, epoch, run)
        rows += 1
        changes += run[CHANGES]
        before, after = run[BEFORE], run[AFTER]
        if run[CHANGES] > 0:
            since = 0
        if before == 0 and after == 0:
            wasted += published
            continue
        if n == runs.shape[0]:
            runs = grow(runs)
        for field in range(RUN):
            runs[n, field] = run[field]
        n += 1
        if before != after:
            batch = layer(table, run[BATCH])
            add_parts(batch, run[ROW], summed, codes, entry_words, after - before, surplus)
        if extremes.shape[0] > 0:
            _take_extremes(table, run, extremes, codes, entry_words, best_words)
        if run[CHANGES] > 0 or not _is_settled(counted, surplus, best_words):
            since = 0
        else:
            since += before
    return runs, n, changes, rows, wasted


@njit
def _is_settled(counted, surplus, best_words):
    for k in range(counted.shape[0]):
        total = surplus[counted[k]]
        if is_high(counted[k]):
            low = surplus[counted[k] + 1]
            total = (total + (low >> 32)) | (low & 0xFFFFFFFF)
        if total != 0:
            return False
    for e in range(best_words.shape[0]):
        if best_words[e, 0] != best_words[e, 1]:
            return False
    return True


@njit
def _take_extremes(table, run, extremes, codes, entry_words, best_words):
    batch = layer(table, run[BATCH])
    for e in range(extremes.shape[0]):
        word = decoded(batch, run[ROW], codes, extremes[e, 0], entry_words)
        if run[BEFORE] > 0:
            best_words[e, 0] = better(best_words[e, 0], word, extremes[e, 1])
        if run[AFTER] > 0:
            best_words[e, 1] = better(best_words[e, 1], word, extremes[e, 1])
