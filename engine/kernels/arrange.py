"""Differences into batches: sorted by words and epoch, consolidated, without zeros."""

from __future__ import annotations

from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare
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
    put_lead(delta, order, rounds, 0, delta.shape[1], None, None, rows)
    return rows


@njit(inline="always")
def _of(numbers, k):
    """One of some numbers; if there are none, its place among them."""
    return k if numbers is None else numbers[k]


@njit
def put_lead(delta, order, rounds, first, last, picks, places, rows):
    """Write the leading columns of rows of the delta, without diffs: for first ≤ k < last, row `picks[k]` to
    row `places[k]`, or row k to row k where there are no picks or places."""
    width = order.shape[0] - 1
    depth = rounds.shape[0]
    for k in range(first, last):
        i, place = _of(picks, k), _of(places, k)
        for w in range(width):
            rows[place, w] = delta[order[w], i]
        for d in range(depth):
            rows[place, width + d] = rounds[d]
        rows[place, width + depth] = delta[order[width], i]


@njit
def put_counts(delta, order, rounds, first, last, picks, places, rows):
    """As `put_lead`, with the delta's diffs."""
    put_lead(delta, order, rounds, first, last, picks, places, rows)
    diffs = delta[delta.shape[0] - 1]
    for k in range(first, last):
        rows[_of(places, k), rows.shape[1] - 1] = diffs[_of(picks, k)]


@njit
def put_sums(delta, order, rounds, slots, first, last, picks, places, rows):
    """As `put_lead`, with what the rows add to the slots. Raises OverflowError if that is too much."""
    put_lead(delta, order, rounds, first, last, picks, places, rows)
    lead = order.shape[0] + rounds.shape[0]
    diffs = delta[delta.shape[0] - 1]
    is_large = False
    for s in range(slots.shape[0]):
        kind = slots[s, 0]
        is_nowhere = slots[s, 1] == NOWHERE
        words = delta[0 if is_nowhere else slots[s, 1]]
        others = delta[0 if is_nowhere else slots[s, 2]]
        for k in range(first, last):
            i = _of(picks, k)
            part = 0 if is_nowhere else _contribution(kind, words[i], others[i])
            rows[_of(places, k), lead + s] = diffs[i] * part
            is_large |= is_product_large(diffs[i], part)
    if is_large:
        raise OverflowError("a sum does not fit into 64 bits")


@njit
def consolidate(rows, lead):
    """Sort by the first `lead` columns, add up the others, drop rows whose sums are all zero; in place."""
    sort_rows(rows, lead)
    return add_equal(rows, lead)


@njit
def add_equal(rows, lead):
    """As `consolidate`, for rows where equal ones in the first `lead` columns are adjacent already."""
    m = add_in_place(rows, lead)
    if 2 * m < rows.shape[0]:
        return rows[:m].copy()
    return rows[:m]


@njit
def add_in_place(rows, lead):
    """As `add_equal`; the result is the first rows, and their number is returned."""
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
    return m


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1])")
def arrange(delta, order, rounds):
    """A batch [m, P + d + 2] of a delta [W + 2, n].

    `order` (P + 1) names the P words to keep, key first, and then the epoch's row; `rounds` (d) is the step
    of the delta. Rows with equal words and epoch are added up, and rows whose diffs cancel are dropped.
    """
    n = delta.shape[1]
    lead = order.shape[0] + rounds.shape[0]
    rows = empty_matrix(n, lead + 1)
    put_counts(delta, order, rounds, 0, n, None, None, rows)
    return consolidate(rows, lead)


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64[:,::1])")
def arrange_sums(delta, order, rounds, slots):
    """A batch [m, P + d + 1 + K]: the delta's rows by key, with what they add to K slots as diffs.

    `slots` (K, 3) has a line a slot: its kind, and the delta's rows of its two arguments (one argument comes
    twice).
    """
    n = delta.shape[1]
    lead = order.shape[0] + rounds.shape[0]
    rows = empty_matrix(n, lead + slots.shape[0])
    put_sums(delta, order, rounds, slots, 0, n, None, None, rows)
    return consolidate(rows, lead)


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
