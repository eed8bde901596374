"""What changes of operators within compiled steps: their deltas, and the tables of arrangements.

A table grows by a batch a step, as that of `Arrangement` does: it has the batches of before the call, in the
first `HELD` lines, then those of the call's earlier steps, each more than twice as large as the next, and, if
CURRENT is 1, the current step's batch. An arrangement that enters a loop only has what it had before, and a
batch that is current in the first round.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import ADDRESS, COLUMNS, ROWS, matrix, register, rows_at
from engine.kernels.magnitudes import mass
from engine.kernels.merge import FIELDS, WRITTEN, advance
from engine.kernels.stepping.arena import REFUSED, STATUS, keep, reserve

OUT, OUT_LINES, OUT_COLUMNS, MADE = range(4)
"""The first columns of an operator's line: its delta of the step, and how many differences it has made."""
TABLE, PUBLISHED, HELD, BEFORE, CURRENT, WIDTH, DEPTH, DIFFS, STAGED, MASS, RESULT, SIZE, PASSED, OWN = range(
    4, 18
)
SPINE_AT, TOTAL, TOTAL_MASS, NANOSECONDS = range(18, 22)
"""The other columns, for arrangements. TABLE is an address; PUBLISHED, HELD and BEFORE are numbers of the
table's lines. WIDTH is the number of words of a row, DEPTH that of its rounds. STAGED counts the rows that
the call's steps have added, and MASS is at least the magnitude of their counts. RESULT is the address of all
of them as one batch, and SIZE its number of rows. PASSED counts the rows that readers of an ordered
arrangement skipped. OWN is 1 if the steps add rows. In the outermost scope, SPINE_AT is the address of a
trace's numbers (`spine`), 0 for other operators, TOTAL and TOTAL_MASS are what
MADE and MASS were in all steps that were published, and NANOSECONDS is the time of those that were measured.
"""
NUMBERS = 22
MOST_ADDED = 64
"""The lines that a call may add to a table: more than there are powers of two."""
LIGHT = 1 << 40
"""See `engine.operators.counts`."""
MOST_MASS = 1 << 60
"""The most that compiled steps of the outermost scope add to an arrangement without a look."""


@kernel("void(int64[:,::1], int64, int64[:,::1], int64, int64, boolean)")
def describe(operators, place, table, published, lines, changes):
    """Begin the line of an arrangement: `lines` of its table, of which some are `published`, were there
    before the call; the next one is the current step's batch if it `changes`."""
    operators[place, TABLE] = table.ctypes.data
    operators[place, PUBLISHED] = published
    operators[place, HELD] = lines
    operators[place, BEFORE] = lines
    operators[place, CURRENT] = changes
    operators[place, STAGED] = 0
    operators[place, MASS] = 0
    operators[place, SIZE] = 0
    operators[place, PASSED] = 0


@njit(inline="always")
def before(run, place):
    """The table without the current step's batch."""
    return rows_at(run.operators[place, TABLE], run.operators[place, BEFORE], COLUMNS)


@njit(inline="always")
def after(run, place):
    """The table with the current step's batch."""
    count = run.operators[place, BEFORE] + run.operators[place, CURRENT]
    return rows_at(run.operators[place, TABLE], count, COLUMNS)


@njit(inline="always")
def current(run, place):
    """The current step's batch, which must exist."""
    return matrix(after(run, place), run.operators[place, BEFORE])


@njit
def open_table(run, place):
    """Copy the table of an arrangement that the call adds to, with room for what it adds."""
    old = after(run, place)
    address = reserve(run, (old.shape[0] + MOST_ADDED) * COLUMNS)
    if address != 0:
        new = rows_at(address, old.shape[0], COLUMNS)
        new[:] = old
        run.operators[place, TABLE] = address


@njit
def add(run, place, batch, counts):
    """Make a batch the current step's. The call is refused if its counts are not light."""
    if batch.shape[0] == 0:
        return
    operators = run.operators
    added = mass(counts)
    address = keep(run, batch)
    if added + operators[place, MASS] >= LIGHT or operators[place, TOTAL_MASS] >= MOST_MASS:
        run.state[STATUS] = REFUSED
    if run.state[STATUS] == REFUSED:
        return
    operators[place, MASS] += np.int64(added)
    operators[place, CURRENT] = 1
    operators[place, STAGED] += batch.shape[0]
    kept = rows_at(address, batch.shape[0], batch.shape[1])
    register(after(run, place), operators[place, BEFORE], kept)


@njit
def _merge_last(run, place):
    """Merge the last two batches of the table."""
    operators = run.operators
    table = after(run, place)
    last = table.shape[0] - 1
    left = matrix(table, last - 1)
    right = matrix(table, last)
    columns = left.shape[1]
    size = left.shape[0] + right.shape[0]
    address = reserve(run, size * columns)
    if address == 0:
        return
    merged = rows_at(address, size, columns)
    progress = np.zeros(FIELDS, np.int64)
    width = operators[place, WIDTH] + operators[place, DEPTH]
    advance(left, right, merged, progress, width, 0, size, None)
    register(table, last - 1, rows_at(address, progress[WRITTEN], columns))
    operators[place, BEFORE] -= 1


@njit
def end_step(run, place):
    """End the current step: its batch joins those of earlier steps."""
    operators = run.operators
    if operators[place, CURRENT] == 0:
        return
    if operators[place, OWN] == 1:
        table = after(run, place)
        size = table[operators[place, BEFORE], ROWS]
        while operators[place, BEFORE] > operators[place, HELD]:
            at = operators[place, BEFORE]
            if table[at - 1, ROWS] > 2 * size:
                break
            _merge_last(run, place)
            if run.state[STATUS] == REFUSED:
                return
            size = table[at - 1, ROWS]
    operators[place, BEFORE] += 1
    operators[place, CURRENT] = 0


@njit
def close_table(run, place):
    """Add up what the call has added, if it has added anything: RESULT, of SIZE rows."""
    operators = run.operators
    if operators[place, STAGED] == 0:
        return
    if operators[place, CURRENT] == 0:
        operators[place, BEFORE] -= 1
        operators[place, CURRENT] = 1
    while run.state[STATUS] != REFUSED and operators[place, BEFORE] > operators[place, HELD]:
        _merge_last(run, place)
    table = after(run, place)
    operators[place, RESULT] = table[operators[place, HELD], ADDRESS]
    operators[place, SIZE] = table[operators[place, HELD], ROWS]
