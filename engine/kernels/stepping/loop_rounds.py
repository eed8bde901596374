"""The rounds of a loop in one call, or in a few if some of its operators are Python's.

The operators' arithmetic is that of their kernels; here is only who reads what. A call changes nothing but
its own arrays, so that it can be forgotten: if it is refused, the steps that Python runs say why.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import arrange, arrange_sums, distinct_keys
from engine.kernels.compiled import kernel
from engine.kernels.join import join
from engine.kernels.layers import rows_at, uncounted
from engine.kernels.ordered import arrange_ordered
from engine.kernels.reduce import FINISH, reduce_sums, threshold
from engine.kernels.rounds import distinct_rows, group_deltas, group_keys
from engine.kernels.stepping.arena import (
    ADDRESS,
    ASKING,
    COLUMNS,
    CURSOR,
    DONE,
    LINES,
    REFUSED,
    RUNNING,
    STATUS,
    STOPPED,
    WAITS,
    below_each_other,
    keep,
    least_round,
    put,
    reserve,
    side_by_side,
    take,
)
from engine.kernels.stepping.opcodes import (
    ARRANGE,
    ARRANGE_ORDERED,
    ARRANGE_SUMS,
    CHANGES,
    CONCAT,
    CONSOLIDATE,
    ENTERED,
    FIRST,
    FIRST_SIZE,
    JOIN,
    LEFT,
    NEGATE,
    NOTHING,
    NUMBER,
    OPERATION,
    PYTHON,
    REDUCE_SUMS,
    RIGHT,
    SECOND,
    SECOND_SIZE,
    THRESHOLD,
    TOP,
    VARIABLE,
)
from engine.kernels.stepping.tables import (
    CURRENT,
    DEPTH,
    DIFFS,
    OWN,
    PASSED,
    PUBLISHED,
    STAGED,
    WIDTH,
    add,
    after,
    before,
    close_table,
    current,
    end_step,
    open_table,
)
from engine.kernels.top import reduce_top

# More fields of the state of a call, after those of the arena.
ENTERS, LIMIT, MOST_ROUNDS, MOST_STAGED, NOW, PLACE, ROUNDS, LEAVING, WORDS = range(3, 12)
"""ENTERS is 1 if round 0 has work that does not wait. No round from LIMIT - 1 on is run, at most MOST_ROUNDS
are, and none once more than MOST_STAGED rows were added. NOW is the round, and PLACE that of the operator to
run next, NOTHING between two rounds. ROUNDS counts the rounds begun, LEAVING the parts of what leaves the
loop, and WORDS those of all deltas."""
STATE = 12
MOST_WAITING = 1 << 12
"""The lines of `waiting` and `taken`; a call stops when half of them are taken."""

# Columns of a line of `bindings`: the places of the value and of the variable; and what leaves, a delta.
VALUE, FED_BACK, LEFT_AT, LEFT_LINES, LEFT_COLUMNS = range(5)
BINDING = 5


@njit
def _delta(outs, place):
    """An operator's delta of the step."""
    return rows_at(outs[place, ADDRESS], outs[place, LINES], outs[place, COLUMNS])


@njit
def _emit(outs, place, arena, state, delta):
    """Make a delta the operator's of the step."""
    outs[place, COLUMNS] = 0
    if delta.shape[1] == 0:
        return
    outs[place, ADDRESS] = keep(arena, state, delta)
    outs[place, LINES] = delta.shape[0]
    outs[place, COLUMNS] = delta.shape[1]


@njit
def _emit_waiting(outs, place, now, arena, state, waiting, taken):
    """Make all that waits for the operator in round `now` its delta of the step."""
    found = take(waiting, state, now, place, taken)
    address, lines, columns = side_by_side(arena, state, taken, found)
    outs[place, ADDRESS] = address
    outs[place, LINES] = lines
    outs[place, COLUMNS] = columns


@njit
def _negated(delta):
    result = delta.copy()
    last = result.shape[0] - 1
    for i in range(result.shape[1]):
        result[last, i] = -result[last, i]
    return result


@njit
def _variable(line, outs, place, now, arena, state, waiting, taken):
    initial = line[LEFT]
    if now == 0 and initial != NOTHING and outs[initial, COLUMNS] > 0:
        delta = _delta(outs, initial)
        put(waiting, state, 0, place, outs[initial, ADDRESS], delta.shape[0], delta.shape[1])
        negated = keep(arena, state, _negated(delta))
        put(waiting, state, 1, place, negated, delta.shape[0], delta.shape[1])
    _emit_waiting(outs, place, now, arena, state, waiting, taken)


