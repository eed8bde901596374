"""Arrangements within compiled steps: tables that grow by a batch a step, as those of `Arrangement` do.

An arrangement is a line of numbers. Its table has the batches of before the call, in the first `HELD` lines,
then those of the call's earlier steps, each more than twice as large as the next, and, if CURRENT is 1, the
current step's batch. An arrangement that enters a loop only has what it had before, and a batch that is
current in the first round.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import ADDRESS, COLUMNS, ROWS, layer, register, rows_at
from engine.kernels.magnitudes import mass
from engine.kernels.merge import FIELDS, WRITTEN, advance
from engine.kernels.stepping.arena import REFUSED, STATUS, keep, reserve

TABLE, PUBLISHED, HELD, BEFORE, CURRENT, WIDTH, DEPTH, DIFFS, STAGED, RESULT, SIZE, OWN, PASSED = range(13)
"""TABLE is an address; PUBLISHED, HELD and BEFORE are numbers of the table's lines. WIDTH is the number of
words of a row, DEPTH that of its rounds. STAGED counts the rows that the call's steps have added. RESULT is
the address of all of them as one batch, and SIZE its number of rows. OWN is 1 if the steps add rows. PASSED
counts the rows that readers of an ordered arrangement skipped."""
NUMBERS = 13
MOST_ADDED = 64
"""The lines that a call may add to a table: more than there are powers of two."""
LIGHT = 2.0**40
"""See `engine.operators.counts`."""


@njit(inline="always")
def lines(arrangements, place, count):
    """The first `count` lines of an arrangement's table."""
    return rows_at(arrangements[place, TABLE], count, COLUMNS)


@njit(inline="always")
def before(arrangements, place):
    """The table without the current step's batch."""
    return lines(arrangements, place, arrangements[place, BEFORE])


@njit(inline="always")
def after(arrangements, place):
    """The table with the current step's batch."""
    return lines(arrangements, place, arrangements[place, BEFORE] + arrangements[place, CURRENT])


@njit(inline="always")
def current(arrangements, place):
    """The current step's batch, which must exist."""
    return layer(after(arrangements, place), arrangements[place, BEFORE])


@kernel("void(int64[:,::1], int64, int64[:,::1], int64, int64, boolean)")
def describe(arrangements, place, table, published, lines, changes):
    """Begin the line of an arrangement: `lines` of its table, of which some are `published`, were there
    before the call; the next one is the current step's batch if it `changes`."""
    arrangements[place, TABLE] = table.ctypes.data
    arrangements[place, PUBLISHED] = published
    arrangements[place, HELD] = lines
    arrangements[place, BEFORE] = lines
    arrangements[place, CURRENT] = changes
    arrangements[place, STAGED] = 0
    arrangements[place, SIZE] = 0
    arrangements[place, PASSED] = 0


@njit
def open_table(arrangements, place, arena, state):
    """Copy the table of an arrangement that the call adds to, with room for what it adds."""
    old = after(arrangements, place)
    address = reserve(arena, state, (old.shape[0] + MOST_ADDED) * COLUMNS)
    if address != 0:
        new = rows_at(address, old.shape[0], COLUMNS)
        new[:] = old
        arrangements[place, TABLE] = address


@njit
def add(arrangements, place, batch, counts, masses, arena, state):
    """Make a batch the current step's. The call is refused if its counts are not light."""
    if batch.shape[0] == 0:
        return
    masses[place] += mass(counts)
    address = keep(arena, state, batch)
    if masses[place] >= LIGHT:
        state[STATUS] = REFUSED
    if state[STATUS] == REFUSED:
        return
    arrangements[place, CURRENT] = 1
    arrangements[place, STAGED] += batch.shape[0]
    kept = rows_at(address, batch.shape[0], batch.shape[1])
    register(after(arrangements, place), arrangements[place, BEFORE], kept)


@njit
def _merge_last(arrangements, place, arena, state):
    """Merge the last two batches of the table."""
    table = after(arrangements, place)
    last = table.shape[0] - 1
    left = layer(table, last - 1)
    right = layer(table, last)
    columns = left.shape[1]
    size = left.shape[0] + right.shape[0]
    address = reserve(arena, state, size * columns)
    if address == 0:
        return
    merged = rows_at(address, size, columns)
    progress = np.zeros(FIELDS, np.int64)
    width = arrangements[place, WIDTH] + arrangements[place, DEPTH]
    advance(left, right, merged, progress, width, 0, size, None)
    register(table, last - 1, rows_at(address, progress[WRITTEN], columns))
    arrangements[place, BEFORE] -= 1


@njit
def end_step(arrangements, place, arena, state):
    """End the current step: its batch joins those of earlier steps."""
    if arrangements[place, CURRENT] == 0:
        return
    if arrangements[place, OWN] == 1:
        table = after(arrangements, place)
        size = table[arrangements[place, BEFORE], ROWS]
        while arrangements[place, BEFORE] > arrangements[place, HELD]:
            at = arrangements[place, BEFORE]
            if table[at - 1, ROWS] > 2 * size:
                break
            _merge_last(arrangements, place, arena, state)
            if state[STATUS] == REFUSED:
                return
            size = table[at - 1, ROWS]
    arrangements[place, BEFORE] += 1
    arrangements[place, CURRENT] = 0


@njit
def close_table(arrangements, place, arena, state):
    """Add up what the call has added, if it has added anything: RESULT, of SIZE rows."""
    if arrangements[place, STAGED] == 0:
        return
    if arrangements[place, CURRENT] == 0:
        arrangements[place, BEFORE] -= 1
        arrangements[place, CURRENT] = 1
    while state[STATUS] != REFUSED and arrangements[place, BEFORE] > arrangements[place, HELD]:
        _merge_last(arrangements, place, arena, state)
    table = after(arrangements, place)
    arrangements[place, RESULT] = table[arrangements[place, HELD], ADDRESS]
    arrangements[place, SIZE] = table[arrangements[place, HELD], ROWS]
