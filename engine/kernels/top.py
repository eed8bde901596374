"""The first rows of each group, from a trace that has each group's rows in the wanted order.

As in `reduce`, a group's output changes by the Möbius sum over corners. Here a corner's value are the rows at
positions offset < p ≤ offset + limit, where every copy of a row takes one. Batches are read together in
order, a row with all its changes at a time, and reading ends once every corner has given out its places at
every epoch. Rows behind are not touched, so a long history of a group costs about as much as its changes.

Rows that were not read cannot matter in a later round either, unless something changes among those that were:
all versions of the group have their first rows there. So a loop looks for rounds to visit only among the rows
that were read. A loop inside a loop is different: two incomparable rounds may each be complete without the
other's rows, but their join may not. There all rows of the group are considered.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import delta_of_rows, texts_of
from engine.kernels.compiled import kernel
from engine.kernels.cursors import BATCH, NEXT, foremost, groups_of, keep_alive, put_all
from engine.kernels.layers import uncounted
from engine.kernels.places import FIELDS, FOLLOWING, LAST, MORE, MOST, STACK, fill, leaves_for, offer
from engine.kernels.reduce import grow, later_visits, most_new_rows, parity
from engine.kernels.states import DIFF, MASK, VERSION, epochs_of, read_row


@njit
def _offer_row(trees, leaves, versions, base, changes, found, limit, gains, stack):
    """Offer a row to every corner, for each stretch of versions between its changes."""
    for s in range(base.shape[0]):
        copies = base[s]
        since = 0
        for i in range(found + 1):
            until = changes[i, VERSION] if i < found else versions
            if copies > 0 and since < until:
                offer(trees, s, leaves, since, until, copies, limit, parity(s), gains, stack)
            if i < found and s & changes[i, MASK] == s:
                copies += changes[i, DIFF]
            since = until


@njit
def _begin_places(trees, leaves, published, versions, rounds, places):
    """Free `places` places in every corner and version that may have rows.

    Nothing exists in the first version of a group without published rows, nor strictly below a round 0.
    """
    for s in range(trees.shape[0]):
        free = places
        for d in range(rounds.shape[0]):
            if s & (1 << d) != 0 and rounds[d] == 0:
                free = 0
        fill(trees, s, leaves, 0 if published else 1, versions, free)


@njit
def _has_published(group, count):
    """Whether one of the first `count` cursors is in a published batch."""
    for c in range(count):
        if group.cursors[c, BATCH] < group.old:
            return True
    return False


@njit
def _any_left(trees):
    """Whether a corner has free places at a version."""
    for s in range(trees.shape[0]):
        if trees[s, 1, MOST] > 0:
            return True
    return False


@njit
def _write_gains(gains, epochs, first, row, lines, written):
    """Write lines for what the versions gained by a row, and reset the gains; returns the number of lines.

    A line has batch, row, epoch and diff.
    """
    version = gains[0, FOLLOWING]
    gains[0, FOLLOWING] = LAST
    while version != LAST:
        if gains[version, MORE] != 0 and version <= epochs.shape[0]:
            lines[written, 0] = first
            lines[written, 1] = row
            lines[written, 2] = epochs[version - 1]
            lines[written, 3] = gains[version, MORE]
            written += 1
        following = gains[version, FOLLOWING]
        gains[version, MORE] = 0
        gains[version, FOLLOWING] = 0
        version = following
    return written


@njit
def _sweep(group, size, rounds, offset, limit, room, trees, gains, stack, base, changes):
    """The work of `reduce_top` for each of its `size` groups, in arrays without reference counts.

    Returns lines of batch, row, epoch and diff, their number, and how many rows were skipped. Lowers the
    group's `highs` to the rows that were read, if only these matter to later rounds.
    """
    cursors = group.cursors
    lines = np.empty((2 * size + 16, 4), np.int64)
    written = 0
    passed = 0
    for m in range(size):
        epochs = epochs_of(group, m, rounds, room)
        n = epochs.shape[0]
        if n == 0:
            continue
        reading = put_all(group, m)
        leaves = leaves_for(n + 1)
        _begin_places(trees, leaves, _has_published(group, reading), n + 1, rounds, offset + limit)
        while reading > 0 and _any_left(trees):
            best = foremost(group, reading, 1)
            first, row = cursors[best, BATCH], cursors[best, NEXT]
            found, reading, wasted = read_row(group, reading, rounds, epochs, base, changes)
            passed += wasted
            _offer_row(trees, leaves, n + 1, base, changes, found, limit, gains, stack)
            while written + n > lines.shape[0]:
                lines = grow(lines)
            written = _write_gains(gains, epochs, first, row, lines, written)
        if rounds.shape[0] == 1:
            for c in range(reading):
                group.highs[cursors[c, BATCH], m] = cursors[c, NEXT]
    return lines, written, passed


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64))"
    "(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64, int64,"
    "int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def reduce_top(keys, table, old, depth, rounds, offset, limit, codes, entry_words, ends, arena):
    """The changes of each group's rows at positions offset < p ≤ offset + limit, for the groups `keys` [m, P]
    at one step.

    The trace's rows are coded by `codes` (see `coding`); the last three arguments are the dictionary's (see
    `texts`). Returns a delta [W + 2, n] of uncoded words, one a text; lines (rounds, key) to visit in later
    rounds; and how many rows were skipped, which a merge of the trace would cancel.
    """
    size, key = keys.shape
    group, own_rows = groups_of(keys, table, old, codes, texts_of(entry_words, ends, arena))
    lows, highs = own_rows[0], own_rows[1]
    corners = 1 << depth
    most = most_new_rows(lows, highs, old, size)
    room = np.empty((most, 1), np.int64)
    trees = np.empty((corners, 2 * leaves_for(most + 1), FIELDS), np.int64)
    gains = np.zeros((most + 2, 2), np.int64)
    gains[0, FOLLOWING] = LAST
    stack = np.empty((STACK, 3), np.int64)
    base = np.empty(corners, np.int64)
    changes = np.empty((most, 3), np.int64)
    lines, written, passed = _sweep(
        group,
        size,
        uncounted(rounds),
        offset,
        limit,
        uncounted(room),
        uncounted(trees),
        uncounted(gains),
        uncounted(stack),
        uncounted(base),
        uncounted(changes),
    )
    keep_alive((own_rows, room, trees, gains, stack, base, changes))
    later = np.empty((0, depth + key), np.int64)
    count = 0
    if depth > 0:
        later, count = later_visits(
            later, count, table, keys, 0, size, lows, highs, codes.shape[0], depth, rounds
        )
    return delta_of_rows(table, lines[:written], codes, entry_words, 0, 0), later[:count], passed
