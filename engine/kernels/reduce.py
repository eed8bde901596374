"""Reducing groups at their interesting times.

The output of a group at a time is a function F of the group's accumulated input. Its
difference at (rounds R, epoch e) is a Möbius sum of F over the corners of the box below
that time: for every subset S of the rounds' coordinates, the rows at rounds ≤ R and
strictly below R in the coordinates of S, up to e and before e, with alternating sign. So
no output is kept: the trace of the input is enough.

A corner is the bitmask S. A row at rounds Q ≤ R counts for S when Q is strictly below R
in all of S. The epochs that matter are those of the group's new rows at rounds ≤ R; all
published rows lie before them. They form a chain, which is swept forward once.

Rows at rounds not ≤ R make the group interesting again at the join of both: those are
handed back, to be visited when their round comes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.floats import to_word
from engine.kernels.layers import compare, find_ranges, layer
from engine.kernels.sort import sort_rows
from engine.schema import NULL

# How an aggregate follows from the slots.
COUNT = 0
SUM = 1
AVG = 2

CLAMP_DISTINCT = 0
CLAMP_POSITIVE = 1

INT64_HIGH = 2**31


@njit
def strictness(batch, j, width, depth, rounds):
    """Of a row at rounds ≤ `rounds`: the bitmask of the coordinates strictly below; else -1."""
    mask = 0
    for d in range(depth):
        q = batch[j, width + d]
        if q > rounds[d]:
            return -1
        if q < rounds[d]:
            mask |= 1 << d
    return mask


@njit
def parity(mask):
    """1 for an even number of bits, -1 for an odd one."""
    sign = 1
    while mask:
        mask &= mask - 1
        sign = -sign
    return sign


@njit
def grow(matrix):
    bigger = np.empty((2 * matrix.shape[0] + 16, matrix.shape[1]), np.int64)
    bigger[: matrix.shape[0]] = matrix
    return bigger


@njit
def note_later(later, count, keys, m, key, batch, j, width, depth, rounds):
    """Append (rounds joined, key) to `later` unless it is its last line; returns lines and count."""
    if count == later.shape[0]:
        later = grow(later)
    for d in range(depth):
        later[count, d] = max(rounds[d], batch[j, width + d])
    for w in range(key):
        later[count, depth + w] = keys[m, w]
    if count > 0 and compare(later, count - 1, later, count, depth + key) == 0:
        return later, count
    return later, count + 1


@njit
def gather(table, old, keys, m, key, width, depth, slots, rounds, lows, highs, base, fresh, later, count):
    """Accumulate a group's published rows by corner into `base`; collect its new ones in `fresh`.

    A line of `fresh` is epoch, strictness and the slots. Returns how many there are, and
    the lists, which may have grown.
    """
    corners = 1 << depth
    base[:] = 0
    n = 0
    for index in range(table.shape[0]):
        if lows[index, m] == highs[index, m]:
            continue
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            mask = strictness(batch, j, width, depth, rounds)
            if mask < 0:
                later, count = note_later(later, count, keys, m, key, batch, j, width, depth, rounds)
            elif index < old:
                for s in range(corners):
                    if s & mask == s:
                        for k in range(slots):
                            base[s, k] += batch[j, width + depth + 1 + k]
            else:
                if n == fresh.shape[0]:
                    fresh = grow(fresh)
                fresh[n, 0] = batch[j, width + depth]
                fresh[n, 1] = mask
                for k in range(slots):
                    fresh[n, 2 + k] = batch[j, width + depth + 1 + k]
                n += 1
    sort_rows(fresh[:n], 1)
    return n, fresh, later, count


@njit(inline="always")
def _clamped(multiplicity, clamp):
    if multiplicity <= 0:
        return 0
    return 1 if clamp == CLAMP_DISTINCT else multiplicity


@njit(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
    cache=True,
    nogil=True,
)
def threshold(keys, table, old, depth, rounds, clamp):
    """The changes of a bag's clamped multiplicities, for the rows `keys` [m, W] at one step.

    `table` holds the published batches (the first `old`), then the new ones. Returns a
    delta [W + 2, n], and lines (rounds, row) to visit later.
    """
    key = keys.shape[1]
    size = keys.shape[0]
    lows, highs = find_ranges(table, keys)
    corners = 1 << depth
    base = np.zeros((corners, 1), np.int64)
    fresh = np.empty((16, 3), np.int64)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    lines = np.empty((size + 16, 3), np.int64)
    written = 0
    for m in range(size):
        n, fresh, later, count = gather(
            table, old, keys, m, key, key, depth, 1, rounds, lows, highs, base, fresh, later, count
        )
        i = 0
        while i < n:
            epoch = fresh[i, 0]
            change = 0
            for s in range(corners):
                change -= parity(s) * _clamped(base[s, 0], clamp)
            while i < n and fresh[i, 0] == epoch:
                for s in range(corners):
                    if s & fresh[i, 1] == s:
                        base[s, 0] += fresh[i, 2]
                i += 1
            for s in range(corners):
                change += parity(s) * _clamped(base[s, 0], clamp)
            if change != 0:
                if written == lines.shape[0]:
                    lines = grow(lines)
                lines[written, 0] = m
                lines[written, 1] = epoch
                lines[written, 2] = change
                written += 1
    out = np.empty((key + 2, written), np.int64)
    for k in range(written):
        for w in range(key):
            out[w, k] = keys[lines[k, 0], w]
        out[key, k] = lines[k, 1]
        out[key + 1, k] = lines[k, 2]
    return out, later[:count]


@njit
def _finish(sums, finish, values):
    """The aggregates of a group's slots; true, or false with an overflow at values[-1]."""
    for a in range(finish.shape[0]):
        kind = finish[a, 0]
        if kind == COUNT:
            values[a] = sums[finish[a, 1]]
            continue
        counted = sums[finish[a, 1]]
        if counted <= 0:
            values[a] = NULL
            continue
        high = sums[finish[a, 2]]
        low = sums[finish[a, 3]]
        high += low >> 32
        low &= 0xFFFFFFFF
        if kind == AVG:
            total = (np.float64(high) * 4294967296.0 + np.float64(low)) / np.float64(finish[a, 4])
            values[a] = to_word(total / np.float64(counted))
        elif -INT64_HIGH <= high < INT64_HIGH and not (high == -INT64_HIGH and low == 0):
            values[a] = (high << 32) | low
        else:
            values[finish.shape[0]] = a
            return False
    return True


