"""Exact sums of floats, kept in differences.

A finite double is an integer multiple of 2**-1074. It is split into three limbs of 32 bits that begin at a
multiple of 32 bits, its *bucket*; a group holds, for each bucket, the number of its values and the sums of
their limbs. All of this is linear, so a retraction leaves no trace, and the sum is rounded once, when it is
read. It depends only on the values, not on their order or history.

A trace of a group has the words `[key | bucket]` and the diffs `[values, limb, limb, limb]`. NULL, NaN and
the infinities have buckets of their own, which only count values.
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


@njit
def split(word, parts):
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
        rows[i, key] = split(rows[i, key], parts)
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
def _gather(table, old, m, width, depth, rounds, lows, highs, counts, sums, fresh):
    """As `reduce.read_group`, but the group's buckets stay separate; column 2 of `fresh` has the bucket."""
    corners = 1 << depth
    counts[:] = 0
    sums[:] = 0
    n = 0
    for index in range(table.shape[0]):
        if lows[index, m] == highs[index, m]:
            continue
        batch = layer(table, index)
        first = width + depth + 1
        for j in range(lows[index, m], highs[index, m]):
            mask = strictness(batch, j, width, depth, rounds)
            if mask < 0:
                continue
            if index >= old:
                fresh[n, 0] = batch[j, width + depth]
                fresh[n, 1] = mask
                fresh[n, 2] = batch[j, width - 1]
                for k in range(DIFFS):
                    fresh[n, 3 + k] = batch[j, first + k]
                n += 1
                continue
            for s in range(corners):
                if s & mask == s:
                    _add(counts, sums, s, batch[j, width - 1], batch, j, first)
    order_by_epoch(fresh, n)
    return n


@njit
def _add(counts, sums, corner, bucket, rows, i, first):
    counts[corner, bucket] += rows[i, first]
    if bucket < BUCKETS:
        for p in range(3):
            sums[corner, bucket, p] += rows[i, first + 1 + p]


@njit
def _settle_corners(counts, sums, average, m, epoch, side, lines, start, written):
    """Settle the group's row at every corner, with its sign times `side`; returns the new number of lines."""
    for s in range(counts.shape[0]):
        if counts[s].sum() > 0:
            lines[written, 0] = m
            lines[written, 1] = epoch
            lines[written, 2] = side * parity(s)
            lines[written, 3] = _value(counts[s], sums[s], average)
            written = settle(lines, start, written)
    return written


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], boolean)",
)
def reduce_floats(keys, table, old, depth, rounds, average):
    """The changes of each group's sum, or average, for the groups `keys` [m, P] at one step.

    Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit in later rounds.
    """
    size, key = keys.shape
    lows, highs = find_ranges(table, keys)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    if depth > 0:
        later, count = later_visits(later, count, table, keys, 0, size, lows, highs, key + 1, depth, rounds)
    corners = 1 << depth
    counts = np.empty((corners, KINDS), np.int64)
    sums = np.empty((corners, BUCKETS, 3), np.int64)
    fresh = np.empty((most_new_rows(lows, highs, old, size), 3 + DIFFS), np.int64)
    lines = np.empty((2 * size + 16, 4), np.int64)
    written = 0
    for m in range(size):
        n = _gather(table, old, m, key + 1, depth, rounds, lows, highs, counts, sums, fresh)
        i = 0
        while i < n:
            epoch = fresh[i, 0]
            start = written
            while written + 2 * corners > lines.shape[0]:
                lines = grow(lines)
            written = _settle_corners(counts, sums, average, m, epoch, -1, lines, start, written)
            while i < n and fresh[i, 0] == epoch:
                for s in range(corners):
                    if s & fresh[i, 1] == s:
                        _add(counts, sums, s, fresh[i, 2], fresh, i, 3)
                i += 1
            written = _settle_corners(counts, sums, average, m, epoch, 1, lines, start, written)
    return value_delta(keys, lines, written), later[:count]
