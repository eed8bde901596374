"""A step of the outermost scope: the operators that changes reach, inputs first, in one call, or in a few if
some of them are Python's.

As in `loop_rounds`, a call changes nothing but its own arrays. `queue` lists the places that changes have
reached, in ascending order; the first `state[HEAD]` of them have had their turns. `arrays` is the table of
all arrays (`stepping_type`), which stay the same from call to call.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import COLUMNS, matrix, rows_at
from engine.kernels.stepping import spine
from engine.kernels.stepping.arena import (
    ANSWER,
    DONE,
    ELAPSED,
    HEAD,
    RUNNING,
    STATUS,
    TAIL,
)
from engine.kernels.stepping.opcodes import (
    ARRANGE,
    ARRANGE_ORDERED,
    LEFT,
    NOTHING,
    NUMBER,
    OPERATION,
    READERS,
    READERS_SIZE,
    RIGHT,
)
from engine.kernels.stepping.stepping_type import NAMED, matrix_of, stepping_at, vector_of
from engine.kernels.stepping.tables import (
    BEFORE,
    CURRENT,
    HELD,
    MADE,
    MASS,
    NANOSECONDS,
    OUT,
    OUT_COLUMNS,
    OUT_LINES,
    OWN,
    PASSED,
    PUBLISHED,
    SPINE_AT,
    STAGED,
    TABLE,
    TOTAL,
    TOTAL_MASS,
)
from engine.kernels.stepping.turn import take_turn

NO_ANSWER, UNCHANGED, CHANGED = range(3)
"""Values of the state's ANSWER: what the operator that was Python's has done, if it has had its turn."""
CHANGE = 3
"""The columns of a line of what was published."""

QUEUE, NURSERY, CURSOR, CHANGES = range(NAMED, NAMED + 4)
"""Lines of `arrays` behind those that have names. NURSERY and CURSOR are those of `spine`, and CHANGES [n,
CHANGE] gets what `publish` tells."""


@njit
def reach(run, place):
    """Add a place behind those that have had their turns, unless it is there."""
    queue, state = vector_of(run, QUEUE), run.state
    at = state[TAIL]
    while at > state[HEAD] and queue[at - 1] >= place:
        if queue[at - 1] == place:
            return
        at -= 1
    for i in range(state[TAIL], at, -1):
        queue[i] = queue[i - 1]
    queue[at] = place
    state[TAIL] += 1


@njit
def _look(run, place):
    """Take the table of an arrangement from its trace, which may have changed since the last step."""
    line = run.operators[place]
    if line[SPINE_AT] != 0:
        numbers = rows_at(line[SPINE_AT], 1, spine.SPINE)
        line[TABLE] = numbers[0, spine.TABLE]
        line[PUBLISHED] = line[HELD] = line[BEFORE] = numbers[0, spine.COUNT]


@njit
def _changes(run, place):
    """Run the operator at a place; returns whether it has changes."""
    _look(run, place)
    for source in run.code[place, LEFT : RIGHT + 1]:
        if source != NOTHING:
            _look(run, source)
    take_turn(run, place)
    line = run.operators[place]
    line[MADE] += line[STAGED]
    return line[OUT_COLUMNS] > 0 or line[CURRENT] == 1


@kernel("void(int64[:,::1], int64, int64[:,::1])")
def tell(operators, place, delta):
    """Make a delta that of the operator at a place, until the step ends."""
    line = operators[place]
    line[OUT] = delta.ctypes.data
    line[OUT_LINES] = delta.shape[0]
    line[OUT_COLUMNS] = delta.shape[1]


@njit
def _feed(run, place, delta):
    """Let the step begin with a delta of the input at a place."""
    if delta.shape[1] > 0:
        tell(run.operators, place, delta)
        reach(run, place)


@kernel("void(int64[:,::1], int64, int64[:,::1])")
def feed(arrays, place, delta):
    """Let the step begin with a delta of the input at a place."""
    _feed(stepping_at(arrays.ctypes.data), place, delta)  # type: ignore[call-arg]


@kernel("int64(int64[:,::1], int64, int64[:,::1])")
def run_reached(arrays, place, delta):
    """Let the step begin with a delta of the input at a place, besides those it was fed with, and run the
    operators that changes reach, until all have had their turns or the next one is Python's. Returns the
    status.

    If `place` is NOTHING, the step goes on behind the operator that was Python's, for which `state[ANSWER]`
    is told, with its delta in its line.
    """
    run = stepping_at(arrays.ctypes.data)  # type: ignore[call-arg, var-annotated]
    queue, state = vector_of(run, QUEUE), run.state
    if place != NOTHING:
        _feed(run, place, delta)
    state[STATUS] = RUNNING
    while state[HEAD] < state[TAIL]:
        place = queue[state[HEAD]]
        if state[ANSWER] == NO_ANSWER:
            has_changes = _changes(run, place)
            if state[STATUS] != RUNNING:
                return state[STATUS]
        else:
            has_changes = state[ANSWER] == CHANGED
            state[ANSWER] = NO_ANSWER
        if has_changes:
            first = run.code[place, READERS]
            for reader in run.constants[first : first + run.code[place, READERS_SIZE]]:
                reach(run, reader)
        state[HEAD] += 1
    state[STATUS] = DONE
    return DONE


@njit
def _share(run):
    """Divide the time that a step took among its operators, by what they have made."""
    operators, queue, state = run.operators, vector_of(run, QUEUE), run.state
    parts = state[TAIL]
    for i in range(state[TAIL]):
        parts += operators[queue[i], MADE]
    for i in range(state[TAIL]):
        line = operators[queue[i]]
        line[NANOSECONDS] += state[ELAPSED] * (line[MADE] + 1) // parts


@njit
def _end(run, counts):
    queue, state = vector_of(run, QUEUE), run.state
    if counts and state[ELAPSED] > 0 and state[TAIL] > 0:
        _share(run)
    for i in range(state[TAIL]):
        line = run.operators[queue[i]]
        if counts:
            line[TOTAL] += line[MADE]
            line[TOTAL_MASS] += line[MASS]
        line[MADE] = line[OUT_COLUMNS] = line[CURRENT] = line[STAGED] = line[MASS] = line[PASSED] = 0
    state[:] = 0


@kernel("void(int64[:,::1])")
def give_up(arrays):
    """Forget the step."""
    _end(stepping_at(arrays.ctypes.data), False)  # type: ignore[call-arg]


@kernel("int64(int64[:,::1], int64)")
def publish(arrays, since):
    """Insert what the step has added into traces, whose epochs before `since` are one, unless they are kept.

    The lines CHANGES get one for each arrangement with something left for Python to do: its place, whether
    its rows are inserted, and the rows that readers passed over. Python inserts those that are not, shows
    those of histories, takes note of a nursery that is new to a trace, and has ordered arrangements tidied.
    Returns how many there are.
    """
    run = stepping_at(arrays.ctypes.data)  # type: ignore[call-arg, var-annotated]
    code, operators, changed = run.code, run.operators, matrix_of(run, CHANGES)
    queue, nursery, cursor = vector_of(run, QUEUE), vector_of(run, NURSERY), vector_of(run, CURSOR)
    found = 0
    for i in range(run.state[TAIL]):
        place = queue[i]
        line = operators[place]
        if line[OWN] == 0 or (line[CURRENT] == 0 and line[PASSED] == 0):
            continue
        keeps_epochs = code[place, OPERATION] == ARRANGE and code[place, NUMBER] == 1
        is_inserted = line[CURRENT] == 0
        is_settled = False
        if line[CURRENT] == 1:
            numbers = rows_at(line[SPINE_AT], 1, spine.SPINE)[0]
            if not keeps_epochs:
                numbers[spine.SINCE] = since
            batch = matrix(rows_at(line[TABLE], line[BEFORE] + 1, COLUMNS), line[BEFORE])
            is_settled = numbers[spine.SETTLED] == spine.NOWHERE
            is_inserted = spine.insert(numbers, batch, nursery, cursor)
        is_ordered = code[place, OPERATION] == ARRANGE_ORDERED
        if keeps_epochs or is_settled or is_ordered or not is_inserted:
            changed[found, 0] = place
            changed[found, 1] = is_inserted
            changed[found, 2] = line[PASSED]
            found += 1
    _end(run, True)
    return found
