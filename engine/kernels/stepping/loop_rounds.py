"""The rounds of a loop in one call, or in a few if some of its operators are Python's.

The operators' arithmetic is that of their kernels; here is only who reads what. A call changes nothing but
its own arrays, so that it can be forgotten: if it is refused, the steps that Python runs say why.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import uncounted
from engine.kernels.stepping.arena import (
    ADDRESS,
    ASKING,
    COLUMNS,
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
    WORDS,
    Stepping,
    least_round,
    side_by_side,
)
from engine.kernels.stepping.keyed_steps import step_arrangement, step_join, step_reduce
from engine.kernels.stepping.linear_steps import (
    put_out,
    step_changes,
    step_concat,
    step_linear,
    step_variable,
)
from engine.kernels.stepping.opcodes import (
    ARRANGE,
    ARRANGE_ORDERED,
    ARRANGE_SUMS,
    CHANGES,
    CONCAT,
    ENTERED,
    JOIN,
    LEFT,
    NOTHING,
    OPERATION,
    PYTHON,
    REDUCE_SUMS,
    THRESHOLD,
    TOP,
    VARIABLE,
)
from engine.kernels.stepping.tables import (
    MADE,
    OUT,
    OUT_COLUMNS,
    OUT_LINES,
    OWN,
    STAGED,
    close_table,
    end_step,
    open_table,
)

VALUE, FED_BACK, LEFT_AT, LEFT_LINES, LEFT_COLUMNS = range(5)
"""Columns of a line of `bindings`: the places of the value and of the variable; and what leaves, a delta."""
BINDING = 5


@njit
def _operate(run, place):
    """Run the operator at a place, which sets what it gives out."""
    operation = run.code[place, OPERATION]
    if operation == VARIABLE:
        step_variable(run, place)
    elif operation == ENTERED:
        if run.rounds[0] > 0:
            end_step(run, place)
    elif operation == CHANGES:
        step_changes(run, place)
    elif operation in (ARRANGE, ARRANGE_SUMS, ARRANGE_ORDERED):
        step_arrangement(run, place)
    elif operation == JOIN:
        step_join(run, place)
    elif operation == CONCAT:
        step_concat(run, place)
    elif operation in (THRESHOLD, REDUCE_SUMS, TOP):
        step_reduce(run, place)
    elif operation == PYTHON:
        run.operators[place, OUT_COLUMNS] = 0
        if run.operators[run.code[place, LEFT], OUT_COLUMNS] > 0:
            run.state[STATUS] = ASKING
    else:
        step_linear(run, place)


@njit
def _step(run):
    """Run the operators of the round that have not run yet, in order, as long as the call runs."""
    while run.state[PLACE] < run.code.shape[0]:
        place = run.state[PLACE]
        _operate(run, place)
        if run.state[STATUS] != RUNNING:
            return
        line = run.operators[place]
        line[MADE] += line[OUT_COLUMNS]
        run.state[WORDS] += line[OUT_LINES] * line[OUT_COLUMNS]
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
            put_out(run, run.rounds[0] + 1, bindings[b, FED_BACK], bindings[b, VALUE])


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
    run.rounds[0] = following
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


@kernel(
    "void(int64[:,::1], int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[:,::1], "
    "int64[:,::1], int64[::1], int64[::1])"
)
def run_rounds(code, constants, operators, bindings, left, rounds, waiting, taken, arena, state):
    """Run rounds of a loop until nothing waits, the call has to stop, or an operator is Python's. The next
    call begins behind that operator, and expects its delta in its line.

    `bindings` [b, BINDING] says what is fed back, and gets what leaves the loop, whose parts are listed in
    `left` [MOST_ROUNDS * b, 3]. The other arrays are those of `Stepping`.
    """
    bindings, left, state = uncounted(bindings), uncounted(left), uncounted(state)
    run = Stepping(
        uncounted(code),
        uncounted(constants),
        uncounted(operators),
        uncounted(rounds),
        uncounted(waiting),
        uncounted(taken),
        uncounted(arena),
        state,
    )
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
