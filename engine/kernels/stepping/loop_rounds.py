"""The rounds of a loop in one call, or in a few if some of its operators are Python's.

The operators' arithmetic is that of their kernels; here is only who reads what. A call changes nothing but
its own arrays, so that it can be forgotten: if it is refused, the steps that Python runs say why.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.stepping.arena import (
    ADDRESS,
    COLUMNS,
    CURRENT_ROUND,
    CURSOR,
    DONE,
    ENTERS,
    LEAVING,
    LIMIT,
    LINES,
    MOST_ROUNDS,
    MOST_STAGED,
    PLACE,
    ROUNDS,
    RUNNING,
    STATUS,
    STOPPED,
    WAITS,
    least_round,
    side_by_side,
)
from engine.kernels.stepping.linear_steps import put_out
from engine.kernels.stepping.opcodes import NOTHING
from engine.kernels.stepping.stepping_type import NAMED, matrix_of, stepping_at
from engine.kernels.stepping.tables import (
    MADE,
    OUT,
    OUT_COLUMNS,
    OUT_LINES,
    OWN,
    STAGED,
    close_table,
    open_table,
)
from engine.kernels.stepping.turn import take_turn

VALUE, FED_BACK, LEFT_AT, LEFT_LINES, LEFT_COLUMNS = range(5)
"""Columns of a line of `bindings`: the places of the value and of the variable; and what leaves, a delta."""
BINDING = 5
BINDINGS, PARTS = range(NAMED, NAMED + 2)
"""Lines of a call's table of arrays behind those that have names (`stepping_type`): `bindings` [b, BINDING]
says what is fed back, and gets what leaves the loop, whose parts are listed in [MOST_ROUNDS * b, 3]."""


@njit
def _step(run):
    """Run the operators of the round that have not run yet, in order, as long as the call runs."""
    while run.state[PLACE] < run.code.shape[0]:
        take_turn(run, run.state[PLACE])
        if run.state[STATUS] != RUNNING:
            return
        run.state[PLACE] += 1


@njit
def _feed_back(run, bindings, left):
    """The changes of values leave the loop, and are those of variables in the next round."""
    for b in range(bindings.shape[0]):
        line = run.operators[bindings[b, VALUE]]
        if line[OUT_COLUMNS] == 0:
            continue
        part = left[run.state[LEAVING]]
        part[0] = b
        part[1] = line[OUT]
        part[2] = line[OUT_COLUMNS]
        run.state[LEAVING] += 1
        bindings[b, LEFT_LINES] = line[OUT_LINES]
        if bindings[b, FED_BACK] != NOTHING:
            put_out(run, run.state[CURRENT_ROUND] + 1, bindings[b, FED_BACK], bindings[b, VALUE])


@njit
def _leave(run, bindings, left):
    """Put together what leaves the loop."""
    for b in range(bindings.shape[0]):
        found = 0
        for i in range(run.state[LEAVING]):
            if left[i, 0] == b:
                run.taken[found, ADDRESS] = left[i, 1]
                run.taken[found, LINES] = bindings[b, LEFT_LINES]
                run.taken[found, COLUMNS] = left[i, 2]
                found += 1
        address, _, columns = side_by_side(run, found)
        bindings[b, LEFT_AT] = address
        bindings[b, LEFT_COLUMNS] = columns


@njit
def _begin_round(run):
    """Begin the next round if there is one; otherwise the call is done, or stops between rounds."""
    state = run.state
    following = 0 if state[ENTERS] == 1 else least_round(run)
    if following < 0:
        state[STATUS] = DONE
        return
    staged = 0
    for place in range(run.operators.shape[0]):
        staged += run.operators[place, STAGED]
    if (
        staged > state[MOST_STAGED]
        or following + 1 >= state[LIMIT]
        or state[ROUNDS] == state[MOST_ROUNDS]
        or 2 * state[CURSOR] > run.arena.shape[0]
        or 2 * state[WAITS] > run.waiting.shape[0]
    ):
        state[STATUS] = STOPPED
        return
    state[CURRENT_ROUND] = following
    state[ENTERS] = 0
    state[ROUNDS] += 1
    state[PLACE] = 0


@kernel("void(int64[::1], boolean, int64, int64, int64, int64)")
def begin(state, enters, limit, most_rounds, most_staged, waits):
    """The state before the first call; the first `waits` lines of what waits are there."""
    state[:] = 0
    state[ENTERS] = enters
    state[LIMIT] = limit
    state[MOST_ROUNDS] = most_rounds
    state[MOST_STAGED] = most_staged
    state[WAITS] = waits
    state[PLACE] = NOTHING


@kernel("void(int64[:,::1])")
def run_rounds(arrays):
    """Run rounds of a loop until nothing waits, the call has to stop, or an operator is Python's. The next
    call begins behind that operator, and expects its delta in its line. `arrays` is the table of the call's
    arrays."""
    run = stepping_at(arrays.ctypes.data)  # type: ignore[call-arg, var-annotated]
    code, state = run.code, run.state
    bindings, left = matrix_of(run, BINDINGS), matrix_of(run, PARTS)
    if state[ROUNDS] == 0:
        for place in range(code.shape[0]):
            run.operators[place, MADE] = 0
            if run.operators[place, OWN] == 1:
                open_table(run, place)
    while state[STATUS] == RUNNING:
        if state[PLACE] == NOTHING:
            _begin_round(run)
        if state[STATUS] != RUNNING:
            break
        _step(run)
        if state[STATUS] == RUNNING:
            _feed_back(run, bindings, left)
            state[PLACE] = NOTHING
    if state[STATUS] not in (DONE, STOPPED):
        return
    for place in range(code.shape[0]):
        if run.operators[place, OWN] == 1:
            close_table(run, place)
    _leave(run, bindings, left)
