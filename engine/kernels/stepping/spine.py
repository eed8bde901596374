"""Insertions of a few rows into traces by compiled code.

A trace (`engine.state.trace`) shares its table and a few numbers with compiled code, which inserts small
batches as the trace does. A batch is merged at once with the last ones as long as these are small. Larger
neighbours of similar size are merged some rows at a time, with every insertion; one merge is in progress at a
time, and readers see its two inputs until it ends. The results lie in a nursery, one after the other, where
nothing is overwritten; the trace takes them out when somebody asks for its layers. Everything else is left to
the trace: large batches, large neighbours of similar size, and its own merges in progress that are due.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import ADDRESS, COLUMNS, FORMAT, KEY, ROWS, SPREAD, WORD, matrix, register, rows_at
from engine.kernels.layers import WIDTH as ROW_WIDTH
from engine.kernels.merge import FIELDS, WRITTEN, advance

TABLE, ROOM, COUNT, LOOSE, SETTLED, SINCE, WIDTH, LOOKED_UP, UNPAID, PAYABLE = range(10)
MERGING, INTO, PROGRESS = range(10, 13)
FROM, TO, GONE = range(PROGRESS + FIELDS, PROGRESS + FIELDS + 3)
"""Numbers of a trace. TABLE is the table's address, ROOM its number of lines, of which COUNT count. From line
LOOSE on there are only batches that no merge of the trace is working on; it is PINNED if the next insertion
is the trace's. From line SETTLED on, batches are in a nursery; it is NOWHERE if none is. Epochs before SINCE
are one; WIDTH is the number of words and rounds, and LOOKED_UP that of the words that are looked up. UNPAID
counts the rows that were inserted here since the trace's merges in progress were paid for some, and may grow
to PAYABLE, which is NOTHING_OWED if there are none. MERGING is the line of the left one of two batches that
are being merged here, NOWHERE if none are; INTO is the address of the result, and from PROGRESS on stands how
far it is (`engine.kernels.merge`). FROM is the address of rows that are moving to another nursery, of which
GONE words are there, from TO on; 0 if none are moving."""
SPINE = GONE + 1
PINNED = NOTHING_OWED = np.iinfo(np.int64).max
NOWHERE = NO_ROOM = -1
AT_ONCE = 64
"""Merges of up to this many rows are done at once."""
MOST = 8192
"""Neighbours of similar size are merged by compiled code if they have up to this many rows together."""
EFFORT = 32
"""For each inserted row, a merge in progress goes on by this many rows."""


@njit(inline="always")
def _table(numbers):
    return rows_at(numbers[TABLE], numbers[ROOM], COLUMNS)


@njit
def _room(nursery, cursor, words):
    """The address of room for some words, which is not reserved; 0 if there is none."""
    if cursor[0] + words > nursery.shape[0]:
        return 0
    return nursery.ctypes.data + WORD * cursor[0]


@njit(inline="always")
def _joins(table, line, size):
    """Whether a batch is merged with so many rows at once. Few rows are narrow if most of a large batch have
    cancelled."""
    return table[line, ROWS] + size <= AT_ONCE and table[line, FORMAT] == 0


@njit
def _put(numbers, table, line, rows):
    """Write a batch into a line of the table."""
    register(table, line, rows)
    if numbers[LOOKED_UP] == SPREAD:
        table[line, KEY] = SPREAD


@njit
def _go_on(numbers, fuel):
    """Merge some rows more; once all are merged, the result takes the place of its inputs."""
    table, line = _table(numbers), numbers[MERGING]
    left, right = matrix(table, line), matrix(table, line + 1)
    columns = left.shape[1]
    merged = rows_at(numbers[INTO], left.shape[0] + right.shape[0], columns)
    progress = numbers[PROGRESS : PROGRESS + FIELDS]
    if not advance(left, right, merged, progress, numbers[WIDTH], numbers[SINCE], fuel, None):
        return
    gone = 2
    if progress[WRITTEN] > 0:
        _put(numbers, table, line, rows_at(numbers[INTO], progress[WRITTEN], columns))
        gone = 1
    for follows in range(line + 2, numbers[COUNT]):
        table[follows - gone] = table[follows]
    numbers[COUNT] -= gone
    numbers[SETTLED] = min(numbers[SETTLED], line)
    numbers[MERGING] = NOWHERE


@njit
def _begin(numbers, nursery, cursor):
    """Begin to merge the newest neighbours of similar size, if there are any. If they are not for compiled
    code, or there is no room for them, the next insertion is the trace's, which merges them."""
    table = _table(numbers)
    for line in range(numbers[COUNT] - 2, numbers[LOOSE] - 1, -1):
        if table[line, ROWS] > 2 * table[line + 1, ROWS]:
            continue
        together = table[line, ROWS] + table[line + 1, ROWS]
        words = together * table[line, ROW_WIDTH]
        address = _room(nursery, cursor, words)
        is_apart = line + 2 < numbers[SETTLED]  # a batch of the trace would come behind one in the nursery
        is_narrow = table[line, FORMAT] != 0 or table[line + 1, FORMAT] != 0
        if address == 0 or together > MOST or is_narrow or is_apart:
            numbers[LOOSE] = PINNED
            return
        cursor[0] += words
        numbers[MERGING] = line
        numbers[INTO] = address
        numbers[PROGRESS : PROGRESS + FIELDS] = 0
        return


