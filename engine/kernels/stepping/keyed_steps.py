"""Compiled steps of arrangements, joins and reduces."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import arrange, arrange_sums, distinct_keys
from engine.kernels.join import join
from engine.kernels.layers import rows_at
from engine.kernels.ordered import arrange_ordered
from engine.kernels.reduce import FINISH, reduce_sums, threshold
from engine.kernels.rounds import distinct_rows, group_deltas, group_keys
from engine.kernels.stepping.arena import (
    CURRENT_ROUND,
    REFUSED,
    RUNNING,
    STATUS,
    below_each_other,
    keep,
    put,
    reserve,
    take,
)
from engine.kernels.stepping.linear_steps import emit, emit_waiting, first, out, second
from engine.kernels.stepping.opcodes import (
    ARRANGE,
    ARRANGE_ORDERED,
    LEFT,
    NUMBER,
    OPERATION,
    RIGHT,
    THRESHOLD,
    TOP,
)
from engine.kernels.stepping.tables import (
    CURRENT,
    DEPTH,
    DIFFS,
    OUT_COLUMNS,
    PASSED,
    PUBLISHED,
    WIDTH,
    add,
    after,
    before,
    current,
    end_step,
)
from engine.kernels.top import reduce_top


@njit
def step_arrangement(run, place):
    """The input's delta as a sorted batch."""
    end_step(run, place)
    source = run.code[place, LEFT]
    if run.operators[source, OUT_COLUMNS] == 0 or run.state[STATUS] != RUNNING:
        return
    delta = out(run, source)
    order = first(run, place)
    operation = run.code[place, OPERATION]
    if operation == ARRANGE:
        batch = arrange(delta, order, run.rounds)
    elif operation == ARRANGE_ORDERED:
        codes = second(run, place).reshape((-1, 3))
        nothing, no_bytes = order[:0], np.empty(0, np.uint8)
        no_slots = np.empty(0, np.uint32)
        batch = arrange_ordered(delta, order, run.rounds, codes, no_slots, nothing, nothing, no_bytes)
    else:
        batch = arrange_sums(delta, order, run.rounds, second(run, place).reshape((-1, 3)))
    add(run, place, batch, delta[delta.shape[0] - 1])


@njit
def _put_pairs(run, place, side, other, table, columns):
    """Join the batch of one side with the table of the other, and list the pairs for their rounds."""
    operators = run.operators
    pairs, later, excess = join(
        current(run, side),
        operators[side, WIDTH] + operators[side, DEPTH],
        table,
        run.code[place, NUMBER],
        operators[other, WIDTH],
        operators[other, DEPTH],
        run.rounds,
        columns,
        run.rounds[:0],
    )
    if excess > 0:
        run.state[STATUS] = REFUSED
    if pairs.shape[1] > 0:
        put(run, run.state[CURRENT_ROUND], place, keep(run, pairs), pairs.shape[0], pairs.shape[1])
    if later.shape[1] > 0:
        _put_later(run, place, later)


@njit
def _put_later(run, place, later):
    """List the columns of `later` [W + 1 + 2, n], words, round, time and diff, for their rounds."""
    words = later.shape[0] - 3
    grouped, starts = group_deltas(later, words, 1)
    for g in range(starts.shape[0] - 1):
        size = starts[g + 1] - starts[g]
        address = reserve(run, (words + 2) * size)
        put(run, grouped[words, starts[g]], place, address, words + 2, size)
        if run.state[STATUS] == REFUSED:
            return
        delta = rows_at(address, words + 2, size)
        for w in range(words + 2):
            row = w if w < words else w + 1
            for i in range(size):
                delta[w, i] = grouped[row, starts[g] + i]


@njit
def step_join(run, place):
    """The pairs of a side's changes with the other side: the left changes meet it as it is after the step,
    the right ones as it was before."""
    left, right = run.code[place, LEFT], run.code[place, RIGHT]
    if run.operators[left, CURRENT] == 1:
        _put_pairs(run, place, left, right, after(run, right), first(run, place))
    if run.operators[right, CURRENT] == 1 and run.state[STATUS] == RUNNING:
        _put_pairs(run, place, right, left, before(run, left), second(run, place))
    if run.state[STATUS] == RUNNING:
        emit_waiting(run, place)


@njit
def step_reduce(run, place):
    """A reduce: the groups that the step changes, and those that wait for it."""
    operators = run.operators
    operation, source = run.code[place, OPERATION], run.code[place, LEFT]
    words = run.code[place, NUMBER] if operation == TOP else operators[source, WIDTH]
    if operators[source, CURRENT] == 1:
        changed = distinct_keys(current(run, source), words)
        put(run, run.state[CURRENT_ROUND], place, keep(run, changed), changed.shape[0], words)
    found = take(run, place)
    address, size = below_each_other(run, found)
    operators[place, OUT_COLUMNS] = 0
    if size == 0 or run.state[STATUS] != RUNNING:
        return
    keys = rows_at(address, size, words)
    if found > 1:
        keys = distinct_rows(keys)
    table = after(run, source)
    published, depth = operators[source, PUBLISHED], operators[source, DEPTH]
    numbers = first(run, place)
    if operation == THRESHOLD:
        delta, later = threshold(keys, table, published, depth, run.rounds, run.code[place, NUMBER])
    elif operation == TOP:
        nothing, no_bytes = numbers[:0], np.empty(0, np.uint8)
        offset, limit, codes = numbers[0], numbers[1], numbers[2:].reshape((-1, 3))
        delta, later, passed = reduce_top(
            keys, table, published, depth, run.rounds, offset, limit, codes, nothing, nothing, no_bytes
        )
        operators[source, PASSED] += passed
    else:
        finish = numbers.reshape((-1, FINISH))
        delta, unfinished, later = reduce_sums(
            keys, table, published, depth, run.rounds, operators[source, DIFFS], finish
        )
        if unfinished.shape[0] > 0:
            run.state[STATUS] = REFUSED
    emit(run, place, delta)
    if later.shape[0] > 0:
        _visit_later(run, place, later)


@njit
def _visit_later(run, place, later):
    """List the keys of the lines (round, key) for their rounds."""
    visits, starts = group_keys(later, 1)
    words = visits.shape[1] - 1
    for g in range(starts.shape[0] - 1):
        size = starts[g + 1] - starts[g]
        address = reserve(run, size * words)
        put(run, visits[starts[g], 0], place, address, size, words)
        if run.state[STATUS] == REFUSED:
            return
        keys = rows_at(address, size, words)
        for i in range(size):
            for w in range(words):
                keys[i, w] = visits[starts[g] + i, 1 + w]
