"""Exact comoments of floats, kept in differences: n * sum(x * y) - sum(x) * sum(y), rounded once.

As in `engine.kernels.floatsums`, a float is an integer multiple of 2**-1074, and its limbs belong to a
bucket. A product of two floats is a multiple of 2**-2148 with limbs and a bucket of its own. A trace of a
group has the words `[key | part]` and the diffs `[pairs, limb, ...]`: a part says which of x, y and x * y the
limbs belong to, and their bucket. Pairs with a NULL, and pairs with a NaN or an infinity, have parts of their
own, which only count pairs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import consolidate, pack
from engine.kernels.compiled import kernel
from engine.kernels.floats import to_float, to_word
from engine.kernels.limbs import LIMB, MASK, add_product, magnitude, rounded
from engine.kernels.magnitudes import bits, is_product_large, require_small
from engine.kernels.moments import product_limb
from engine.kernels.reduce import VALUES, delta_of, sweep
from engine.kernels.words import NULL

X, Y, PRODUCT, NULLS, SPECIALS = range(5)
_PARTS = 5
_BUCKETS = 256
"""Buckets of a part; a product has fewer than 132."""
_LIMBS = 144
"""Limbs of a sum, with room for carries and for the comoment's limbs."""
PAIR_DIFFS = 6


@njit
def _mantissa(word):
    """The mantissa with its sign, and the exponent above 2**-1074, of a finite float's word."""
    bits = np.float64(to_float(word)).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & 0xFFFFFFFFFFFFF
    if exponent > 0:
        mantissa |= 1 << 52
        exponent -= 1
    return (-mantissa if bits < 0 else mantissa), exponent


@njit
def _write_limbs(x, y, exponent, diff, row, first):
    """Write the limbs of x * y * 2**exponent, times `diff`, from column `first` on; returns their bucket.

    Raises OverflowError if one of them does not fit.
    """
    shift = np.uint64(exponent & (LIMB - 1))
    carried = np.uint64(0)
    sign = 1
    for p in range(4):
        limb = product_limb(x, y, p)
        if limb < 0:
            sign = -1
        shifted = (np.uint64(abs(limb)) << shift) + carried
        row[first + p] = np.int64(shifted & np.uint64(MASK))
        carried = shifted >> np.uint64(LIMB)
    row[first + 4] = np.int64(carried)
    for column in range(first, first + 5):
        if is_product_large(diff, row[column]):
            raise OverflowError("a sum does not fit into 64 bits")
        row[column] *= sign * diff
    return exponent >> 5


@njit
def _is_special(word):
    value = to_float(word)
    return value != value or np.isinf(value)


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64, int64)")
def arrange_pairs(delta, order, rounds, first, second):
    """A batch [m, P + 1 + d + 1 + 6] of a delta's rows by key and part.

    `order` (P + 1) names the key's words and the epoch's row, `first` and `second` the rows of x and y.
    """
    key = order.shape[0] - 1
    lead = key + 1 + rounds.shape[0] + 1
    n = delta.shape[1]
    keyed = np.empty(key + 2, np.int64)
    keyed[:key] = order[:key]
    keyed[key] = first
    keyed[key + 1] = order[key]
    diffs = delta[delta.shape[0] - 1]
    given = pack(delta, keyed, rounds, lead + PAIR_DIFFS)
    rows = np.empty((3 * n, lead + PAIR_DIFFS), np.int64)
    count = 0
    for i in range(n):
        x, y, diff = delta[first, i], delta[second, i], diffs[i]
        is_null = x == NULL or y == NULL
        if is_null or _is_special(x) or _is_special(y):
            rows[count] = given[i]
            rows[count, key] = (NULLS if is_null else SPECIALS) * _BUCKETS
            rows[count, lead] = diff
            rows[count, lead + 1 :] = 0
            count += 1
            continue
        x_mantissa, x_exponent = _mantissa(x)
        y_mantissa, y_exponent = _mantissa(y)
        for part in range(3):
            if part == Y and first == second:
                continue
            left = y_mantissa if part == Y else x_mantissa
            right = y_mantissa if part == PRODUCT else 1
            exponent = y_exponent if part == Y else x_exponent
            if part == PRODUCT:
                exponent += y_exponent
            rows[count] = given[i]
            bucket = _write_limbs(left, right, exponent, diff, rows[count], lead + 1)
            rows[count, key] = part * _BUCKETS + bucket
            rows[count, lead] = diff if part == PRODUCT else 0
            count += 1
    return consolidate(rows[:count].copy(), lead)


@njit
def _add(base, s, batch, j, width, diffs):
    """Count a row's pairs of its part at a corner, and add their limbs."""
    part = batch[j, width - 1]
    which = part // _BUCKETS
    base[s, which] += batch[j, diffs]
    if which <= PRODUCT:
        first = _PARTS + which * _LIMBS + part % _BUCKETS
        for p in range(PAIR_DIFFS - 1):
            base[s, first + p] += batch[j, diffs + 1 + p]


@njit
def _value(pairs, sums, is_one):
    """The word of the comoment; NULL if no pair has both values."""
    seen = 0
    for part in range(_PARTS):
        seen |= bits(pairs[part])
    for part in range(3):
        for limb in range(_LIMBS):
            seen |= bits(sums[part, limb])
    require_small(seen)
    count = pairs[PRODUCT] + pairs[SPECIALS]
    if count <= 0:
        return NULL
    if pairs[SPECIALS] > 0:
        return to_word(np.nan)
    parts = sums.copy()
    if is_one:
        parts[Y] = parts[X]
    total = np.zeros(_LIMBS + 4, np.int64)
    number = np.array([count & MASK, count >> LIMB])
    sign = magnitude(parts[PRODUCT])
    add_product(parts[PRODUCT], number, sign, total)
    sign = magnitude(parts[X]) * magnitude(parts[Y])
    add_product(parts[X, : _LIMBS // 2], parts[Y, : _LIMBS // 2], -sign, total)
    return to_word(rounded(total, -2148))


@njit
def _finish(base, s, is_one, lines, written):
    """Write the comoment of a group at a corner; 0 if it does not exist there."""
    pairs = base[s, :_PARTS]
    if pairs.sum() <= 0:
        return 0
    sums = base[s, _PARTS:].reshape((3, _LIMBS))
    lines[written, VALUES] = _value(pairs, sums, is_one[0, 0] != 0)
    return 1


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], boolean)",
)
def reduce_pairs(keys, table, old, depth, rounds, is_one):
    """The changes of each group's comoment, for the groups `keys` [m, P] at one step; `is_one`: y is x.

    Returns a delta [P + 1 + 2, n] and lines (rounds, key) to visit in later rounds.
    """
    how = np.full((1, 1), np.int64(is_one))
    width = keys.shape[1] + 1
    lines, later = sweep(_add, _finish, keys, table, old, width, rounds, _PARTS + 3 * _LIMBS, 1, how)
    return delta_of(keys, lines, VALUES, 1), later
