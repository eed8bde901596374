"""Sums of rows that are of few groups: the rows are numbered by group, instead of sorted.

They have a loop for each kind of slot, without a look at each sum on the way: only slots of 32 bits are added
up here, and only if there are so few rows, with such counts, that no sum of them can be too large.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import (
    NOWHERE,
    SLOT_HIGH,
    SLOT_LOW,
    SLOT_NOT_NULL,
    SLOT_ROWS,
    _contribution,
    put_lead,
)
from engine.kernels.compiled import kernel
from engine.kernels.magnitudes import MOST, bits
from engine.kernels.memory import empty_matrix
from engine.kernels.sort import sort_rows

MANY_ROWS = 256
"""From so many rows on, it is worth looking whether they are of few groups."""
FEW_GROUPS = 64
_SLOT_BITS = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit
def _are_small(delta, slots):
    """Whether all slots are of one word and 32 bits, and no sum of the rows' counts is too large for them."""
    for s in range(slots.shape[0]):
        kind, one, other = slots[s, 0], slots[s, 1], slots[s, 2]
        if one != NOWHERE and (kind > SLOT_LOW or one != other):
            return False
    seen = 0
    diffs = delta[delta.shape[0] - 1]
    for i in range(diffs.shape[0]):
        seen |= bits(diffs[i])
    return seen < (MOST >> 33) // max(diffs.shape[0], 1)


@njit(inline="always")
def _is_same_key(delta, order, i, j):
    """Whether two rows of the delta have the same words and epoch."""
    for w in range(order.shape[0]):
        if delta[order[w], i] != delta[order[w], j]:
            return False
    return True


@njit(inline="always")
def _home(delta, order, i):
    """The slot where a search for the group of row i begins."""
    state = np.uint64(0)
    for w in range(order.shape[0]):
        state = (state ^ np.uint64(delta[order[w], i])) * _MIX
        state ^= state >> np.uint64(32)
    return np.int64(state >> np.uint64(64 - _SLOT_BITS))


@njit
def _number_groups(delta, order, numbers):
    """Number the groups of the delta's rows as they come, if there are few of them. Fills in the `numbers` of
    the rows, and returns a row of each group; of none, if there are many."""
    slots = np.full(1 << _SLOT_BITS, -1, np.int64)
    firsts = np.empty(FEW_GROUPS, np.int64)
    count = 0
    for i in range(delta.shape[1]):
        slot = _home(delta, order, i)
        while slots[slot] >= 0 and not _is_same_key(delta, order, i, firsts[slots[slot]]):
            slot = (slot + 1) & ((1 << _SLOT_BITS) - 1)
        if slots[slot] < 0:
            if count == FEW_GROUPS:
                return firsts[:0]
            slots[slot] = count
            firsts[count] = i
            count += 1
        numbers[i] = slots[slot]
    return firsts[:count]


@njit
def _by_number(keys, numbers, groups):
    """The places of rows by group, in the order of `keys`, whose last column has the groups' numbers; and
    the end of each group."""
    last = keys.shape[1] - 1
    sizes, nexts = np.zeros(groups, np.int64), np.empty(groups, np.int64)
    for i in range(numbers.shape[0]):
        sizes[numbers[i]] += 1
    ends = np.empty(groups, np.int64)
    end = 0
    for g in range(groups):
        nexts[keys[g, last]] = end
        end += sizes[keys[g, last]]
        ends[g] = end
    places = np.empty(numbers.shape[0], np.int64)
    for i in range(numbers.shape[0]):
        places[nexts[numbers[i]]] = i
        nexts[numbers[i]] += 1
    return places, ends


@njit(inline="always")
def _total(kind, words, diffs, places, first, last):
    """What rows add to a slot. With a constant kind, it has a loop of its own."""
    total = 0
    for k in range(first, last):
        total += diffs[places[k]] * _contribution(kind, words[places[k]], 0)
    return total


@njit
def _add_sums(delta, slots, places, first, last, lead, rows, m):
    """Write the sums of a group behind the `lead` columns of line m of `rows`: what the delta's rows at
    `places`, from `first` up to `last`, add to the slots. Returns whether a sum is not zero."""
    diffs = delta[delta.shape[0] - 1]
    is_there = False
    for s in range(slots.shape[0]):
        kind, words = slots[s, 0], delta[max(slots[s, 1], 0)]
        if slots[s, 1] == NOWHERE:
            total = 0
        elif kind == SLOT_ROWS:
            total = _total(SLOT_ROWS, words, diffs, places, first, last)
        elif kind == SLOT_NOT_NULL:
            total = _total(SLOT_NOT_NULL, words, diffs, places, first, last)
        elif kind == SLOT_HIGH:
            total = _total(SLOT_HIGH, words, diffs, places, first, last)
        else:
            total = _total(SLOT_LOW, words, diffs, places, first, last)
        rows[m, lead + s] = total
        is_there |= total != 0
    return is_there


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64[:,::1])")
def sums_of_few(delta, order, rounds, slots):
    """As `engine.kernels.arrange.arrange_sums`; or [0, 0] if the rows are of many groups, or their sums may
    not be small."""
    numbers = np.empty(delta.shape[1], np.uint8)
    firsts = _number_groups(delta, order, numbers)
    groups = firsts.shape[0]
    if groups == 0 or not _are_small(delta, slots):
        return np.empty((0, 0), np.int64)
    lead = order.shape[0] + rounds.shape[0]
    keys = empty_matrix(groups, lead + 1)
    put_lead(delta[:, firsts], order, rounds, keys)
    for g in range(groups):
        keys[g, lead] = g
    sort_rows(keys, lead)
    places, ends = _by_number(keys, numbers, groups)
    rows = empty_matrix(groups, lead + slots.shape[0])
    m = first = 0
    for g in range(groups):
        if _add_sums(delta, slots, places, first, ends[g], lead, rows, m):
            for c in range(lead):
                rows[m, c] = keys[g, c]
            m += 1
        first = ends[g]
    return rows[:m]
