"""Where compiled steps put their matrices: one array, filled from its beginning, and forgotten as a whole.

A matrix in the arena is known by its address, its lines and its columns. Work that waits for a round is
listed in `waiting`, int64[w, WAITING], as it came; its first `state[WAITS]` lines count.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import WORD, rows_at

# Fields of the state of a call.
STATUS, CURSOR, WAITS = range(3)

# Values of STATUS.
RUNNING = 0
DONE = 1
STOPPED = 2
"""Between two rounds, where other code can go on."""
REFUSED = 3
"""Within a round: the call has to be forgotten."""
ASKING = 4
"""Within a round: an operator is Python's."""

# Columns of a line of `waiting`: a matrix that an operator reads in a round.
ROUND, READER, ADDRESS, LINES, COLUMNS = range(5)
WAITING = 5


@njit
def reserve(arena, state, words):
    """The address of room for some words. If there is none, the call is refused, and the address is 0."""
    first = state[CURSOR]
    if first + words > arena.shape[0]:
        state[STATUS] = REFUSED
        return 0
    state[CURSOR] = first + words
    return arena.ctypes.data + first * WORD


@njit
def keep(arena, state, matrix):
    """The address of a copy of a matrix, 0 if there is no room for it."""
    lines, columns = matrix.shape
    address = reserve(arena, state, lines * columns)
    if address != 0:
        kept = rows_at(address, lines, columns)
        for i in range(lines):
            for c in range(columns):
                kept[i, c] = matrix[i, c]
    return address


@njit
def put(waiting, state, current, reader, address, lines, columns):
    """List a matrix that `reader` reads in round `current`. If the list is full, the call is refused."""
    place = state[WAITS]
    if address == 0 or place == waiting.shape[0]:
        state[STATUS] = REFUSED
        return
    waiting[place, ROUND] = current
    waiting[place, READER] = reader
    waiting[place, ADDRESS] = address
    waiting[place, LINES] = lines
    waiting[place, COLUMNS] = columns
    state[WAITS] = place + 1


@njit
def least_round(waiting, state):
    """The least round for which something waits, -1 if nothing does."""
    least = -1
    for i in range(state[WAITS]):
        if least < 0 or waiting[i, ROUND] < least:
            least = waiting[i, ROUND]
    return least


@njit
def take(waiting, state, current, reader, taken):
    """Move the lines of what `reader` reads in round `current` from `waiting` to `taken`; returns their
    number."""
    found = 0
    rest = 0
    for i in range(state[WAITS]):
        if waiting[i, ROUND] == current and waiting[i, READER] == reader:
            for c in range(WAITING):
                taken[found, c] = waiting[i, c]
            found += 1
        else:
            if rest < i:
                for c in range(WAITING):
                    waiting[rest, c] = waiting[i, c]
            rest += 1
    state[WAITS] = rest
    return found


@njit
def side_by_side(arena, state, taken, found):
    """The deltas in the first `found` lines of `taken` as one: its address, lines and columns."""
    if found == 0:
        return 0, 0, 0
    lines = taken[0, LINES]
    if found == 1:
        return taken[0, ADDRESS], lines, taken[0, COLUMNS]
    columns = 0
    for i in range(found):
        columns += taken[i, COLUMNS]
    address = reserve(arena, state, lines * columns)
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
def below_each_other(arena, state, taken, found):
    """The keys in the first `found` lines of `taken` as one matrix: its address, lines and columns."""
    if found == 0:
        return 0, 0, 0
    lines = 0
    for i in range(found):
        lines += taken[i, LINES]
    columns = taken[0, COLUMNS]
    if found == 1:
        return taken[0, ADDRESS], lines, columns
    address = reserve(arena, state, lines * columns)
    if address == 0:
        return 0, 0, 0
    whole = rows_at(address, lines, columns)
    at = 0
    for i in range(found):
        part = rows_at(taken[i, ADDRESS], taken[i, LINES], columns)
        for k in range(part.shape[0]):
            for c in range(columns):
                whole[at, c] = part[k, c]
            at += 1
    return address, lines, columns


@kernel("int64(int64[:,::1])")
def address_of(matrix):
    """The address of a matrix; the caller keeps it alive."""
    return matrix.ctypes.data


@kernel("int64[:,::1](int64, int64, int64)")
def copied(address, lines, columns):
    """A copy of the matrix at an address."""
    return rows_at(address, lines, columns).copy()
