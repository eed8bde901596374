"""Insertions of a few rows into traces by compiled code.

A trace (`engine.state.trace`) shares its table and a few numbers with compiled code, which inserts small
batches as the trace does: it merges them at once with the last batches, as long as these are small. The
results lie in a nursery, one after the other, where nothing is overwritten; the trace takes them out when
somebody asks for its layers. Everything else is left to the trace: large batches, large neighbours of similar
size, and merges in progress that are due.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.layers import COLUMNS, FORMAT, KEY, ROWS, SPREAD, matrix, register, rows_at
from engine.kernels.merge import FIELDS, WRITTEN, advance

TABLE, ROOM, COUNT, LOOSE, SETTLED, SINCE, WIDTH, LOOKED_UP, UNPAID, PAYABLE = range(10)
"""Numbers of a trace. TABLE is the table's address, ROOM its number of lines, of which COUNT count. From line
LOOSE on there are only batches that no merge is working on; it is PINNED if compiled code must not insert.
From line SETTLED on, batches are in a nursery; it is ALL if none is. Epochs before SINCE are one; WIDTH is
the number of words and rounds, and LOOKED_UP that of the words that are looked up. UNPAID counts the rows
that were inserted here since merges in progress were paid for some, and may grow to PAYABLE."""
SPINE = 10
PINNED = np.iinfo(np.int64).max
ALL = -1
AT_ONCE = 128
"""Merges of up to this many rows are done at once."""
IN_A_CALL = 2048
"""Neighbours of similar size are merged by compiled code if they have up to this many rows together."""


@njit
def _room(nursery, cursor, words):
    """The address of room for some words, which is not reserved; 0 if there is none."""
    if cursor[0] + words > nursery.shape[0]:
        return 0
    return nursery.ctypes.data + 8 * cursor[0]


@njit(inline="always")
def _joins(last, size):
    """Whether a batch of a size is merged with the last one at once."""
    together = last + size
    return together <= AT_ONCE or (last <= 2 * size and together <= IN_A_CALL)


@njit
def insert(numbers, batch, nursery, cursor):
    """Insert a batch; false if nothing was done, because there is no room or it is not for compiled code."""
    columns = batch.shape[1]
    loose, last = numbers[LOOSE], numbers[COUNT]
    size = batch.shape[0]
    unpaid = numbers[UNPAID] + size
    if loose == PINNED or unpaid > numbers[PAYABLE] or last + 2 > numbers[ROOM]:
        return False
    table = rows_at(numbers[TABLE], numbers[ROOM], COLUMNS)
    rows = batch
    if last == loose or not _joins(table[last - 1, ROWS], size):
        address = _room(nursery, cursor, size * columns)
        if address == 0:
            return False
        rows = rows_at(address, size, columns)
        rows[:] = batch
        cursor[0] += size * columns
    while last > loose and _joins(table[last - 1, ROWS], size):
        most = table[last - 1, ROWS] + size
        address = _room(nursery, cursor, most * columns)
        if address == 0 or table[last - 1, FORMAT] != 0:
            return False
        progress = np.zeros(FIELDS, np.int64)
        merged = rows_at(address, most, columns)
        advance(matrix(table, last - 1), rows, merged, progress, numbers[WIDTH], numbers[SINCE], most, None)
        size = progress[WRITTEN]
        rows = rows_at(address, size, columns)
        cursor[0] += size * columns
        last -= 1
    if last > loose and table[last - 1, ROWS] <= 2 * size:
        return False
    if numbers[SETTLED] == ALL or numbers[SETTLED] > last:
        numbers[SETTLED] = last
    if size > 0:
        register(table, last, rows)
        if numbers[LOOKED_UP] == SPREAD:
            table[last, KEY] = SPREAD
        last += 1
    numbers[COUNT] = last
    numbers[UNPAID] = unpaid
    return True