@njit
def _pair(line, place, side, other, table, columns, arrangements, rounds, masks, arena, state, waiting):
    """Join the batch of one side with the table of the other; the pairs wait for their rounds, or for
    now."""
    delta = current(arrangements, side)
    epoch = arrangements[side, WIDTH] + arrangements[side, DEPTH]
    width, depth = arrangements[other, WIDTH], arrangements[other, DEPTH]
    pairs, later, excess = join(delta, epoch, table, line[NUMBER], width, depth, rounds, columns, masks)
    if excess > 0:
        state[STATUS] = REFUSED
        return
    if pairs.shape[1] > 0:
        address = keep(arena, state, pairs)
        put(waiting, state, rounds[0], place, address, pairs.shape[0], pairs.shape[1])
    if later.shape[1] > 0:
        _put_later(later, place, arena, state, waiting)


@njit
def _put_later(later, place, arena, state, waiting):
    """List the columns of `later` [W + 1 + 2, n], words, round, time and diff, for their rounds."""
    words = later.shape[0] - 3
    grouped, starts = group_deltas(later, words, 1)
    for g in range(starts.shape[0] - 1):
        size = starts[g + 1] - starts[g]
        address = reserve(arena, state, (words + 2) * size)
        put(waiting, state, grouped[words, starts[g]], place, address, words + 2, size)
        if state[STATUS] == REFUSED:
            return
        delta = rows_at(address, words + 2, size)
        for w in range(words + 2):
            row = w if w < words else w + 1
            for i in range(size):
                delta[w, i] = grouped[row, starts[g] + i]


@njit
def _join(line, constants, outs, place, arrangements, rounds, masks, arena, state, waiting, taken):
    left, right = line[LEFT], line[RIGHT]
    if arrangements[left, CURRENT] == 1:
        columns = constants[line[FIRST] : line[FIRST] + line[FIRST_SIZE]]
        table = after(arrangements, right)
        _pair(line, place, left, right, table, columns, arrangements, rounds, masks, arena, state, waiting)
    if arrangements[right, CURRENT] == 1 and state[STATUS] == RUNNING:
        columns = constants[line[SECOND] : line[SECOND] + line[SECOND_SIZE]]
        table = before(arrangements, left)
        _pair(line, place, right, left, table, columns, arrangements, rounds, masks, arena, state, waiting)
    if state[STATUS] == RUNNING:
        _emit_waiting(outs, place, rounds[0], arena, state, waiting, taken)


@njit
def _concat(line, constants, outs, place, now, arena, state, waiting, taken):
    for i in range(line[FIRST], line[FIRST] + line[FIRST_SIZE]):
        source = constants[i]
        if outs[source, COLUMNS] > 0:
            put(
                waiting,
                state,
                now,
                place,
                outs[source, ADDRESS],
                outs[source, LINES],
                outs[source, COLUMNS],
            )
    if state[STATUS] == RUNNING:
        _emit_waiting(outs, place, now, arena, state, waiting, taken)


@njit
def _reduce(line, constants, outs, place, arrangements, rounds, arena, state, waiting, taken):
    """A reduce: the groups that the step changes, and those that wait for it."""
    source = line[LEFT]
    words = line[NUMBER] if line[OPERATION] == TOP else arrangements[source, WIDTH]
    if arrangements[source, CURRENT] == 1:
        keys = distinct_keys(current(arrangements, source), words)
        put(waiting, state, rounds[0], place, keep(arena, state, keys), keys.shape[0], words)
    found = take(waiting, state, rounds[0], place, taken)
    address, size, _ = below_each_other(arena, state, taken, found)
    outs[place, COLUMNS] = 0
    if size == 0 or state[STATUS] != RUNNING:
        return
    keys = rows_at(address, size, words)
    if found > 1:
        keys = distinct_rows(keys)
    table = after(arrangements, source)
    published, depth = arrangements[source, PUBLISHED], arrangements[source, DEPTH]
    if line[OPERATION] == THRESHOLD:
        delta, later = threshold(keys, table, published, depth, rounds, line[NUMBER])
    elif line[OPERATION] == TOP:
        numbers = constants[line[FIRST] : line[FIRST] + line[FIRST_SIZE]]
        codes = numbers[2:].reshape((-1, 3))
        delta, later, passed = reduce_top(
            keys,
            table,
            published,
            depth,
            rounds,
            numbers[0],
            numbers[1],
            codes,
            numbers[:0],
            numbers[:0],
            np.empty(0, np.uint8),
        )
        arrangements[source, PASSED] += passed
    else:
        finish = constants[line[FIRST] : line[FIRST] + line[FIRST_SIZE]].reshape((-1, FINISH))
        slots = arrangements[source, DIFFS]
        delta, unfinished, later = reduce_sums(keys, table, published, depth, slots, rounds, finish)
        if unfinished.shape[0] > 0:
            state[STATUS] = REFUSED
    _emit(outs, place, arena, state, delta)
    if later.shape[0] > 0:
        _visit_later(later, place, arena, state, waiting)


