"""Cursors: reading a group's rows from many batches together, in order, forward or backward.

A cursor is a line of an int64 matrix: the number of a batch, its next row, the row at which the group ends in
this direction, and the next row's first word after the key, which decides most comparisons.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.layers import layer, uncounted
from engine.kernels.lookup import find_ranges

BATCH, NEXT, END, HEAD, CURSOR = range(5)


class Group(NamedTuple):
    """The groups of some keys: their table with `old` published batches, the groups' rows in each batch, the
    number of words of a key, the codes of all words (see `coding`), the dictionary, and room for cursors.

    The arrays here, and in the other records of kernels, have no counts of references (see `uncounted`);
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
    order: Any


@njit
def groups_of(keys, table, old, codes, texts):
    """The groups of sorted, distinct `keys` [m, P], and the arrays that have to be kept alive."""
    lows, highs = find_ranges(table, keys)
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    order = np.empty(table.shape[0], np.int64)
    group = Group(
        uncounted(table),
        old,
        uncounted(lows),
        uncounted(highs),
        keys.shape[1],
        uncounted(codes),
        texts,
        uncounted(cursors),
        uncounted(order),
    )
    return group, (lows, highs, cursors, order)


@njit
def keep_alive(_owned):
    """Does nothing, behind the last use of records whose arrays are `_owned`."""


@njit(inline="always")
def compare_rows(group, a, i, b, j, width):
    """-1, 0 or 1: row i of `a` against row j of `b` in the first `width` words of the groups' rows."""
    return compare_coded(group.codes, group.texts.ends, group.texts.arena, a, i, b, j, width)


@njit(inline="always")
def is_row(batch, i, other, j, key, width):
    """Whether two rows of a group are the same."""
    for w in range(key, width):
        if batch[i, w] != other[j, w]:
            return False
    return True


@njit(inline="always")
def _move(group, c, batch, row):
    """Move cursor c to a row of its batch."""
    group.cursors[c, NEXT] = row
    group.cursors[c, HEAD] = batch[row, group.key] if group.key < group.codes.shape[0] else 0


@njit(inline="always")
def _put(group, count, index, first, end):
    """Put a cursor on row `first` of a batch, unless it is the end; returns the number of cursors."""
    if first == end:
        return count
    group.cursors[count, BATCH] = index
    group.cursors[count, END] = end
    _move(group, count, layer(group.table, index), first)
    return count + 1


@njit
def put_all(group, m):
    """Put cursors on all rows of group m, to be read forward; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group, count, index, group.lows[index, m], group.highs[index, m])
    return count


@njit
def put_forward(group, m, places, highs):
    """Put cursors on the rows from `places` on, up to `highs` of group m; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group, count, index, places[index], max(places[index], highs[index, m]))
    return count


@njit
def put_stretch(group, m, places):
    """Put cursors on the rows before `places`, to be read forward; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group, count, index, group.lows[index, m], places[index])
    return count


@njit
def put_backward(group, m, places):
    """Put cursors on the rows before `places`, to be read backward; returns their number."""
    count = 0
    for index in range(group.table.shape[0]):
        count = _put(group, count, index, places[index] - 1, group.lows[index, m] - 1)
    return count


@njit(forceinline=True)  # a call would hand over all arrays of the group
def foremost(group, count, direction):
    """The cursor on the next row in the direction, 1 or -1; -1 if there is none.

    The group's `order` becomes 0 for the cursors on that row, and another number for others.
    """
    if count == 0:
        return -1
    cursors, order, width = group.cursors, group.order, group.codes.shape[0]
    best = 0
    order[0] = 0
    for c in range(1, count):
        x = cursors[c, HEAD]
        y = cursors[best, HEAD]
        order[c] = direction * (int(x > y) - int(x < y))
        if x == y and group.key + 1 < width:
            left, right = layer(group.table, cursors[c, BATCH]), layer(group.table, cursors[best, BATCH])
            i, j = cursors[c, NEXT], cursors[best, NEXT]
            order[c] = direction * compare_rows(group, left, i, right, j, width)
        if order[c] < 0:
            for b in range(best, c):
                order[b] = 1
            order[c] = 0
            best = c
    return best


@njit(inline="always")
def advance_cursor(group, count, c, batch, row):
    """Move cursor c on to a row of its batch; at its end it goes behind the cursors that are left.

    Returns their number. Whoever moves several cursors begins with the last one.
    """
    cursors = group.cursors
    if row != cursors[c, END]:
        _move(group, c, batch, row)
        return count
    cursors[c, NEXT] = row
    count -= 1
    for field in range(CURSOR):
        cursors[c, field], cursors[count, field] = cursors[count, field], cursors[c, field]
    return count
