"""The states of groups: a group's rows before a step, and after each of its new epochs.

As in `engine.kernels.reduce`, the difference of any function of a group is a Möbius sum over the corners of a
box of rounds. A corner's states follow each other along the new epochs; the function is evaluated for each,
and counts with the corner's sign from the epoch at which the state begins to the epoch at which the next one
does. A corner without changes has no states.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import layer
from engine.kernels.lookup import BLOCK, find_block, find_ranges
from engine.kernels.reduce import grow, later_visits, parity, strictness
from engine.kernels.sort import sort_rows

NONE = -1
"""The epoch of a missing beginning or end: the state existed before, or stays."""

# Columns of a state.
GROUP, SIGN, FROM, UNTIL, STATE = 0, 1, 2, 3, 4


@njit
def _read_group(table, old, place, lows, highs, key, width, depth, rounds, lines):
    """A group's rows at or below `rounds`, as lines of the words after the key, epoch, strictness and diff.

    Published rows have the epoch NONE. Returns the lines and their number.
    """
    values = width - key
    total = 0
    for index in range(table.shape[0]):
        total += highs[index, place] - lows[index, place]
    if total > lines.shape[0]:
        lines = np.empty((2 * total, values + 3), np.int64)
    n = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        for j in range(lows[index, place], highs[index, place]):
            mask = strictness(batch, j, width, depth, rounds)
            if mask < 0:
                continue
            for v in range(values):
                lines[n, v] = batch[j, key + v]
            lines[n, values] = NONE if index < old else batch[j, width + depth]
            lines[n, values + 1] = mask
            lines[n, values + 2] = batch[j, width + depth + 1]
            n += 1
    return lines, n


@njit
def _new_epochs(lines, n, values):
    """The epochs of the new lines, ascending."""
    epochs = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if lines[i, values] != NONE:
            epochs[count] = lines[i, values]
            count += 1
    return np.unique(epochs[:count])


@njit
def _touched(lines, n, values, epochs, corners):
    """Which corners change at which of the epochs."""
    touched = np.zeros((corners, epochs.shape[0]), np.bool_)
    for i in range(n):
        if lines[i, values] != NONE:
            e = np.searchsorted(epochs, lines[i, values])
            for s in range(corners):
                if s & lines[i, values + 1] == s:
                    touched[s, e] = True
    return touched


@njit
def _write_states(m, epochs, touched, states, count, first):
    """Append the states of group m; first[s] becomes the number of corner s's first state, or NONE."""
    corners = touched.shape[0]
    while count + corners * (epochs.shape[0] + 1) > states.shape[0]:
        states = grow(states)
    for s in range(corners):
        first[s] = NONE
        if not touched[s].any():
            continue
        first[s] = count
        begin = NONE
        for e in range(epochs.shape[0] + 1):
            if e < epochs.shape[0] and not touched[s, e]:
                continue
            end = epochs[e] if e < epochs.shape[0] else NONE
            states[count, GROUP] = m
            states[count, SIGN] = parity(s)
            states[count, FROM] = begin
            states[count, UNTIL] = end
            count += 1
            begin = end
    return states, count


@njit
def _write_row(lines, i, values, state, times, rows, count):
    """Append the row of line i with multiplicity `times` in a state, if that is positive; returns the new
    length."""
    if times <= 0:
        return count
    rows[count, 0] = state
    rows[count, 1] = times
    for v in range(values):
        rows[count, 2 + v] = lines[i, v]
    return count + 1


