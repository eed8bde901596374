"""Runs: the rows of a group in order, each with its copies before and after an epoch.

A run is all that a table says of one row: its lines in every batch. Published lines count before and after;
of the others, those of earlier epochs count for both, and those of the epoch only for after. Runs are read
from any place of the group, forward or backward.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.cursors import BATCH, END, NEXT, advance_cursor, compare_rows, is_row
from engine.kernels.layers import layer
from engine.kernels.reduce import grow

# A run: where one of its lines is, its copies before and after, and how many lines the epoch has of it.
ROW, BEFORE, AFTER, CHANGES, RUN = 1, 2, 3, 4, 5


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


@njit(forceinline=True)
def read_run(group, count, best, direction, epoch, run):
    """Read the run under the foremost cursor, `best`, and move all of its cursors past it.

    Returns how many cursors are left, and how many published lines were read.
    """
    table, cursors, old, key, width = group.table, group.cursors, group.old, group.key, group.codes.shape[0]
    run[BATCH] = cursors[best, BATCH]
    run[ROW] = cursors[best, NEXT]
    run[BEFORE] = 0
    run[AFTER] = 0
    run[CHANGES] = 0
    published = 0
    for c in range(count - 1, -1, -1):
        if group.order[c] != 0:
            continue
        index = cursors[c, BATCH]
        batch = layer(table, index)
        first = at = cursors[c, NEXT]
        while at != cursors[c, END] and (at == first or is_row(batch, at, batch, first, key, width)):
            time, diff = batch[at, width], batch[at, width + 1]
            if index < old or time < epoch:
                run[BEFORE] += diff
                run[AFTER] += diff
                published += index < old
            elif time == epoch:
                run[AFTER] += diff
                run[CHANGES] += 1
            at += direction
        count = advance_cursor(group, count, c, batch, at)
    run[BEFORE] = max(run[BEFORE], 0)
    run[AFTER] = max(run[AFTER], 0)
    return count, published
