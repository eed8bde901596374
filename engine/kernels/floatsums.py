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
from engine.kernels.limbs import LIMB, MASK, rounded
from engine.kernels.magnitudes import bits, is_product_large, require_small
from engine.kernels.reduce import VALUES, delta_of, sweep
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
def _add(base, s, batch, j, width, diffs):
    """Count a row's values in its bucket at a corner, and add their limbs."""
    bucket = batch[j, width - 1]
    base[s, bucket] += batch[j, diffs]
    if bucket < BUCKETS:
        for p in range(3):
            base[s, KINDS + 3 * bucket + p] += batch[j, diffs + 1 + p]


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
            limbs[bucket + p] += sums[3 * bucket + p] & MASK
            limbs[bucket + p + 1] += sums[3 * bucket + p] >> LIMB
            seen |= bits(sums[3 * bucket + p])
    require_small(seen)
    total = rounded(limbs, -1074)
    return to_word(total / np.float64(values)) if average else to_word(total)


@njit
def _finish(base, s, average, lines, written):
    """Write the sum or the average of a group at a corner; 0 if it does not exist there."""
    counts = base[s, :KINDS]
    if counts.sum() <= 0:
        return 0
    lines[written, VALUES] = _value(counts, base[s, KINDS:], average[0, 0] != 0)
    return 1


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], boolean)",
)
def reduce_floats(keys, table, old, depth, rounds, average):
    """The changes of each group's sum, or average, for the groups `keys` [m, P] at one step.

    Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit in later rounds.
    """
    how = np.full((1, 1), np.int64(average))
    width = keys.shape[1] + 1
    lines, later = sweep(_add, _finish, keys, table, old, width, rounds, KINDS + 3 * BUCKETS, 1, how)
    return delta_of(keys, lines, VALUES, 1), later
