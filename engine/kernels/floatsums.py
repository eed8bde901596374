"""Exact sums of floats, kept in differences.

A finite double is an integer multiple of 2**-1074. It is split into three limbs of 32 bits that begin at a
multiple of 32 bits, its *bucket*; a group holds, for each bucket, the number of its values and the sums of
their limbs. All of this is linear, so a retraction leaves no trace, and the sum is rounded once, when it is
read. It depends only on the values, not on their order or history.

A trace of a group has the words `[key | bucket]` and the diffs `[values, limb, limb, limb]`. NULL, NaN and
the infinities have buckets of their own, which only count values.

`reduce_parts` reduces any rows whose last word names a part, and whose diffs are a count and limbs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import consolidate, pack
from engine.kernels.compiled import kernel
from engine.kernels.floats import to_float, to_word
from engine.kernels.layers import layer
from engine.kernels.limbs import LIMB, MASK, rounded
from engine.kernels.lookup import find_ranges
from engine.kernels.magnitudes import bits, is_product_large, require_small
from engine.kernels.reduce import (
    grow,
    later_visits,
    most_new_rows,
    order_by_epoch,
    parity,
    settle,
    strictness,
    value_delta,
)
from engine.kernels.words import NULL

BUCKETS = 64
"""Buckets of finite values: (1023 + 1074 - 52) / 32, and one more."""
NULLS, NANS, POSITIVE, NEGATIVE = 64, 65, 66, 67
KINDS = 68
DIFFS = 4
LIMBS = BUCKETS + 4
"""Limbs of a sum: those of the last bucket, and room for carries."""

# A new row: its epoch, strictness and part; its diffs follow.
_EPOCH, _STRICT, _PART, _DIFFS = range(4)


@njit
def _split(word, parts):
    """Fill `parts` with the limbs of a float's word; returns its bucket."""
    parts[:] = 0
    if word == NULL:
        return NULLS
    value = to_float(word)
    if value != value:
        return NANS
    if np.isinf(value):
        return POSITIVE if value > 0 else NEGATIVE
    bits = np.float64(value).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & 0xFFFFFFFFFFFFF
    if exponent > 0:
        mantissa |= 1 << 52
        exponent -= 1
    shift = exponent & (LIMB - 1)
    sign = -1 if bits < 0 else 1
    low = (mantissa & 0xFFFFFFFF) << shift
    high = (mantissa >> 32) << shift
    high += low >> 32
    parts[0] = sign * (low & 0xFFFFFFFF)
    parts[1] = sign * (high & 0xFFFFFFFF)
    parts[2] = sign * (high >> 32)
    return exponent >> 5


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64)")
def arrange_floats(delta, order, rounds, argument):
    """A batch [m, P + 1 + d + 1 + 4] of a delta's rows by key and bucket.

    `order` (P + 1) names the key's words and the epoch's row, `argument` the row of the floats.
    """
    key = order.shape[0] - 1
    depth = rounds.shape[0]
    lead = key + 1 + depth + 1
    keyed = np.empty(key + 2, np.int64)
    keyed[:key] = order[:key]
    keyed[key] = argument
    keyed[key + 1] = order[key]
    rows = pack(delta, keyed, rounds, lead + DIFFS)
    diffs = delta[delta.shape[0] - 1]
    parts = np.empty(3, np.int64)
    is_large = False
    for i in range(rows.shape[0]):
        rows[i, key] = _split(rows[i, key], parts)
        rows[i, lead] = diffs[i]
        for p in range(3):
            rows[i, lead + 1 + p] = diffs[i] * parts[p]
            is_large |= is_product_large(diffs[i], parts[p])
    if is_large:
        raise OverflowError("a sum does not fit into 64 bits")
    return consolidate(rows, lead)


@njit
def _value(counts, sums, average):
    """The word of the sum (or the average) of the values counted by kind; NULL if there are none."""
    values = seen = 0
    for kind in range(KINDS):
        seen |= bits(counts[kind])
        if kind != NULLS:
            values += counts[kind]
            seen |= bits(values)
    require_small(seen)
    if values <= 0:
        return NULL
    if counts[NANS] > 0 or (counts[POSITIVE] > 0 and counts[NEGATIVE] > 0):
        return to_word(np.nan)
    if counts[POSITIVE] > 0:
        return to_word(np.inf)
    if counts[NEGATIVE] > 0:
        return to_word(-np.inf)
    limbs = np.zeros(LIMBS, np.int64)
    for bucket in range(BUCKETS):
        for p in range(3):
            limbs[bucket + p] += sums[bucket, p] & MASK
            limbs[bucket + p + 1] += sums[bucket, p] >> LIMB
            seen |= bits(sums[bucket, p])
    require_small(seen)
    total = rounded(limbs, -1074)
    return to_word(total / np.float64(values)) if average else to_word(total)


