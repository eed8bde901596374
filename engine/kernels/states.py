"""The states of groups: a group's rows before a step, and after each of its new epochs.

States follow each other along the new epochs: what a function makes of a state counts from the epoch at
which the state begins to the epoch at which the next one does. A group's rows are read in order, each with
what every epoch changes of it. First rows follow from them at once (`engine.kernels.top`); other functions
are given the rows of each state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import SIGN, texts_of
from engine.kernels.compiled import kernel
from engine.kernels.cursors import (
    BATCH,
    END,
    NEXT,
    advance_cursor,
    foremost,
    groups_of,
    is_row,
    keep_alive,
    put_all,
)
from engine.kernels.layers import layer
from engine.kernels.reduce import grow, most_new_rows, order_by_epoch, strictness

NONE = -1
"""The epoch of a missing beginning or end: the state existed before, or stays."""

# Columns of a state.
GROUP, FROM, UNTIL, STATE = 0, 1, 2, 3

# A row's new change: the number of the first state that has it, where it lies below the round, and its diff.
VERSION, MASK, DIFF = 0, 1, 2


@njit
def epochs_of(group, m, rounds, room):
    """The epochs of a group's new rows at rounds ≤ `rounds`, distinct and ascending; they are in `room`, a
    line each, which is as long as a group has new rows."""
    width, depth = group.codes.shape[0], rounds.shape[0]
    n = 0
    for index in range(group.old, group.table.shape[0]):
        if group.lows[index, m] == group.highs[index, m]:
            continue
        batch = layer(group.table, index)
        for j in range(group.lows[index, m], group.highs[index, m]):
            if strictness(batch, j, width, depth, rounds) >= 0:
                room[n, 0] = batch[j, width + depth]
                n += 1
    order_by_epoch(room, n)
    distinct = 0
    for i in range(n):
        if i == 0 or room[i, 0] != room[distinct - 1, 0]:
            room[distinct, 0] = room[i, 0]
            distinct += 1
    return room[:distinct].reshape(distinct)


@njit(forceinline=True)
def read_row(group, count, rounds, epochs, base, changes):
    """Move the cursors of the foremost row past it; its published copies by corner go to `base`, its changes
    into lines.

    Lines have version, strictness and diff, ascending by version. Returns their number, how many cursors are
    left, and how many rows were skipped: the published ones of a row that no longer exists.
    """
    cursors, key, width, depth = group.cursors, group.key, group.codes.shape[0], rounds.shape[0]
    for s in range(base.shape[0]):
        base[s] = 0
    found = 0
    passed = 0
    for c in range(count - 1, -1, -1):
        if group.order[c] != 0:
            continue
        index = cursors[c, BATCH]
        batch = layer(group.table, index)
        first = cursors[c, NEXT]
        j = first
        while j < cursors[c, END] and (j == first or is_row(batch, j, batch, first, key, width)):
            mask = strictness(batch, j, width, depth, rounds)
            diff = batch[j, width + depth + 1]
            if mask >= 0 and index < group.old:
                passed += 1
                for s in range(base.shape[0]):
                    if s & mask == s:
                        base[s] += diff
            elif mask >= 0:
                changes[found, VERSION] = np.searchsorted(epochs, batch[j, width + depth]) + 1
                changes[found, MASK] = mask
                changes[found, DIFF] = diff
                found += 1
            j += 1
        count = advance_cursor(group, count, c, batch, j)
    order_by_epoch(changes, found)
    for s in range(base.shape[0]):
        if base[s] != 0:
            passed = 0
    return found, count, passed


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
def _write_row(batch, row, key, copies, changes, found, first, last, rows, count):
    """Append a row for each of the states [first, last) that have it; `copies` are those of the first one
    without the row's changes."""
    while count + last - first > rows.shape[0]:
        rows = grow(rows)
    since = first
    for i in range(found + 1):
        until = first + changes[i, VERSION] if i < found else last
        for state in range(since, until if copies != 0 else since):
            rows[count, 0] = state
            rows[count, 1] = copies
            for v in range(2, rows.shape[1]):
                rows[count, v] = batch[row, key + v - 2]
            count += 1
        if i < found:
            copies += changes[i, DIFF]
        since = until
    return rows, count


@kernel("UniTuple(int64[:,::1], 2)(int64[:,::1], int64[:,::1], int64, int64)")
def group_states(keys, table, old, values):
    """The states of the groups `keys` [m, P] at one step, and their rows; no rounds.

    `table` holds the published batches (the first `old`), then the new ones, of rows with `values` words
    after the key. Returns states [n, STATE] of group, and the epochs from which and until which they count;
    and rows [r, 2 + values] of state, multiplicity, which is not 0, and the words after the key. The rows of
    a state are sorted by words; those of all states are in the order of groups and words.
    """
    size, key = keys.shape
    codes = np.zeros((key + values, 3), np.int64)
    codes[:, SIGN] = 1
    nothing = np.empty(0, np.int64)
    group, owned = groups_of(keys, table, old, codes, texts_of(nothing, nothing, np.empty(0, np.uint8)))
    most = most_new_rows(group.lows, group.highs, old, size)
    room = np.empty((most, 1), np.int64)
    changes = np.empty((most, 3), np.int64)
    base = np.empty(1, np.int64)
    states = np.empty((2 * size + 16, STATE), np.int64)
    rows = np.empty((4 * size + 16, 2 + values), np.int64)
    count = 0
    written = 0
    for m in range(size):
        epochs = epochs_of(group, m, nothing, room)
        if epochs.shape[0] == 0:
            continue
        states = _write_states(m, epochs, states, count)
        last = count + epochs.shape[0] + 1
        left = put_all(group, m)
        while left > 0:
            best = foremost(group, left, 1)
            index, row = group.cursors[best, BATCH], group.cursors[best, NEXT]
            found, left, _ = read_row(group, left, nothing, epochs, base, changes)
            rows, written = _write_row(
                layer(group.table, index), row, key, base[0], changes, found, count, last, rows, written
            )
        count = last
    keep_alive((owned, codes))
    return states[:count], rows[:written]
