"""Differences into batches: sorted by words and epoch, consolidated, without zeros."""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, uncounted
from engine.kernels.magnitudes import bits, is_product_large, require_small
from engine.kernels.memory import empty_matrix
from engine.kernels.moments import PRODUCT_LIMBS, product_limb
from engine.kernels.sort import sort_rows
from engine.kernels.words import NULL

# What a row adds to a slot: 1; 1 unless the column is NULL; the high and low halves of the column, with its
# sign. Halves need no carry, so slots are linear. A number with more bits has a third part, its top, which is
# halved too, and three slots count those that are NaN, Infinity and -Infinity; what such a slot reads is at
# NOWHERE if it is 0 in all rows. A slot of two columns skips rows in which either is NULL.
SLOT_ROWS = 0
SLOT_NOT_NULL = 1
SLOT_HIGH = 2
SLOT_LOW = 3
SLOT_TOP_HIGH = 4
SLOT_PRODUCT = 5
"""The first of the limbs of a product of two columns (`engine.kernels.moments`)."""
SLOT_TOP_LOW = SLOT_PRODUCT + PRODUCT_LIMBS
SLOT_NAN, SLOT_POSITIVE, SLOT_NEGATIVE = range(SLOT_TOP_LOW + 1, SLOT_TOP_LOW + 4)
NOWHERE = -1


@njit(inline="always")
def _contribution(kind, word, other):
    """What one row adds to a slot."""
    if kind == SLOT_ROWS:
        return 1
    if word == NULL or other == NULL:
        return 0
    if kind == SLOT_NOT_NULL:
        return 1
    if kind in (SLOT_HIGH, SLOT_TOP_HIGH):
        return word >> 32 if word >= 0 else -(-word >> 32)
    if kind in (SLOT_LOW, SLOT_TOP_LOW):
        return word & 0xFFFFFFFF if word >= 0 else -(-word & 0xFFFFFFFF)
    if kind > SLOT_TOP_LOW:
        return word
    return product_limb(word, other, kind - SLOT_PRODUCT)


@njit
def pack(delta, order, rounds, columns):
    """The delta row by row: the words that `order` names, the rounds, the epoch, and room for diffs."""
    rows = empty_matrix(delta.shape[1], columns)
    put_lead(delta, order, rounds, rows)
    return rows


@njit
def put_lead(delta, order, rounds, rows):
    """Write the leading columns of the delta's rows, without diffs."""
    width = order.shape[0] - 1
    depth = rounds.shape[0]
    for k in range(delta.shape[1]):
        for w in range(width):
            rows[k, w] = delta[order[w], k]
        for d in range(depth):
            rows[k, width + d] = rounds[d]
        rows[k, width + depth] = delta[order[width], k]


@njit
def consolidate(rows, lead):
    """Sort by the first `lead` columns, add up the others, drop rows whose sums are all zero; in place."""
    sort_rows(rows, lead)
    return add_equal(rows, lead)


@njit
def add_equal(rows, lead):
    """As `consolidate`, for rows where equal ones in the first `lead` columns are adjacent already."""
    n, columns = rows.shape
    seen = 0
    m = 0
    i = 0
    while i < n:
        if i > m:
            for c in range(columns):
                rows[m, c] = rows[i, c]
        i += 1
        while i < n and compare(rows, i, rows, m, lead) == 0:
            for c in range(lead, columns):
                rows[m, c] += rows[i, c]
                seen |= bits(rows[m, c])
            i += 1
        for c in range(lead, columns):
            if rows[m, c] != 0:
                m += 1
                break
    require_small(seen)
    return _first(rows, m)


@njit
def _first(rows, m):
    """The first m rows; a copy, if they are few of them."""
    if 2 * m < rows.shape[0]:
        return rows[:m].copy()
    return rows[:m]


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1])")
def arrange(delta, order, rounds):
    """A batch [m, P + d + 2] of a delta [W + 2, n].

    `order` (P + 1) names the P words to keep, key first, and then the epoch's row; `rounds` (d) is the step
    of the delta. Rows with equal words and epoch are added up, and rows whose diffs cancel are dropped.
    """
    lead = order.shape[0] + rounds.shape[0]
    rows = pack(delta, order, rounds, lead + 1)
    rows[:, lead] = delta[delta.shape[0] - 1]
    return consolidate(rows, lead)


@njit(inline="always")
def _add_sums(delta, slots, keys, first, last, lead, rows, m):
    """Write the sums of a group behind the `lead` columns of line m of `rows`: what the delta's rows that are
    named behind the `lead` columns of `keys`, from `first` up to `last`, add to the slots. Returns the `bits`
    of all sums on the way, whether a row adds too much, and whether a sum is not zero."""
    diffs = delta.shape[0] - 1
    seen, is_large, is_there = 0, False, False
    for s in range(slots.shape[0]):
        kind, one, other = slots[s, 0], slots[s, 1], slots[s, 2]
        total = 0
        for k in range(first, first if one == NOWHERE else last):
            i = keys[k, lead]
            diff, part = delta[diffs, i], _contribution(kind, delta[one, i], delta[other, i])
            total += diff * part
            is_large |= is_product_large(diff, part)
            seen |= bits(total)
        rows[m, lead + s] = total
        is_there |= total != 0
    return seen, is_large, is_there


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64[:,::1])")
def arrange_sums(delta, order, rounds, slots):
    """A batch [m, P + d + 1 + K]: the delta's rows by key, with what they add to K slots as diffs.

    `slots` (K, 3) has a line a slot: its kind, and the delta's rows of its two arguments (one argument comes
    twice).
    """
    n = delta.shape[1]
    lead = order.shape[0] + rounds.shape[0]
    keys = pack(delta, order, rounds, lead + 1)
    for k in range(n):
        keys[k, lead] = k
    sort_rows(keys, lead)
    rows = empty_matrix(n, lead + slots.shape[0])
    given, sums = uncounted(delta), uncounted(rows)  # not the keys, which nothing else keeps alive
    seen, is_large = 0, False
    m = first = 0
    while first < n:
        last = first + 1
        while last < n and compare(keys, last, keys, first, lead) == 0:
            last += 1
        more, too_much, is_there = _add_sums(given, slots, keys, first, last, lead, sums, m)
        seen |= more
        is_large |= too_much
        if is_there:
            for c in range(lead):
                sums[m, c] = keys[first, c]
            m += 1
        first = last
    if is_large:
        raise OverflowError("a sum does not fit into 64 bits")
    require_small(seen)
    return _first(rows, m)


@kernel("int64[:,::1](int64[:,::1], int64)")
def distinct_keys(batch, width):
    """The distinct keys of a sorted batch: its first `width` words, [m, width]."""
    n = batch.shape[0]
    out = empty_matrix(n, width)
    m = 0
    for i in range(n):
        if i == 0 or compare(batch, i, batch, i - 1, width) != 0:
            out[m] = batch[i, :width]
            m += 1
    return out[:m]
