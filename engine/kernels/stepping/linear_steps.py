"""Compiled steps of operators without state, and of the variables of a loop."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import arrange
from engine.kernels.layers import rows_at
from engine.kernels.stepping.arena import (
    ASKING,
    CURRENT_ROUND,
    REFUSED,
    RUNNING,
    STATUS,
    keep,
    put,
    reserve,
    side_by_side,
    take,
)
from engine.kernels.stepping.formulas import FORMULA, compute, operand
from engine.kernels.stepping.opcodes import (
    CONSOLIDATE,
    FIRST,
    FIRST_SIZE,
    LEFT,
    MAP,
    NEGATE,
    NOTHING,
    OPERATION,
    SECOND,
    SECOND_SIZE,
    WITH_ROUND,
)
from engine.kernels.stepping.tables import CURRENT, OUT, OUT_COLUMNS, OUT_LINES, current


@njit
def first(run, place):
    """The first range of numbers of an operator."""
    begin = run.code[place, FIRST]
    return run.constants[begin : begin + run.code[place, FIRST_SIZE]]


@njit
def second(run, place):
    """The second range of numbers of an operator."""
    begin = run.code[place, SECOND]
    return run.constants[begin : begin + run.code[place, SECOND_SIZE]]


@njit
def out(run, place):
    """An operator's delta of the step."""
    line = run.operators[place]
    return rows_at(line[OUT], line[OUT_LINES], line[OUT_COLUMNS])


@njit
def emit(run, place, delta):
    """Make a delta the operator's of the step."""
    run.operators[place, OUT_COLUMNS] = 0
    if delta.shape[1] == 0:
        return
    run.operators[place, OUT] = keep(run, delta)
    run.operators[place, OUT_LINES] = delta.shape[0]
    run.operators[place, OUT_COLUMNS] = delta.shape[1]


@njit
def emit_waiting(run, place):
    """Make all that waits for the operator in the round its delta of the step."""
    address, lines, columns = side_by_side(run, take(run, place))
    run.operators[place, OUT] = address
    run.operators[place, OUT_LINES] = lines
    run.operators[place, OUT_COLUMNS] = columns


@njit
def put_out(run, current_round, reader, place):
    """List an operator's delta of the step, if it has one, for a reader in a round."""
    line = run.operators[place]
    if line[OUT_COLUMNS] > 0:
        put(run, current_round, reader, line[OUT], line[OUT_LINES], line[OUT_COLUMNS])


@njit
def _negated(delta):
    result = delta.copy()
    last = result.shape[0] - 1
    for i in range(result.shape[1]):
        result[last, i] = -result[last, i]
    return result


@njit
def _with_round(delta, current_round):
    """The delta with the round as one more word."""
    width = delta.shape[0] - 2
    result = np.empty((width + 3, delta.shape[1]), np.int64)
    result[:width] = delta[:width]
    result[width] = current_round
    result[width + 1 :] = delta[width:]
    return result


@njit
def step_variable(run, place):
    """A binding's value in the round before; in the first round its initial value, which the next one takes
    back."""
    initial = run.code[place, LEFT]
    if run.state[CURRENT_ROUND] == 0 and initial != NOTHING and run.operators[initial, OUT_COLUMNS] > 0:
        put_out(run, 0, place, initial)
        negated = _negated(out(run, initial))
        put(run, 1, place, keep(run, negated), negated.shape[0], negated.shape[1])
    if run.state[STATUS] == RUNNING:
        emit_waiting(run, place)


@njit
def step_concat(run, place):
    """The sum of collections."""
    for source in first(run, place):
        put_out(run, run.state[CURRENT_ROUND], place, source)
    if run.state[STATUS] == RUNNING:
        emit_waiting(run, place)


@njit
def step_linear(run, place):
    """An operator that treats every difference on its own, or only adds up equal ones."""
    run.operators[place, OUT_COLUMNS] = 0
    source = run.code[place, LEFT]
    if run.operators[source, OUT_COLUMNS] == 0:
        return
    delta = out(run, source)
    if run.code[place, OPERATION] == NEGATE:
        emit(run, place, _negated(delta))
        return
    if run.code[place, OPERATION] == CONSOLIDATE:
        rows = arrange(delta, np.arange(delta.shape[0] - 1), run.rounds[:0])
        emit(run, place, np.ascontiguousarray(rows.T))
        return
    if run.code[place, OPERATION] == WITH_ROUND:
        emit(run, place, _with_round(delta, run.state[CURRENT_ROUND]))
        return
    numbers = first(run, place)
    selected = np.empty((numbers.shape[0], delta.shape[1]), np.int64)
    for w in range(numbers.shape[0]):
        selected[w] = delta[numbers[w]]
    emit(run, place, selected)


@njit
def step_formulas(run, place):
    """A map or a filter; Python's, if some row fails or has a number that is not its own word."""
    run.operators[place, OUT_COLUMNS] = 0
    source = run.code[place, LEFT]
    if run.operators[source, OUT_COLUMNS] == 0:
        return
    delta = out(run, source)
    numbers, results = first(run, place), second(run, place)
    formulas = numbers.reshape((numbers.shape[0] // FORMULA, FORMULA))
    registers = np.empty((formulas.shape[0], delta.shape[1]), np.int64)
    if not compute(formulas, delta, registers):
        run.state[STATUS] = ASKING
    elif run.code[place, OPERATION] == MAP:
        _map(run, place, delta, registers, results)
    else:
        _filter(run, place, delta, operand(delta, registers, results[0]))


@njit
def _empty_delta(run, place, lines, columns):
    """The delta of an operator, whose words are still to be written; without room, the call is refused."""
    address = reserve(run, lines * columns)
    if run.state[STATUS] == REFUSED:
        return rows_at(address, 0, 0)
    line = run.operators[place]
    line[OUT], line[OUT_LINES], line[OUT_COLUMNS] = address, lines, columns
    return rows_at(address, lines, columns)


@njit
def _map(run, place, delta, registers, results):
    """The results are the words of the delta's rows."""
    width = results.shape[0]
    mapped = _empty_delta(run, place, width + 2, delta.shape[1])
    if run.state[STATUS] == RUNNING:
        for r in range(width):
            mapped[r] = operand(delta, registers, results[r])
        mapped[width:] = delta[delta.shape[0] - 2 :]


@njit
def _filter(run, place, delta, condition):
    """The rows for which the condition is true."""
    kept = 0
    for i in range(condition.shape[0]):
        kept += condition[i] == 1
    if kept == 0:
        return
    chosen = _empty_delta(run, place, delta.shape[0], kept)
    if run.state[STATUS] == RUNNING:
        for w in range(delta.shape[0]):
            k = 0
            for i in range(condition.shape[0]):
                if condition[i] == 1:
                    chosen[w, k] = delta[w, i]
                    k += 1


@njit
def step_changes(run, place):
    """An arrangement's changes as a delta."""
    run.operators[place, OUT_COLUMNS] = 0
    source = run.code[place, LEFT]
    if run.operators[source, CURRENT] == 1:
        emit(run, place, np.ascontiguousarray(current(run, source).T))