@njit
def settle(lines, start, written):
    """Add line `written` to an equal one from `start` on, or keep it; returns the new number of lines."""
    for k in range(start, written):
        same = True
        for c in range(3, lines.shape[1]):
            if lines[k, c] != lines[written, c]:
                same = False
                break
        if same:
            lines[k, 2] += lines[written, 2]
            if lines[k, 2] == 0:
                written -= 1
                lines[k] = lines[written]
            return written
    return written + 1


@njit(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64, int64, int64[::1], int64[:,::1])",
    cache=True,
    nogil=True,
)
def reduce_sums(keys, table, old, depth, slots, rounds, finish):
    """The changes of accumulated aggregates, for the groups `keys` [m, P] at one step.

    Slot 0 counts rows: a group is there while it is positive. `finish` (A, 5) holds a line
    an aggregate: kind, slot of the count, of the high and the low half, divisor of AVG.
    Returns a delta [P + A + 2, n]; failures [3, f] of aggregate, epoch, diff (a sum that
    leaves int64); and lines (rounds, key) to visit later.
    """
    key = keys.shape[1]
    size = keys.shape[0]
    lows, highs = find_ranges(table, keys)
    corners = 1 << depth
    aggregates = finish.shape[0]
    base = np.zeros((corners, slots), np.int64)
    fresh = np.empty((16, 2 + slots), np.int64)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    # A line: group, epoch, diff, failed aggregate or -1, values.
    lines = np.empty((2 * size + 16, 4 + aggregates), np.int64)
    written = 0
    failed = 0
    values = np.empty(aggregates + 1, np.int64)
    for m in range(size):
        n, fresh, later, count = gather(
            table, old, keys, m, key, key, depth, slots, rounds, lows, highs, base, fresh, later, count
        )
        i = 0
        while i < n:
            epoch = fresh[i, 0]
            start = written
            for phase in range(2):
                if phase == 1:
                    while i < n and fresh[i, 0] == epoch:
                        for s in range(corners):
                            if s & fresh[i, 1] == s:
                                for k in range(slots):
                                    base[s, k] += fresh[i, 2 + k]
                        i += 1
                for s in range(corners):
                    if base[s, 0] <= 0:
                        continue
                    sign = parity(s) if phase == 1 else -parity(s)
                    fine = _finish(base[s], finish, values)
                    if written == lines.shape[0]:
                        lines = grow(lines)
                    lines[written, 0] = m
                    lines[written, 1] = epoch
                    lines[written, 2] = sign
                    lines[written, 3] = -1 if fine else values[aggregates]
                    for a in range(aggregates):
                        lines[written, 4 + a] = values[a] if fine else 0
                    written = settle(lines, start, written)
            for k in range(start, written):
                if lines[k, 3] >= 0:
                    failed += 1
    out = np.empty((key + aggregates + 2, written - failed), np.int64)
    failures = np.empty((3, failed), np.int64)
    p = 0
    f = 0
    for k in range(written):
        if lines[k, 3] >= 0:
            failures[0, f] = lines[k, 3]
            failures[1, f] = lines[k, 1]
            failures[2, f] = lines[k, 2]
            f += 1
            continue
        for w in range(key):
            out[w, p] = keys[lines[k, 0], w]
        for a in range(aggregates):
            out[key + a, p] = lines[k, 4 + a]
        out[key + aggregates, p] = lines[k, 1]
        out[key + aggregates + 1, p] = lines[k, 2]
        p += 1
    return out, failures, later[:count]