@njit
def _visit_later(later, place, arena, state, waiting):
    """List the keys of the lines (round, key) for their rounds."""
    visits, starts = group_keys(later, 1)
    words = visits.shape[1] - 1
    for g in range(starts.shape[0] - 1):
        size = starts[g + 1] - starts[g]
        address = reserve(arena, state, size * words)
        put(waiting, state, visits[starts[g], 0], place, address, size, words)
        if state[STATUS] == REFUSED:
            return
        keys = rows_at(address, size, words)
        for i in range(size):
            for w in range(words):
                keys[i, w] = visits[starts[g] + i, 1 + w]


@njit
def _arrange(line, constants, outs, place, arrangements, rounds, masses, arena, state):
    end_step(arrangements, place, arena, state)
    if outs[line[LEFT], COLUMNS] == 0 or state[STATUS] != RUNNING:
        return
    delta = _delta(outs, line[LEFT])
    order = constants[line[FIRST] : line[FIRST] + line[FIRST_SIZE]]
    if line[OPERATION] == ARRANGE:
        batch = arrange(delta, order, rounds)
    elif line[OPERATION] == ARRANGE_ORDERED:
        codes = constants[line[SECOND] : line[SECOND] + line[SECOND_SIZE]].reshape((-1, 3))
        nothing = np.empty(0, np.uint32)
        batch = arrange_ordered(
            delta, order, rounds, codes, nothing, order[:0], order[:0], np.empty(0, np.uint8)
        )
    else:
        slots = constants[line[SECOND] : line[SECOND] + line[SECOND_SIZE]].reshape((-1, 3))
        batch = arrange_sums(delta, order, rounds, slots)
    add(arrangements, place, batch, delta[delta.shape[0] - 1], masses, arena, state)


@njit
def _linear(line, constants, outs, place, rounds, arena, state):
    """An operator that treats every difference on its own, or only adds up equal ones."""
    outs[place, COLUMNS] = 0
    if outs[line[LEFT], COLUMNS] == 0:
        return
    delta = _delta(outs, line[LEFT])
    if line[OPERATION] == NEGATE:
        _emit(outs, place, arena, state, _negated(delta))
        return
    if line[OPERATION] == CONSOLIDATE:
        rows = arrange(delta, np.arange(delta.shape[0] - 1), rounds[:0])
        _emit(outs, place, arena, state, np.ascontiguousarray(rows.T))
        return
    numbers = constants[line[FIRST] : line[FIRST] + line[FIRST_SIZE]]
    selected = np.empty((numbers.shape[0], delta.shape[1]), np.int64)
    for w in range(numbers.shape[0]):
        selected[w] = delta[numbers[w]]
    _emit(outs, place, arena, state, selected)


@njit
def _changes(line, outs, place, arrangements, arena, state):
    outs[place, COLUMNS] = 0
    if arrangements[line[LEFT], CURRENT] == 1:
        _emit(outs, place, arena, state, np.ascontiguousarray(current(arrangements, line[LEFT]).T))


@njit
def _operate(place, code, constants, outs, arrangements, masses, rounds, masks, arena, state, waiting, taken):
    """Run the operator at a place, which sets what it gives out."""
    now = rounds[0]
    line = code[place]
    operation = line[OPERATION]
    if operation == VARIABLE:
        _variable(line, outs, place, now, arena, state, waiting, taken)
    elif operation == ENTERED:
        if now > 0:
            end_step(arrangements, place, arena, state)
    elif operation == CHANGES:
        _changes(line, outs, place, arrangements, arena, state)
    elif operation in (ARRANGE, ARRANGE_SUMS, ARRANGE_ORDERED):
        _arrange(line, constants, outs, place, arrangements, rounds, masses, arena, state)
    elif operation == JOIN:
        _join(line, constants, outs, place, arrangements, rounds, masks, arena, state, waiting, taken)
    elif operation == CONCAT:
        _concat(line, constants, outs, place, now, arena, state, waiting, taken)
    elif operation in (THRESHOLD, REDUCE_SUMS, TOP):
        _reduce(line, constants, outs, place, arrangements, rounds, arena, state, waiting, taken)
    elif operation == PYTHON:
        outs[place, COLUMNS] = 0
        if outs[line[LEFT], COLUMNS] > 0:
            state[STATUS] = ASKING
    else:
        _linear(line, constants, outs, place, rounds, arena, state)


@njit
def _step(code, constants, outs, arrangements, masses, rounds, masks, made, arena, state, waiting, taken):
    """Run the operators of the round that have not run yet, in order, as long as the call runs."""
    while state[PLACE] < code.shape[0]:
        place = state[PLACE]
        _operate(
            place, code, constants, outs, arrangements, masses, rounds, masks, arena, state, waiting, taken
        )
        if state[STATUS] != RUNNING:
            return
        made[place] += outs[place, COLUMNS]
        state[WORDS] += outs[place, LINES] * outs[place, COLUMNS]
        state[PLACE] += 1