@njit
def _write_rows(lines, n, values, epochs, touched, first, rows, count):
    """Append the rows of each state of the group: lines of state, multiplicity and words."""
    corners, size = touched.shape
    changes = np.empty((corners, size + 1), np.int64)
    i = 0
    while i < n:
        start = i
        changes[:] = 0
        while i < n and _is_same(lines, start, i, values):
            e = 0 if lines[i, values] == NONE else np.searchsorted(epochs, lines[i, values]) + 1
            for s in range(corners):
                if s & lines[i, values + 1] == s:
                    changes[s, e] += lines[i, values + 2]
            i += 1
        while count + corners * (size + 1) > rows.shape[0]:
            rows = grow(rows)
        for s in range(corners):
            if first[s] == NONE:
                continue
            state = first[s]
            times = changes[s, 0]
            for e in range(size):
                if touched[s, e]:
                    count = _write_row(lines, start, values, state, times, rows, count)
                    state += 1
                times += changes[s, e + 1]
            count = _write_row(lines, start, values, state, times, rows, count)
    return rows, count


@njit(inline="always")
def _is_same(lines, i, j, values):
    for v in range(values):
        if lines[i, v] != lines[j, v]:
            return False
    return True


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
)
def group_states(keys, table, old, depth, rounds, values):
    """The states of the groups `keys` [m, P] at one step, and their rows.

    `table` holds the published batches (the first `old`), then the new ones, of rows with `values` words
    after the key. Returns states [n, 4] of group, sign, and the epochs from which and until which they count;
    rows [r, 2 + values] of state, positive multiplicity and the words after the key, sorted by words within a
    state; and lines (rounds, key) to visit in later rounds.
    """
    size, key = keys.shape
    width = key + values
    layers = table.shape[0]
    lows = np.empty((layers, min(size, BLOCK)), np.int64)
    highs = np.empty((layers, min(size, BLOCK)), np.int64)
    positions = np.zeros(layers, np.int64)
    later = np.empty((0, depth + key), np.int64)
    visits = 0
    lines = np.empty((16, values + 3), np.int64)
    states = np.empty((2 * size + 16, STATE), np.int64)
    rows = np.empty((4 * size + 16, 2 + values), np.int64)
    first = np.empty(1 << depth, np.int64)
    count = 0
    written = 0
    for m in range(size):
        if m % BLOCK == 0:
            last = min(m + BLOCK, size)
            find_block(table, keys, m, last, positions, lows, highs)
            if depth > 0:
                later, visits = later_visits(
                    later, visits, table, keys, m, last, lows, highs, width, depth, rounds
                )
        lines, n = _read_group(table, old, m % BLOCK, lows, highs, key, width, depth, rounds, lines)
        epochs = _new_epochs(lines, n, values)
        if epochs.shape[0] == 0:
            continue
        sort_rows(lines[:n], values)
        touched = _touched(lines, n, values, epochs, 1 << depth)
        states, count = _write_states(m, epochs, touched, states, count, first)
        rows, written = _write_rows(lines, n, values, epochs, touched, first, rows, written)
    return states[:count], rows[:written], later[:visits]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
)
def group_lines(keys, table, old, depth, rounds, values):
    """The rows, at or below `rounds`, of those of the groups `keys` [m, P] that have new rows there.

    The other arguments are as in `group_states`. Returns lines [n, 4 + values] of group, epoch, strictness,
    diff and the words after the key, sorted; published rows have the epoch NONE, which is before all others.
    Returns also lines (rounds, key) to visit in later rounds.
    """
    size, key = keys.shape
    width = key + values
    lows, highs = find_ranges(table, keys)
    later = np.empty((0, depth + key), np.int64)
    visits = 0
    if depth > 0:
        later, visits = later_visits(later, 0, table, keys, 0, size, lows, highs, width, depth, rounds)
    found = np.empty((size + 16, 4 + values), np.int64)
    lines = np.empty((16, values + 3), np.int64)
    count = 0
    for m in range(size):
        lines, n = _read_group(table, old, m, lows, highs, key, width, depth, rounds, lines)
        if n == 0 or lines[:n, values].max() == NONE:
            continue
        while count + n > found.shape[0]:
            found = grow(found)
        found[count : count + n, 0] = m
        found[count : count + n, 1:4] = lines[:n, values:]
        found[count : count + n, 4:] = lines[:n, :values]
        count += n
    sort_rows(found[:count], 4 + values)
    return found[:count], later[:visits]
