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

from engine.kernels.coding import write_words
from engine.kernels.compiled import kernel
from engine.kernels.cursors import (
    BATCH,
    CURSOR,
    END,
    ROW,
    foremost_cursor,
    is_same,
    move_cursor,
    put_cursor,
    put_cursors,
)
from engine.kernels.layers import layer, uncounted
from engine.kernels.lookup import find_ranges
from engine.kernels.places import FIELDS, LAST, MORE, MOST, NEXT, STACK, fill, leaves_for, offer
from engine.kernels.reduce import (
    grow,
    later_visits,
    most_new_rows,
    order_by_epoch,
    parity,
    strictness,
)

# A row's new change.
VERSION, MASK, DIFF = 0, 1, 2


@njit
def _note_epochs(table, old, m, width, depth, rounds, lows, highs, epochs):
    """The epochs of a group's new rows at rounds ≤ `rounds`, distinct and ascending, in epochs[:n]."""
    n = 0
    for index in range(old, table.shape[0]):
        if lows[index, m] == highs[index, m]:
            continue
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            if strictness(batch, j, width, depth, rounds) >= 0:
                epochs[n, 0] = batch[j, width + depth]
                n += 1
    order_by_epoch(epochs, n)
    distinct = 0
    for i in range(n):
        if i == 0 or epochs[i, 0] != epochs[distinct - 1, 0]:
            epochs[distinct, 0] = epochs[i, 0]
            distinct += 1
    return distinct