@njit
def insert(numbers, batch, nursery, cursor):
    """Insert a batch; false if nothing was done, because there is no room or it is not for compiled code."""
    size, columns = batch.shape
    unpaid = numbers[UNPAID] + size
    last, first = numbers[COUNT], numbers[LOOSE]
    if first == PINNED or unpaid > numbers[PAYABLE] or last + 2 > numbers[ROOM]:
        return False
    if numbers[MERGING] != NOWHERE:
        first = numbers[MERGING] + 2
    address = _room(nursery, cursor, size * columns)
    if address == 0:
        return False
    rows = rows_at(address, size, columns)
    rows[:] = batch
    table = _table(numbers)
    while last > first and _joins(table, last - 1, rows.shape[0]):
        last -= 1
        cursor[0] += rows.shape[0] * columns
        most = table[last, ROWS] + rows.shape[0]
        address = _room(nursery, cursor, most * columns)
        if address == 0:
            return False
        progress = np.zeros(FIELDS, np.int64)
        merged = rows_at(address, most, columns)
        advance(matrix(table, last), rows, merged, progress, numbers[WIDTH], numbers[SINCE], most, None)
        rows = rows_at(address, progress[WRITTEN], columns)
    cursor[0] += rows.shape[0] * columns
    numbers[SETTLED] = last if numbers[SETTLED] == NOWHERE else min(numbers[SETTLED], last)
    if rows.shape[0] > 0:
        _put(numbers, table, last, rows)
        last += 1
    numbers[COUNT] = last
    numbers[UNPAID] = unpaid
    if numbers[MERGING] != NOWHERE:
        _go_on(numbers, EFFORT * size)
    if numbers[MERGING] == NOWHERE:
        _begin(numbers, nursery, cursor)
    return True


@kernel("void(int64[::1])")
def end_merge(numbers):
    """Merge the rest of what is being merged."""
    if numbers[MERGING] != NOWHERE:
        _go_on(numbers, MOST)


@njit
def _is_in(address, nursery):
    return 0 <= address - nursery.ctypes.data < WORD * nursery.shape[0]


@njit
def _stays(numbers, address, nursery):
    """Whether rows at an address are neither in a nursery nor moving there."""
    return address != numbers[FROM] and not _is_in(address, nursery)


@njit
def _move_on(numbers, address, words, room, nursery, cursor):
    """Go on moving rows at an address, until so many of their words are in a nursery, which has room; returns
    how many words that were. What has begun to move, and is not there any more, is forgotten."""
    if numbers[FROM] != address:
        numbers[FROM], numbers[TO], numbers[GONE] = address, _room(nursery, cursor, room), 0
        cursor[0] += room
    done = WORD * numbers[GONE]
    count = words - numbers[GONE]
    rows_at(numbers[TO] + done, 1, count)[:] = rows_at(address + done, 1, count)
    numbers[GONE] = words
    return count


@njit
def _gone(numbers, address):
    """How many words of rows at an address have moved already."""
    return numbers[GONE] if numbers[FROM] == address else 0


@kernel("int64(int64[::1], int64[::1], int64[::1], int64, int64)")
def move(numbers, nursery, cursor, most, fuel):
    """Move batches of a trace, and what is being merged, from an older nursery to another one, until about
    `fuel` words are moved. Returns what is left of the fuel, 0 if there is more to move, or NO_ROOM if more
    than `most` words of the nursery would be taken."""
    first, count, merging = numbers[SETTLED], numbers[COUNT], numbers[MERGING]
    if first == NOWHERE:
        return fuel
    table = _table(numbers)
    words = room = 0
    for line in range(first, count):
        if _stays(numbers, table[line, ADDRESS], nursery):
            words += table[line, ROWS] * table[line, ROW_WIDTH]
    if merging != NOWHERE:
        room = (table[merging, ROWS] + table[merging + 1, ROWS]) * table[merging, ROW_WIDTH]
        words += room if _stays(numbers, numbers[INTO], nursery) else 0
    if cursor[0] + words > most:
        return NO_ROOM
    for line in range(first, count):
        address, size = table[line, ADDRESS], table[line, ROWS] * table[line, ROW_WIDTH]
        if _is_in(address, nursery):
            continue
        goal = min(size, _gone(numbers, address) + fuel)
        fuel -= _move_on(numbers, address, goal, size, nursery, cursor)
        if goal < size:
            return 0
        table[line, ADDRESS] = numbers[TO]
    if merging != NOWHERE and not _is_in(numbers[INTO], nursery):
        columns = table[merging, ROW_WIDTH]
        written = numbers[PROGRESS + WRITTEN] * columns
        goal = _gone(numbers, numbers[INTO]) + fuel
        if goal + columns < written:  # the last row may still be added to
            _move_on(numbers, numbers[INTO], goal, room, nursery, cursor)
            return 0
        fuel -= _move_on(numbers, numbers[INTO], written, room, nursery, cursor)
        numbers[INTO] = numbers[TO]
    numbers[FROM] = 0
    return max(fuel, 1)
