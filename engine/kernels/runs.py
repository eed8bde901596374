"""Runs: the rows of a group in order, each with its copies before and after an epoch.

A run is all that a table says of one row: its lines in every batch. Published lines count before and after;
of the others, those of earlier epochs count for both, and those of the epoch only for after. Runs are read
from any place of the group, forward or backward.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.layers import layer

# A run: where one of its lines is, its copies before and after, and how many lines the epoch has of it.
BATCH, ROW, BEFORE, AFTER, CHANGES, RUN = 0, 1, 2, 3, 4, 5

# A cursor: a batch, its next row, and the row at which the group ends in this direction.
NEXT, _END, CURSOR = 1, 2, 3


@njit
def lower_bound(batch, low, high, other, row, width, codes, ends, arena):
    """The first row from `low` up to `high` that is not below row `row` of `other` in its first `width`
    words."""
    while low < high:
        middle = (low + high) >> 1
        if compare_coded(codes, ends, arena, batch, middle, other, row, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def find_places(table, m, lows, highs, other, row, width, codes, ends, arena, places):
    """Fill `places` with where a row belongs among the rows of group m in each batch."""
    for index in range(table.shape[0]):
        low, high = lows[index, m], highs[index, m]
        if low < high:
            low = lower_bound(layer(table, index), low, high, other, row, width, codes, ends, arena)
        places[index] = low


@njit
def put_forward(table, m, highs, places, cursors):
    """Put cursors on the rows from `places` on; returns their number."""
    count = 0
    for index in range(table.shape[0]):
        if places[index] < highs[index, m]:
            cursors[count, BATCH] = index
            cursors[count, NEXT] = places[index]
            cursors[count, _END] = highs[index, m]
            count += 1
    return count


@njit
def put_stretch(table, m, lows, places, cursors):
    """Put cursors on the rows before `places`, to be read forward; returns their number."""
    count = 0
    for index in range(table.shape[0]):
        if lows[index, m] < places[index]:
            cursors[count, BATCH] = index
            cursors[count, NEXT] = lows[index, m]
            cursors[count, _END] = places[index]
            count += 1
    return count


@njit
def put_backward(table, m, lows, places, cursors):
    """Put cursors on the rows before `places`, to be read backward; returns their number."""
    count = 0
    for index in range(table.shape[0]):
        if places[index] > lows[index, m]:
            cursors[count, BATCH] = index
            cursors[count, NEXT] = places[index] - 1
            cursors[count, _END] = lows[index, m] - 1
            count += 1
    return count


@njit
def next_cursor(table, cursors, count, direction, key, width, codes, ends, arena):
    """The cursor on the next row in the direction, 1 or -1; -1 if there is none."""
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
                    order = compare_coded(codes, ends, arena, left, i, right, j, width)
            if order * direction >= 0:
                continue
        best = c
    return best


@njit
def read_run(table, old, cursors, count, best, direction, key, width, epoch, run):
    """Read the run under cursor `best` into `run` and move all cursors past it.

    Returns how many published lines were read.
    """
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