@njit
def _feed_back(bindings, outs, now, left, state, waiting):
    """The changes of values leave the loop, and are those of variables in the next round."""
    for b in range(bindings.shape[0]):
        value = bindings[b, VALUE]
        if outs[value, COLUMNS] == 0:
            continue
        address, lines, columns = outs[value, ADDRESS], outs[value, LINES], outs[value, COLUMNS]
        left[state[LEAVING], 0] = b
        left[state[LEAVING], 1] = address
        left[state[LEAVING], 2] = columns
        state[LEAVING] += 1
        bindings[b, LEFT_LINES] = lines
        if bindings[b, FED_BACK] != NOTHING:
            put(waiting, state, now + 1, bindings[b, FED_BACK], address, lines, columns)


@njit
def _leave(bindings, left, taken, arena, state):
    """Put together what leaves the loop."""
    for b in range(bindings.shape[0]):
        found = 0
        for i in range(state[LEAVING]):
            if left[i, 0] == b:
                taken[found, ADDRESS] = left[i, 1]
                taken[found, LINES] = bindings[b, LEFT_LINES]
                taken[found, COLUMNS] = left[i, 2]
                found += 1
        address, _, columns = side_by_side(arena, state, taken, found)
        bindings[b, LEFT_AT] = address
        bindings[b, LEFT_COLUMNS] = columns


@njit
def _next_round(waiting, state, arrangements, arena):
    """Begin the next round if there is one; otherwise the call is done, or stops between rounds."""
    now = 0 if state[ENTERS] == 1 else least_round(waiting, state)
    if now < 0:
        state[STATUS] = DONE
        return
    staged = 0
    for place in range(arrangements.shape[0]):
        staged += arrangements[place, STAGED]
    if (
        staged > state[MOST_STAGED]
        or now + 1 >= state[LIMIT]
        or state[ROUNDS] == state[MOST_ROUNDS]
        or 2 * state[CURSOR] > arena.shape[0]
        or 2 * state[WAITS] > waiting.shape[0]
    ):
        state[STATUS] = STOPPED
        return
    state[ENTERS] = 0
    state[ROUNDS] += 1
    state[NOW] = now
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
    "void(int64[:,::1], int64[::1], int64[:,::1], int64[:,::1], float64[::1], int64[::1], int64[:,::1], "
    "int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1])"
)
def run_rounds(
    code, constants, bindings, arrangements, masses, made, outs, left, waiting, taken, arena, state
):
    """Run rounds of a loop until nothing waits, the call has to stop, or an operator is Python's.

    `code` [n, LINE] has a line an operator (`opcodes`), in the order in which they run, and `constants` their
    ranges. `bindings` [b, BINDING] says what is fed back, and gets what leaves the loop, whose parts are
    listed in `left` [MOST_ROUNDS * b, 3]. `arrangements` [n, NUMBERS] (`tables`) has a line an operator, used
    by arrangements. `masses` [n] and `made` [n] get the mass of what was arranged, and the number of
    differences made. `outs` [n, WAITING] has the operators' deltas; the next call, which begins behind an
    operator of Python's, expects the one of that operator there. `waiting`, `arena` and `state` are those of
    the module `arena`; `taken` is as large as `waiting`.
    """
    code, constants, bindings, made = (
        uncounted(code),
        uncounted(constants),
        uncounted(bindings),
        uncounted(made),
    )
    arrangements, outs, left = uncounted(arrangements), uncounted(outs), uncounted(left)
    waiting, taken, arena, state = uncounted(waiting), uncounted(taken), uncounted(arena), uncounted(state)
    rounds = np.empty(1, np.int64)
    masks = np.empty(0, np.int64)
    if state[ROUNDS] == 0:
        masses[:] = 0
        made[:] = 0
        for place in range(code.shape[0]):
            if arrangements[place, OWN] == 1:
                open_table(arrangements, place, arena, state)
    while state[STATUS] == RUNNING:
        if state[PLACE] == NOTHING:
            _next_round(waiting, state, arrangements, arena)
        if state[STATUS] != RUNNING:
            break
        rounds[0] = state[NOW]
        _step(code, constants, outs, arrangements, masses, rounds, masks, made, arena, state, waiting, taken)
        if state[STATUS] == RUNNING:
            _feed_back(bindings, outs, rounds[0], left, state, waiting)
            state[PLACE] = NOTHING
    if state[STATUS] not in (DONE, STOPPED):
        return
    for place in range(code.shape[0]):
        if arrangements[place, OWN] == 1:
            close_table(arrangements, place, arena, state)
    _leave(bindings, left, taken, arena, state)
