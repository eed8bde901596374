"""Runs: the rows of a group in order, each with its copies before and after an epoch.

A run is all that a table says of one row: its lines in every batch. Published lines count before and after;
of the others, those of earlier epochs count for both, and those of the epoch only for after. Runs are read
from any place of the group, forward or backward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.layers import layer, uncounted
from engine.kernels.lookup import find_ranges
from engine.kernels.reduce import grow

# A run: where one of its lines is, its copies before and after, and how many lines the epoch has of it.
BATCH, ROW, BEFORE, AFTER, CHANGES, RUN = 0, 1, 2, 3, 4, 5

# A cursor: a batch, its next row, and the row at which the group ends in this direction.
NEXT, _END, CURSOR = 1, 2, 3


class Group(NamedTuple):
    """The groups of some keys: their table with `old` published batches, the groups' rows in each batch, the
    number of words of a key, the codes of all words (see `coding`), the dictionary, and room to read runs.

    The arrays here, and in the other records of windows, have no counts of references (see `uncounted`);
    whoever makes a record keeps what comes with it alive.
    """

    table: Any
    old: int
    lows: Any
    highs: Any
    key: int
    codes: Any
    texts: Any
    cursors: Any
    run: Any


@njit
def groups_of(keys, table, old, codes, texts):
    """The groups of sorted, distinct `keys` [m, P], and the arrays that have to be kept alive."""
    lows, highs = find_ranges(table, keys)
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    run = np.zeros(RUN, np.int64)
    group = Group(
        uncounted(table),
        old,
        uncounted(lows),
        uncounted(highs),
        keys.shape[1],
        uncounted(codes),
        texts,
        uncounted(cursors),
        uncounted(run),
    )
    return group, (lows, highs, cursors, run)


@njit
def keep_alive(_owned):
    """Does nothing, behind the last use of records whose arrays are `_owned`."""


@njit(inline="always")
def compare_rows(group, a, i, b, j, width):
    """-1, 0 or 1: row i of `a` against row j of `b` in the first `width` words of the groups' rows."""
    return compare_coded(group.codes, group.texts.ends, group.texts.arena, a, i, b, j, width)


@njit
def epochs_of(group, m):
    """The epochs of a group's new rows, distinct and ascending."""
    count = 0
    for index in range(group.old, group.table.shape[0]):
        count += group.highs[index, m] - group.lows[index, m]
    found = np.empty(count, np.int64)
    count = 0
    for index in range(group.old, group.table.shape[0]):
        batch = layer(group.table, index)
        for row in range(group.lows[index, m], group.highs[index, m]):
            found[count] = batch[row, group.codes.shape[0]]
            count += 1
    return np.unique(found)


@njit
def changes_at(group, m, epoch):
    """A group's new rows of an epoch, in order, as lines of batch and row."""
    width = group.codes.shape[0]
    count = 0
    found = np.empty((16, 2), np.int64)
    for index in range(group.old, group.table.shape[0]):
        batch = layer(group.table, index)
        for row in range(group.lows[index, m], group.highs[index, m]):
            if batch[row, width] != epoch:
                continue
            if count == found.shape[0]:
                found = grow(found)
            place = count
            while place > 0 and found[place - 1, 0] != index:
                before = layer(group.table, found[place - 1, 0])
                if compare_rows(group, before, found[place - 1, 1], batch, row, width) <= 0:
                    break
                found[place] = found[place - 1]
                place -= 1
            found[place, 0] = index
            found[place, 1] = row
            count += 1
    return found[:count]


@njit
def lower_bound(group, batch, low, high, other, row, width):
    """The first row from `low` up to `high` that is not below row `row` of `other` in its first `width`
    words."""
    while low < high:
        middle = (low + high) >> 1
        if compare_rows(group, batch, middle, other, row, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def find_places(group, m, other, row, width, places):
    """Fill `places` with where a row belongs among the rows of group m in each batch."""
    for index in range(group.table.shape[0]):
        low, high = group.lows[index, m], group.highs[index, m]
        if low < high:
            low = lower_bound(group, layer(group.table, index), low, high, other, row, width)
        places[index] = low


@njit(inline="always")
def _put(cursors, count, index, first, end):
    """Put a cursor on row `first` of a batch, unless it is the end; returns the number of cursors."""
    if first == end:
        return count
    cursors[count, BATCH] = index
    cursors[count, NEXT] = first
    cursors[count, _END] = end
    return count + 1


@njit
def put_forward(group, m, places, highs):
    """Put cursors on the rows from `places` on, up to `highs` of group m; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group.cursors, count, index, places[index], max(places[index], highs[index, m]))
    return count


@njit
def put_stretch(group, m, places):
    """Put cursors on the rows before `places`, to be read forward; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group.cursors, count, index, group.lows[index, m], places[index])
    return count


@njit
def put_backward(group, m, places):
    """Put cursors on the rows before `places`, to be read backward; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group.cursors, count, index, places[index] - 1, group.lows[index, m] - 1)
    return count


@njit
def next_run(group, count, direction):
    """The cursor on the next row in the direction, 1 or -1; -1 if there is none."""
    table, cursors, key, width = group.table, group.cursors, group.key, group.codes.shape[0]
    best = -1
    for c in range(count):
        if cursors[c, NEXT] == cursors[c, _END]:
            continue
        if best >= 0:
            left = layer(table, cursors[c, BATCH])
            right = layer(table, cursors[best, BATCH])
            i, j = cursors[c, NEXT], cursors[best, NEXT]
            order = 0
            if key < width:
                order = int(left[i, key] > right[j, key]) - int(left[i, key] < right[j, key])
                if order == 0:
                    order = compare_rows(group, left, i, right, j, width)
            if order * direction >= 0:
                continue
        best = c
    return best


@njit
def read_run(group, count, best, direction, epoch):
    """Read the run under cursor `best` into the group's `run` and move all cursors past it.

    Returns how many published lines were read.
    """
    table, cursors, run, width = group.table, group.cursors, group.run, group.codes.shape[0]
    old, key = group.old, group.key
    first = layer(table, cursors[best, BATCH])
    row = cursors[best, NEXT]
    run[BATCH] = cursors[best, BATCH]
    run[ROW] = row
    run[BEFORE] = 0
    run[AFTER] = 0
    run[CHANGES] = 0
    published = 0
    for c in range(count):
        index = cursors[c, BATCH]
        batch = layer(table, index)
        at = cursors[c, NEXT]
        while at != cursors[c, _END] and _is_row(batch, at, first, row, key, width):
            time, diff = batch[at, width], batch[at, width + 1]
            if index < old or time < epoch:
                run[BEFORE] += diff
                run[AFTER] += diff
                published += index < old
            elif time == epoch:
                run[AFTER] += diff
                run[CHANGES] += 1
            at += direction
        cursors[c, NEXT] = at
    run[BEFORE] = max(run[BEFORE], 0)
    run[AFTER] = max(run[AFTER], 0)
    return published


@njit(inline="always")
def _is_row(batch, i, other, j, key, width):
    """Whether two rows of a group are the same."""
    for w in range(key, width):
        if batch[i, w] != other[j, w]:
            return False
    return True
