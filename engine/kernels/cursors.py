"""Cursors: reading a group's rows from many batches at the same time, in order.

A cursor is a line of an int64 matrix: the number of a batch, its next row, the end of the group's rows, and
the row's first word after the key, which decides most comparisons.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.layers import layer

BATCH, ROW, END, HEAD, CURSOR = 0, 1, 2, 3, 4


@njit
def put_cursors(table, old, m, lows, highs, key, width, cursors):
    """Put a cursor on the group's first row in every batch that has one.

    Returns how many cursors there are, and whether one is in a published batch.
    """
    count = 0
    published = False
    for index in range(table.shape[0]):
        if lows[index, m] < highs[index, m]:
            cursors[count, BATCH] = index
            cursors[count, END] = highs[index, m]
            put_cursor(cursors, count, layer(table, index), lows[index, m], key, width)
            published = published or index < old
            count += 1
    return count, published


@njit(inline="always")
def put_cursor(cursors, c, batch, row, key, width):
    cursors[c, ROW] = row
    cursors[c, HEAD] = batch[row, key] if key < width else 0


@njit(inline="always")
def move_cursor(cursors, source, target):
    for field in range(CURSOR):
        cursors[target, field] = cursors[source, field]


@njit
def _compare_rows(table, cursors, c, b, width, codes, ends, arena):
    """-1, 0 or 1 if the row under cursor c comes before, with or after the one under cursor b."""
    left = layer(table, cursors[c, BATCH])
    right = layer(table, cursors[b, BATCH])
    return compare_coded(codes, ends, arena, left, cursors[c, ROW], right, cursors[b, ROW], width)


@njit
def foremost_cursor(table, cursors, count, key, width, codes, ends, arena, order):
    """The cursor on the first row; order[c] becomes 0 for cursors on the same row, and another number
    otherwise."""
    best = 0
    order[0] = 0
    for c in range(1, count):
        x = cursors[c, HEAD]
        y = cursors[best, HEAD]
        order[c] = int(x > y) - int(x < y)
        if x == y and key + 1 < width:
            order[c] = _compare_rows(table, cursors, c, best, width, codes, ends, arena)
        if order[c] < 0:
            for b in range(best, c):
                order[b] = 1
            order[c] = 0
            best = c
    return best


@njit(inline="always")
def is_same(batch, i, j, key, width):
    """Whether two rows of a group have the same words."""
    for w in range(key, width):
        if batch[i, w] != batch[j, w]:
            return False
    return True
