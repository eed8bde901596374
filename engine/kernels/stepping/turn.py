"""The turn of one operator, in whatever scope."""

from __future__ import annotations

from numba import njit

from engine.kernels.stepping.arena import ASKING, CURRENT_ROUND, RUNNING, STATUS, WORDS
from engine.kernels.stepping.keyed_steps import step_arrangement, step_join, step_reduce
from engine.kernels.stepping.linear_steps import (
    step_changes,
    step_concat,
    step_formulas,
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
    FILTER,
    INPUT,
    JOIN,
    LEFT,
    MAP,
    NOTHING,
    OPERATION,
    PYTHON,
    REDUCE_SUMS,
    THRESHOLD,
    TOP,
    VARIABLE,
)
from engine.kernels.stepping.tables import MADE, OUT_COLUMNS, OUT_LINES, end_step


@njit
def _operate(run, place):
    """Run the operator at a place, which sets what it gives out."""
    operation = run.code[place, OPERATION]
    if operation == VARIABLE:
        step_variable(run, place)
    elif operation == ENTERED:
        if run.state[CURRENT_ROUND] > 0:
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
        source = run.code[place, LEFT]
        if source == NOTHING or run.operators[source, OUT_COLUMNS] > 0:
            run.state[STATUS] = ASKING
    elif operation in (MAP, FILTER):
        step_formulas(run, place)
    elif operation != INPUT:
        step_linear(run, place)


@njit
def take_turn(run, place):
    """Run the operator at a place, and count what it gives out, unless the call has to stop there."""
    _operate(run, place)
    if run.state[STATUS] == RUNNING:
        line = run.operators[place]
        line[MADE] += line[OUT_COLUMNS]
        run.state[WORDS] += line[OUT_LINES] * line[OUT_COLUMNS]