@njit
def _add(counts, sums, corner, bucket, rows, i, first):
    """Count a row's diffs, from column `first` on, at a corner."""
    counts[corner, bucket] += rows[i, first]
    if bucket < BUCKETS:
        for p in range(3):
            sums[corner, bucket, p] += rows[i, first + 1 + p]


@njit
def _gather(table, old, m, width, rounds, lows, highs, counts, sums, fresh, add):
    """Count a group's published rows by corner; collect its new ones, by epoch. Returns their number."""
    counts[:] = 0
    sums[:] = 0
    n = 0
    first = width + rounds.shape[0] + 1
    for index in range(table.shape[0]):
        if lows[index, m] == highs[index, m]:
            continue
        batch = layer(table, index)
        for j in range(lows[index, m], highs[index, m]):
            mask = strictness(batch, j, width, rounds.shape[0], rounds)
            if mask < 0:
                continue
            if index < old:
                _count(mask, batch[j, width - 1], batch, j, first, counts, sums, add)
                continue
            fresh[n, _EPOCH] = batch[j, first - 1]
            fresh[n, _STRICT] = mask
            fresh[n, _PART] = batch[j, width - 1]
            for k in range(batch.shape[1] - first):
                fresh[n, _DIFFS + k] = batch[j, first + k]
            n += 1
    order_by_epoch(fresh, n)
    return n


@njit(inline="always")
def _count(mask, part, rows, i, first, counts, sums, add):
    """Count row i, whose diffs begin in column `first`, at the corners that it lies below."""
    for s in range(counts.shape[0]):
        if s & mask == s:
            add(counts, sums, s, part, rows, i, first)


@njit
def _settle_corners(counts, sums, value, option, m, epoch, side, lines, start, written):
    """Settle the group's row at every corner, with its sign times `side`; returns the new number of lines."""
    for s in range(counts.shape[0]):
        if counts[s].sum() > 0:
            lines[written, 0] = m
            lines[written, 1] = epoch
            lines[written, 2] = side * parity(s)
            lines[written, 3] = value(counts[s], sums[s], option)
            written = settle(lines, start, written)
    return written


@njit
def reduce_parts(keys, table, old, rounds, diffs, counts, sums, add, value, option):
    """The changes of each group's value, for the groups `keys` [m, P] at one step; rows have so many `diffs`.

    A corner has `counts` [C, N] and `sums` [C, A, B]; `add` counts a row there, as `_add` does. A group with
    rows gives a row of `value`, which gets the `option` too.
    Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit in later rounds.
    """
    size, key = keys.shape
    depth = rounds.shape[0]
    lows, highs = find_ranges(table, keys)
    later = np.empty((0, depth + key), np.int64)
    visits = 0
    if depth > 0:
        later, visits = later_visits(later, 0, table, keys, 0, size, lows, highs, key + 1, depth, rounds)
    fresh = np.empty((most_new_rows(lows, highs, old, size), _DIFFS + diffs), np.int64)
    lines = np.empty((2 * size + 16, 4), np.int64)
    written = 0
    for m in range(size):
        n = _gather(table, old, m, key + 1, rounds, lows, highs, counts, sums, fresh, add)
        i = 0
        while i < n:
            epoch = fresh[i, _EPOCH]
            start = written
            while written + 2 * counts.shape[0] > lines.shape[0]:
                lines = grow(lines)
            written = _settle_corners(counts, sums, value, option, m, epoch, -1, lines, start, written)
            while i < n and fresh[i, _EPOCH] == epoch:
                _count(fresh[i, _STRICT], fresh[i, _PART], fresh, i, _DIFFS, counts, sums, add)
                i += 1
            written = _settle_corners(counts, sums, value, option, m, epoch, 1, lines, start, written)
    return value_delta(keys, lines, written), later[:visits]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], boolean)",
)
def reduce_floats(keys, table, old, depth, rounds, average):
    """The changes of each group's sum, or average, for the groups `keys` [m, P] at one step.

    Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit in later rounds.
    """
    counts = np.empty((1 << depth, KINDS), np.int64)
    sums = np.empty((1 << depth, BUCKETS, 3), np.int64)
    return reduce_parts(keys, table, old, rounds, DIFFS, counts, sums, _add, _value, average)
