"""Times of several coordinates, for kernels that know epochs and rounds: chains as groups of their own.

A group's output can change only at joins of its rows' times, at least one of them new. The coordinate with
the most values is swept; a *chain* fixes the others at a join of the rows' values there. On a chain times are
totally ordered, as epochs are, and the fixed coordinates are as rounds are: a row lies strictly below the
chain in one of them, or at it. So each chain becomes a group with more rounds, whose key is led by the
chain's number. A rounds' coordinate of a row is 0 strictly below the chain, 1 at it.

Before `start`, all rows lie strictly below the chain in some coordinate, or none is new: nothing changes
there. Rows before it become published ones, those from it on new ones. Some of these may have been published
already, and have their part in the output: for them publication is one more coordinate, 0 for published rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer
from engine.kernels.reduce import grow, later_visits, parity, strictness
from engine.kernels.times import join_times

# A chain: its group; which coordinate it sweeps; the time without that; where changes begin, in the swept
# coordinate; how many rows it has before that, and from there on; whether some of the latter are published.
GROUP, AXIS, FIXED, START, BEFORE, FROM, IS_OLD, CHAIN = range(8)

_NOWHERE = 1 << 62
"""Above every coordinate."""


@njit
def _group_times(table, old, m, width, rounds, lows, highs, times):
    """The times of a group's rows at or below `rounds`, as lines of time, strictness and whether published.

    Returns the lines, their number, and whether one is new.
    """
    n = 0
    is_changed = False
    for index in range(table.shape[0]):
        low, high = lows[index, m], highs[index, m]
        if low == high:
            continue
        batch = layer(table, index)
        while n + high - low > times.shape[0]:
            times = grow(times)
        for j in range(low, high):
            mask = strictness(batch, j, width, rounds.shape[0], rounds)
            if mask >= 0:
                times[n, 0] = batch[j, width + rounds.shape[0]]
                times[n, 1] = mask
                times[n, 2] = int(index < old)
                is_changed |= index >= old
                n += 1
    return times, n, is_changed


@njit
def _axis(times, masks):
    """The coordinate with the most values, the first of them."""
    if masks.shape[0] == 1:
        return 0
    most = axis = 0
    for c in range(masks.shape[0]):
        values = np.unique(times & masks[c]).shape[0]
        if values > most:
            most, axis = values, c
    return axis


@njit
def _closed(fixed, masks):
    """The joins of some times, in an order that extends the product order; `masks` are their coordinates."""
    known = np.unique(fixed)
    if masks.shape[0] < 2:
        return known
    closed = known[:1]
    for i in range(1, known.shape[0]):
        joins = np.empty(closed.shape[0] + 1, np.int64)
        for k in range(closed.shape[0]):
            joins[k] = join_times(known[i], closed[k], masks)
        joins[closed.shape[0]] = known[i]
        closed = np.unique(np.concatenate((closed, joins)))
    return closed


@njit(inline="always")
def _strictly_below(time, fixed, masks):
    """The bitmask of the coordinates `masks` in which a time is strictly below `fixed`; -1 if it is above."""
    mask = 0
    for c in range(masks.shape[0]):
        field = time & masks[c]
        if field > fixed & masks[c]:
            return -1
        if field < fixed & masks[c]:
            mask |= 1 << c
    return mask


@njit
def _measure(times, n, swept, others, chain, least):
    """Complete a chain whose group, axis and fixed coordinates are known; false if nothing changes on it."""
    depth = least.shape[0] - others.shape[0]
    least[:] = _NOWHERE
    newest = latest = -1
    start = _NOWHERE
    for i in range(n):
        outer = _strictly_below(times[i, 0], chain[FIXED], others)
        if outer < 0:
            continue
        position = times[i, 0] & swept
        strict = times[i, 1] | outer << depth
        for bit in range(least.shape[0]):
            if strict & (1 << bit) == 0:
                least[bit] = min(least[bit], position)
        if times[i, 2] == 0:
            start = min(start, position)
            newest = max(newest, position)
        else:
            latest = max(latest, position)
    for bit in range(least.shape[0]):
        start = max(start, least[bit])
    if newest < 0 or start == _NOWHERE:
        return False
    chain[START] = start
    chain[IS_OLD] = int(latest >= start)
    chain[BEFORE] = chain[FROM] = 0
    for i in range(n):
        if _strictly_below(times[i, 0], chain[FIXED], others) >= 0:
            chain[BEFORE if times[i, 0] & swept < start else FROM] += 1
    return True


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64[::1], int64, int64[::1], int64[:,::1], int64[:,::1])"
)
def list_chains(keys, table, old, rounds, width, masks, lows, highs):
    """The chains [n, CHAIN] of the groups `keys` [m, P], and lines (rounds, key) to visit in later rounds.

    `table` holds batches of `width` words: the published ones (the first `old`), then the new ones; `lows`
    and `highs` [L, m] give the groups' rows. `masks` are the coordinates of times (`engine.kernels.times`).
    """
    size, key = keys.shape
    depth = rounds.shape[0]
    chains = np.empty((2 * size + 16, CHAIN), np.int64)
    times = np.empty((64, 3), np.int64)
    least = np.empty(depth + masks.shape[0] - 1, np.int64)
    count = 0
    for m in range(size):
        times, n, is_changed = _group_times(table, old, m, width, rounds, lows, highs, times)
        if not is_changed:
            continue
        axis = _axis(times[:n, 0], masks)
        others = np.concatenate((masks[:axis], masks[axis + 1 :]))
        for fixed in _closed(times[:n, 0] & ~masks[axis], others):
            if count == chains.shape[0]:
                chains = grow(chains)
            chains[count, GROUP] = m
            chains[count, AXIS] = axis
            chains[count, FIXED] = fixed
            count += int(_measure(times, n, masks[axis], others, chains[count], least))
    later = np.empty((0, depth + key), np.int64)
    visits = 0
    if depth > 0:
        later, visits = later_visits(later, 0, table, keys, 0, size, lows, highs, width, depth, rounds)
    return chains[:count], later[:visits]


@njit
def _corners(bits, sign):
    """The corners of this sign; of sign 0 there is one, all rows."""
    if sign == 0:
        return np.zeros(1, np.int64)
    every = np.arange(1 << bits)
    return every[np.array([parity(s) == sign for s in every])]


@njit
def _write_row(number, batch, j, width, strict, rounds, time, rows, n):
    """Write row j of a batch as a row of a group with this number; returns the rows, perhaps enlarged."""
    if n == rows.shape[0]:
        rows = grow(rows)
    rows[n, 0] = number
    for w in range(width):
        rows[n, 1 + w] = batch[j, w]
    for bit in range(rounds):
        rows[n, 1 + width + bit] = int(strict & (1 << bit) == 0)
    lead = 1 + width + rounds
    rows[n, lead] = time
    diffs = rows.shape[1] - lead - 1
    for k in range(diffs):
        rows[n, lead + 1 + k] = batch[j, batch.shape[1] - diffs + k]
    return rows


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64[::1], int64, int64[::1], int64[:,::1], int64[:,::1], int64,"
    "int64)"
)
def unroll_chains(chains, table, old, rounds, width, masks, lows, highs, bits, sign):
    """The rows of `chains`, in the form of `list_chains`: those before their starts, and the others.

    With sign 0 a row has the chain's number, the `width` words, `bits` rounds, the time and the diffs. With
    another sign each corner s of that sign is a group: a row that counts for it has the number
    c << `bits` | s for chain c, and no rounds. Rows are in the order of the table's batches, and within a
    batch sorted as there. Returns also the ends [2, L] of batches.
    """
    depth = rounds.shape[0]
    kept = bits if sign == 0 else 0
    columns = kept + 1
    if table.shape[0] > 0:
        columns += layer(table, 0).shape[1] - depth
    before = np.empty((chains[:, BEFORE].sum(), columns), np.int64)
    after = np.empty((chains[:, FROM].sum(), columns), np.int64)
    ends = np.empty((2, table.shape[0]), np.int64)
    corners = _corners(bits, sign)
    b = a = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        for c in range(chains.shape[0]):
            m, axis, fixed = chains[c, GROUP], chains[c, AXIS], chains[c, FIXED]
            if lows[index, m] == highs[index, m]:
                continue
            others = np.concatenate((masks[:axis], masks[axis + 1 :]))
            for s in corners:
                number = c << (bits - kept) | s
                for j in range(lows[index, m], highs[index, m]):
                    mask = strictness(batch, j, width, depth, rounds)
                    time = batch[j, width + depth]
                    outer = _strictly_below(time, fixed, others)
                    if mask < 0 or outer < 0:
                        continue
                    strict = mask | outer << depth
                    if index < old and chains[c, IS_OLD] == 1:
                        strict |= 1 << (bits - 1)
                    if s & strict != s:
                        continue
                    position = time & masks[axis]
                    time = fixed | position
                    if position < chains[c, START]:
                        before = _write_row(number, batch, j, width, strict, kept, time, before, b)
                        b += 1
                    else:
                        after = _write_row(number, batch, j, width, strict, kept, time, after, a)
                        a += 1
        ends[0, index], ends[1, index] = b, a
    return before[:b], after[:a], ends


PUBLISHED = -1
"""The time of rows that were there before a chain begins."""


@kernel("UniTuple(int64[:,::1], 2)(int64[:,::1], int64)")
def existing_rows(batch, width):
    """The same rows of `width` words, with counts for which no row is ever there less than 0 times.

    Equal rows of the batch lie together; its times are those of a chain, or PUBLISHED. Returns the published
    rows and the others.
    """
    n = batch.shape[0]
    before = np.empty_like(batch)
    after = np.empty_like(batch)
    b = a = 0
    start = 0
    while start < n:
        end = start + 1
        while end < n and compare(batch, start, batch, end, width) == 0:
            end += 1
        there = shown = 0
        lines = start + np.argsort(batch[start:end, width], kind="mergesort")
        for i in range(lines.shape[0]):
            time = batch[lines[i], width]
            there += batch[lines[i], width + 1]
            is_last = i + 1 == lines.shape[0] or batch[lines[i + 1], width] != time
            if not is_last or max(there, 0) == shown:
                continue
            rows, place = (before, b) if time == PUBLISHED else (after, a)
            rows[place] = batch[start]
            rows[place, width] = time
            rows[place, width + 1] = max(there, 0) - shown
            shown = max(there, 0)
            b += time == PUBLISHED
            a += time != PUBLISHED
        start = end
    return before[:b], after[:a]
