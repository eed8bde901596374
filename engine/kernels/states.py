"""The states of groups: a group's rows before a step, and after each of its new epochs.

States follow each other along the new epochs. A function of the group is evaluated for each of them, and
counts from the epoch at which the state begins to the epoch at which the next one does.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import layer
from engine.kernels.lookup import find_ranges
from engine.kernels.reduce import equal_until, grow
from engine.kernels.sort import sort_rows

NONE = -1
"""The epoch of a missing beginning or end: the state existed before, or stays."""

# Columns of a state.
GROUP, FROM, UNTIL, STATE = 0, 1, 2, 3


@njit
def _read_group(table, old, m, lows, highs, key, values, lines):
    """A group's rows, as lines of the words after the key, epoch and diff.

    Published rows have the epoch NONE. Returns the lines and their number, which is 0 if no row is new.
    """
    n = 0
    is_changed = False
    for index in range(table.shape[0]):
        low, high = lows[index, m], highs[index, m]
        while n + high - low > lines.shape[0]:
            lines = grow(lines)
        batch = layer(table, index)
        for j in range(low, high):
            for v in range(values):
                lines[n, v] = batch[j, key + v]
            lines[n, values] = NONE if index < old else batch[j, key + values]
            lines[n, values + 1] = batch[j, key + values + 1]
            n += 1
        is_changed |= index >= old and low < high
    return lines, n if is_changed else 0


@njit
def _write_states(m, epochs, states, count):
    """Append the states of group m, which begin and end at its new `epochs`."""
    while count + epochs.shape[0] + 1 > states.shape[0]:
        states = grow(states)
    begin = NONE
    for e in range(epochs.shape[0] + 1):
        end = epochs[e] if e < epochs.shape[0] else NONE
        states[count + e, GROUP] = m
        states[count + e, FROM] = begin
        states[count + e, UNTIL] = end
        begin = end
    return states


@njit
def _write_rows(lines, n, values, epochs, first, rows, count):
    """Append the rows of each state of the group, the first of which is number `first`."""
    size = epochs.shape[0]
    changes = np.empty(size + 1, np.int64)
    i = 0
    while i < n:
        start = i
        changes[:] = 0
        while i < n and equal_until(lines, values, start, i):
            e = 0 if lines[i, values] == NONE else np.searchsorted(epochs, lines[i, values]) + 1
            changes[e] += lines[i, values + 1]
            i += 1
        while count + size + 1 > rows.shape[0]:
            rows = grow(rows)
        times = 0
        for e in range(size + 1):
            times += changes[e]
            if times > 0:
                rows[count, 0] = first + e
                rows[count, 1] = times
                for v in range(values):
                    rows[count, 2 + v] = lines[start, v]
                count += 1
    return rows, count


@kernel("UniTuple(int64[:,::1], 2)(int64[:,::1], int64[:,::1], int64, int64)")
def group_states(keys, table, old, values):
    """The states of the groups `keys` [m, P] at one step, and their rows; no rounds.

    `table` holds the published batches (the first `old`), then the new ones, of rows with `values` words
    after the key. Returns states [n, STATE] of group, and the epochs from which and until which they count;
    and rows [r, 2 + values] of state, positive multiplicity and the words after the key, sorted by words
    within a state.
    """
    size, key = keys.shape
    lows, highs = find_ranges(table, keys)
    lines = np.empty((16, values + 2), np.int64)
    states = np.empty((2 * size + 16, STATE), np.int64)
    rows = np.empty((4 * size + 16, 2 + values), np.int64)
    count = 0
    written = 0
    for m in range(size):
        lines, n = _read_group(table, old, m, lows, highs, key, values, lines)
        if n == 0:
            continue
        sort_rows(lines[:n], values)
        epochs = np.unique(lines[:n, values])
        if epochs[0] == NONE:
            epochs = epochs[1:]
        states = _write_states(m, epochs, states, count)
        rows, written = _write_rows(lines, n, values, epochs, count, rows, written)
        count += epochs.shape[0] + 1
    return states[:count], rows[:written]


@kernel("int64[:,::1](int64[:,::1], int64[:,::1], int64, int64)")
def group_lines(keys, table, old, values):
    """The rows of those of the groups `keys` [m, P] that have new rows; for arguments see `group_states`.

    Returns lines [n, 3 + values] of group, epoch, diff and the words after the key, sorted; published rows
    have the epoch NONE, which is before all others.
    """
    size, key = keys.shape
    lows, highs = find_ranges(table, keys)
    found = np.empty((size + 16, 3 + values), np.int64)
    lines = np.empty((16, values + 2), np.int64)
    count = 0
    for m in range(size):
        lines, n = _read_group(table, old, m, lows, highs, key, values, lines)
        while count + n > found.shape[0]:
            found = grow(found)
        found[count : count + n, 0] = m
        found[count : count + n, 1:3] = lines[:n, values:]
        found[count : count + n, 3:] = lines[:n, :values]
        count += n
    sort_rows(found[:count], 3 + values)
    return found[:count]
