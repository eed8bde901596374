"""Where compiled steps put their matrices: one array, filled from its beginning, and forgotten as a whole.

A matrix in the arena is known by its address, its lines and its columns. Work that waits for a round is
listed in `waiting`, as it came; its first `state[WAITS]` lines count.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import WORD, rows_at

STATUS, CURSOR, WAITS, ENTERS, LIMIT, MOST_ROUNDS, MOST_STAGED, PLACE, ROUNDS, LEAVING, WORDS = range(11)
CURRENT_ROUND, HEAD, TAIL, ANSWER, ELAPSED = range(11, 16)
"""Fields of the state. CURSOR is the next free word of the arena. ENTERS is 1 if round 0 has work that does
not wait. No round from LIMIT - 1 on is run, at most MOST_ROUNDS are, and none once more than MOST_STAGED rows
were added. PLACE is that of the operator to run next, NOTHING between two rounds. ROUNDS counts the rounds
begun, LEAVING the parts of what leaves the loop, and WORDS those of all deltas. In the outermost scope, HEAD
is the number of operators that have run, TAIL that of those that changes have reached, ANSWER says what
Python has done, and ELAPSED is the time to be divided among the operators, 0 if nobody has measured it."""
STATE = 16

# Values of STATUS.
RUNNING = 0
DONE = 1
STOPPED = 2
"""Between two rounds, where other code can go on."""
REFUSED = 3
"""Within a round: the call has to be forgotten."""
ASKING = 4
"""Within a round: an operator is Python's."""

ROUND, READER, ADDRESS, LINES, COLUMNS = range(5)
"""Columns of a line of `waiting`: a matrix that an operator reads in a round."""
WAITING = 5


@njit
def reserve(run, words):
    """The address of room for some words. If there is none, the call is refused, and the address is 0."""
    first = run.state[CURSOR]
    if first + words > run.arena.shape[0]:
        run.state[STATUS] = REFUSED
        return 0
    run.state[CURSOR] = first + words
    return run.arena.ctypes.data + first * WORD


@njit
def keep(run, matrix):
    """The address of a copy of a matrix, 0 if there is no room for it."""
    lines, columns = matrix.shape
    address = reserve(run, lines * columns)
    if address != 0:
        kept = rows_at(address, lines, columns)
        for i in range(lines):
            for c in range(columns):
                kept[i, c] = matrix[i, c]
    return address


@njit
def put(run, current, reader, address, lines, columns):
    """List a matrix that `reader` reads in round `current`. If the list is full, the call is refused."""
    place = run.state[WAITS]
    if address == 0 or place == run.waiting.shape[0]:
        run.state[STATUS] = REFUSED
        return
    run.waiting[place, ROUND] = current
    run.waiting[place, READER] = reader
    run.waiting[place, ADDRESS] = address
    run.waiting[place, LINES] = lines
    run.waiting[place, COLUMNS] = columns
    run.state[WAITS] = place + 1


@njit
def least_round(run):
    """The least round for which something waits, -1 if nothing does."""
    least = -1
    for i in range(run.state[WAITS]):
        if least < 0 or run.waiting[i, ROUND] < least:
            least = run.waiting[i, ROUND]
    return least


@njit
def take(run, reader):
    """Move the lines of what `reader` reads in the current round from `waiting` to `taken`; returns their
    number."""
    waiting = run.waiting
    found = 0
    rest = 0
    for i in range(run.state[WAITS]):
        if waiting[i, ROUND] == run.state[CURRENT_ROUND] and waiting[i, READER] == reader:
            for c in range(WAITING):
                run.taken[found, c] = waiting[i, c]
            found += 1
        else:
            if rest < i:
                for c in range(WAITING):
                    waiting[rest, c] = waiting[i, c]
            rest += 1
    run.state[WAITS] = rest
    return found


@njit
def side_by_side(run, found):
    """The deltas in the first `found` lines of `taken` as one: its address, lines and columns."""
    if found == 0:
        return 0, 0, 0
    taken = run.taken
    lines = taken[0, LINES]
    if found == 1:
        return taken[0, ADDRESS], lines, taken[0, COLUMNS]
    columns = 0
    for i in range(found):
        columns += taken[i, COLUMNS]
    address = reserve(run, lines * columns)
    if address == 0:
        return 0, 0, 0
    whole = rows_at(address, lines, columns)
    at = 0
    for i in range(found):
        part = rows_at(taken[i, ADDRESS], lines, taken[i, COLUMNS])
        for w in range(lines):
            for c in range(part.shape[1]):
                whole[w, at + c] = part[w, c]
        at += part.shape[1]
    return address, lines, columns


@njit
def below_each_other(run, found):
    """The keys in the first `found` lines of `taken` as one matrix: its address and lines."""
    if found == 0:
        return 0, 0
    taken = run.taken
    lines = 0
    for i in range(found):
        lines += taken[i, LINES]
    if found == 1:
        return taken[0, ADDRESS], lines
    columns = taken[0, COLUMNS]
    address = reserve(run, lines * columns)
    if address == 0:
        return 0, 0
    whole = rows_at(address, lines, columns)
    at = 0
    for i in range(found):
        part = rows_at(taken[i, ADDRESS], taken[i, LINES], columns)
        for k in range(part.shape[0]):
            for c in range(columns):
                whole[at, c] = part[k, c]
            at += 1
    return address, lines


@kernel("int64(int64[:,::1])")
def address_of(matrix):
    """The address of a matrix; the caller keeps it alive."""
    return matrix.ctypes.data


@kernel("int64[:,::1](int64, int64, int64)")
def copied(address, lines, columns):
    """A copy of the matrix at an address."""
    return rows_at(address, lines, columns).copy()