@njit
def _version(epochs, n, epoch):
    """The version that begins with `epoch`, one of the first n of ascending `epochs`; the first version
    is 1."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if epochs[middle, 0] < epoch:
            low = middle + 1
        else:
            high = middle
    return low + 1


@njit
def _read_row(table, old, cursors, count, order, key, depth, rounds, epochs, n, base, changes):
    """Move the cursors of a row past it; its published copies by corner go to `base`, its changes into lines.

    Lines have version, strictness and diff, ascending by version. Returns their number, how many cursors are
    left, and how many rows were skipped: the published ones of a row that no longer exists.
    """
    for s in range(base.shape[0]):
        base[s] = 0
    found = 0
    passed = 0
    for c in range(count - 1, -1, -1):
        if order[c] != 0:
            continue
        index = cursors[c, BATCH]
        batch = layer(table, index)
        width = batch.shape[1] - 2 - depth
        first = cursors[c, ROW]
        j = first
        while j < cursors[c, END] and (j == first or is_same(batch, j, first, key, width)):
            mask = strictness(batch, j, width, depth, rounds)
            diff = batch[j, width + depth + 1]
            if mask >= 0 and index < old:
                passed += 1
                for s in range(base.shape[0]):
                    if s & mask == s:
                        base[s] += diff
            elif mask >= 0:
                changes[found, VERSION] = _version(epochs, n, batch[j, width + depth])
                changes[found, MASK] = mask
                changes[found, DIFF] = diff
                found += 1
            j += 1
        if j < cursors[c, END]:
            put_cursor(cursors, c, batch, j, key, width)
        else:
            count -= 1
            move_cursor(cursors, count, c)
    order_by_epoch(changes, found)
    for s in range(base.shape[0]):
        if base[s] != 0:
            passed = 0
    return found, count, passed


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
def _any_left(trees):
    """Whether a corner has free places at a version."""
    for s in range(trees.shape[0]):
        if trees[s, 1, MOST] > 0:
            return True
    return False


@njit
def _write_gains(gains, epochs, n, first, row, lines, written):
    """Write lines for what the versions gained by a row, and reset the gains; returns the number of lines.

    A line has batch, row, epoch and diff.
    """
    version = gains[0, NEXT]
    gains[0, NEXT] = LAST
    while version != LAST:
        if gains[version, MORE] != 0 and version <= n:
            lines[written, 0] = first
            lines[written, 1] = row
            lines[written, 2] = epochs[version - 1, 0]
            lines[written, 3] = gains[version, MORE]
            written += 1
        following = gains[version, NEXT]
        gains[version, MORE] = 0
        gains[version, NEXT] = 0
        version = following
    return written


@njit
def _delta(table, lines, codes, entry_words):
    """Lines of batch, row, epoch and diff as a delta of uncoded words."""
    out = np.empty((codes.shape[0] + 2, lines.shape[0]), np.int64)
    width = write_words(table, lines, 0, codes, entry_words, out, 0)
    out[width] = lines[:, 2]
    out[width + 1] = lines[:, 3]
    return out[: width + 2]


@njit
def _sweep(
    table,
    old,
    size,
    key,
    rounds,
    offset,
    limit,
    codes,
    ends,
    arena,
    lows,
    highs,
    epochs,
    trees,
    gains,
    cursors,
    order,
    stack,
    base,
    changes,
    _owned,
):
    """The work of `reduce_top` for each of its groups, in arrays without reference counts.

    Returns lines of batch, row, epoch and diff, their number, and how many rows were skipped. Lowers `highs`
    to the rows that were read, if only these matter to later rounds.
    """
    depth = rounds.shape[0]
    width = codes.shape[0]
    lines = np.empty((2 * size + 16, 4), np.int64)
    written = 0
    passed = 0
    for m in range(size):
        n = _note_epochs(table, old, m, width, depth, rounds, lows, highs, epochs)
        if n == 0:
            continue
        reading, published = put_cursors(table, old, m, lows, highs, key, width, cursors)
        leaves = leaves_for(n + 1)
        _begin_places(trees, leaves, published, n + 1, rounds, offset + limit)
        while reading > 0 and _any_left(trees):
            foremost = foremost_cursor(table, cursors, reading, key, width, codes, ends, arena, order)
            first, row = cursors[foremost, BATCH], cursors[foremost, ROW]
            found, reading, wasted = _read_row(
                table, old, cursors, reading, order, key, depth, rounds, epochs, n, base, changes
            )
            passed += wasted
            _offer_row(trees, leaves, n + 1, base, changes, found, limit, gains, stack)
            while written + n > lines.shape[0]:
                lines = grow(lines)
            written = _write_gains(gains, epochs, n, first, row, lines, written)
        if depth == 1:
            for c in range(reading):
                highs[cursors[c, BATCH], m] = cursors[c, ROW]
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
    width = codes.shape[0]
    lows, highs = find_ranges(table, keys)
    corners = 1 << depth
    most = most_new_rows(lows, highs, old, size)
    epochs = np.empty((most, 1), np.int64)
    trees = np.empty((corners, 2 * leaves_for(most + 1), FIELDS), np.int64)
    gains = np.zeros((most + 2, 2), np.int64)
    gains[0, NEXT] = LAST
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    order = np.empty(table.shape[0], np.int64)
    stack = np.empty((STACK, 3), np.int64)
    base = np.empty(corners, np.int64)
    changes = np.empty((most, 3), np.int64)
    owned = (
        epochs,
        trees,
        gains,
        cursors,
        order,
        stack,
        base,
        changes,
    )  # keeps the arrays alive during the sweep
    lines, written, passed = _sweep(
        uncounted(table),
        old,
        size,
        key,
        uncounted(rounds),
        offset,
        limit,
        uncounted(codes),
        uncounted(ends),
        arena,
        uncounted(lows),
        uncounted(highs),
        uncounted(epochs),
        uncounted(trees),
        uncounted(gains),
        uncounted(cursors),
        uncounted(order),
        uncounted(stack),
        uncounted(base),
        uncounted(changes),
        owned,
    )
    later = np.empty((0, depth + key), np.int64)
    count = 0
    if depth > 0:
        later, count = later_visits(later, count, table, keys, 0, size, lows, highs, width, depth, rounds)
    return _delta(table, lines[:written], codes, entry_words), later[:count], passed
