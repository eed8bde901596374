"""Reducing groups at their interesting times.

The output of a group at a time is a function F of the group's accumulated input. Its difference at (rounds R,
epoch e) is a Möbius sum of F over the corners of the box below that time: for every subset S of the rounds'
coordinates, the rows at rounds ≤ R and strictly below R in the coordinates of S, up to e and before e, with
alternating sign. So no output is stored: the trace of the input is enough.

A corner is the bitmask S. A row at rounds Q ≤ R counts for S if Q is strictly below R in all of S. The epochs
that matter are those of the group's new rows at rounds ≤ R; all published rows come before them. They form a
chain, which is swept forward once.

Rows at rounds not ≤ R make the group interesting again at the join of both: those joins are returned, to be
visited when their round comes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.floats import to_word
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.layers import compare, layer, uncounted
from engine.kernels.lookup import BLOCK, find_block
from engine.kernels.magnitudes import bits, require_small
from engine.kernels.moments import PRODUCT_LIMBS, comoment
from engine.kernels.sort import sort_rows
from engine.kernels.words import NULL

# How an aggregate follows from the slots.
COUNT = 0
SUM = 1
AVG = 2
COMOMENT = 3

# Columns of the line that says how: slots, and powers of ten by which the arguments' words are scaled.
KIND, COUNTED, HIGH, LOW, SCALE, TOP, OTHER_HIGH, OTHER_LOW, OTHER_SCALE, PRODUCT, FINISH = range(11)

CLAMP_DISTINCT = 0
CLAMP_POSITIVE = 1

INT64_HIGH = 2**31

# TOP is the first of the two slots with the tops of wide numbers. Its values for an aggregate without them:
# one of integers, or of numbers that fit into two parts.
INTEGERS = -1
NUMBERS = -2

# Values in place of the aggregate that overflows: none does, or a number is wide.
FINE = -1
WIDE = -2


@njit(inline="always")
def strictness(batch, j, width, depth, rounds):
    """For a row at rounds ≤ `rounds`, the bitmask of the coordinates strictly below; else -1."""
    mask = 0
    for d in range(depth):
        q = batch[j, width + d]
        if q > rounds[d]:
            return -1
        if q < rounds[d]:
            mask |= 1 << d
    return mask


@njit(inline="always")
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
def later_visits(later, count, table, keys, first, last, lows, highs, width, depth, rounds):
    """Append lines (rounds, key) at which groups are interesting again to the first `count` lines of `later`.

    These are the joins of `rounds` with those rounds of the groups' rows that are not at or below them, for
    the groups first ≤ m < last of `keys`; the block's lows and highs give their rows, and `width` is the
    number of words in a row. Returns the list and its length.
    """
    key = keys.shape[1]
    for m in range(first, last):
        for index in range(table.shape[0]):
            low = lows[index, m - first]
            high = highs[index, m - first]
            if low == high:
                continue
            batch = layer(table, index)
            for j in range(low, high):
                if strictness(batch, j, width, depth, rounds) >= 0:
                    continue
                if count == later.shape[0]:
                    later = grow(later)
                for d in range(depth):
                    later[count, d] = max(rounds[d], batch[j, width + d])
                for w in range(key):
                    later[count, depth + w] = keys[m, w]
                if count == 0 or compare(later, count - 1, later, count, depth + key) != 0:
                    count += 1
    return later, count


@njit
def most_new_rows(lows, highs, old, count):
    """The largest number of new rows in one of the block's `count` groups."""
    most = 0
    for m in range(count):
        n = 0
        for index in range(old, lows.shape[0]):
            n += highs[index, m] - lows[index, m]
        most = max(most, n)
    return most


@njit(inline="always")
def order_by_epoch(fresh, n):
    """Sort the first n lines of `fresh`, usually few or sorted already, by their first column."""
    for i in range(1, n):
        if fresh[i, 0] < fresh[i - 1, 0]:
            sort_rows(fresh[:n], 1)
            break


@njit
def room_for_block(lows, highs, old, groups, later, count, fresh, lines, written, corners):
    """`later`, `fresh` and `lines`, enlarged if the rows of a block's `groups` may need it."""
    rows = 0
    new = 0
    for index in range(lows.shape[0]):
        for m in range(groups):
            rows += highs[index, m] - lows[index, m]
            if index >= old:
                new += highs[index, m] - lows[index, m]
    while later.shape[1] > 0 and count + rows > later.shape[0]:
        later = grow(later)
    while written + 2 * corners * new > lines.shape[0]:
        lines = grow(lines)
    most = most_new_rows(lows, highs, old, groups)
    if most > fresh.shape[0]:
        fresh = np.empty((most, fresh.shape[1]), np.int64)
    return later, fresh, lines


@njit
def read_group(table, old, keys, m, place, lows, highs, width, slots, rounds, base, fresh, later, count):
    """Accumulate a group's published rows by corner in `base`; collect its new ones in `fresh`.

    The group is keys[m], and its rows are those of the block's `place`. A line of `fresh` has epoch,
    strictness and the slots; lines are sorted by epoch. Rows not at or below `rounds` append lines (rounds,
    key) to the first `count` lines of `later`, as in `later_visits`. Returns the number of lines of both.
    """
    depth = rounds.shape[0]
    key = keys.shape[1]
    corners = base.shape[0]
    for s in range(corners):
        for k in range(slots):
            base[s, k] = 0
    n = 0
    for index in range(table.shape[0]):
        low = lows[index, place]
        high = highs[index, place]
        if low == high:
            continue
        batch = layer(table, index)
        for j in range(low, high):
            mask = strictness(batch, j, width, depth, rounds)
            if mask < 0:
                for d in range(depth):
                    later[count, d] = max(rounds[d], batch[j, width + d])
                for w in range(key):
                    later[count, depth + w] = keys[m, w]
                if count == 0 or compare(later, count - 1, later, count, depth + key) != 0:
                    count += 1
            elif index < old:
                for s in range(corners):
                    if s & mask == s:
                        for k in range(slots):
                            base[s, k] += batch[j, width + depth + 1 + k]
            else:
                fresh[n, 0] = batch[j, width + depth]
                fresh[n, 1] = mask
                for k in range(slots):
                    fresh[n, 2 + k] = batch[j, width + depth + 1 + k]
                n += 1
    order_by_epoch(fresh, n)
    return n, count


@njit(inline="always")
def absorb(fresh, i, n, slots, base):
    """Add the lines of `fresh` from i on with the same epoch to `base`; returns the next line."""
    epoch = fresh[i, 0]
    while i < n and fresh[i, 0] == epoch:
        for s in range(base.shape[0]):
            if s & fresh[i, 1] == s:
                for k in range(slots):
                    base[s, k] += fresh[i, 2 + k]
        i += 1
    return i


@njit
def settle(lines, start, written):
    """Add line `written` to an equal one from `start` on, or keep it; returns the new number of lines.

    A line has group, epoch, diff, and the values by which lines of one group and epoch are equal.
    """
    for k in range(start, written):
        if equal_from(lines, 3, k, written):
            lines[k, 2] += lines[written, 2]
            if lines[k, 2] == 0:
                written -= 1
                for c in range(lines.shape[1]):
                    lines[k, c] = lines[written, c]
            return written
    return written + 1


@njit(inline="always")
def equal_from(lines, first, i, j):
    """Whether two lines are equal from column `first` on."""
    for c in range(first, lines.shape[1]):
        if lines[i, c] != lines[j, c]:
            return False
    return True


@njit(inline="always")
def equal_until(lines, last, i, j):
    """Whether two lines are equal before column `last`."""
    for c in range(last):
        if lines[i, c] != lines[j, c]:
            return False
    return True


@njit
def value_delta(keys, lines, written):
    """Lines of group, epoch, diff and value as a delta [P + 1 + 2, n]."""
    key = keys.shape[1]
    out = np.empty((key + 3, written), np.int64)
    for k in range(written):
        for w in range(key):
            out[w, k] = keys[lines[k, 0], w]
        out[key, k] = lines[k, 3]
        out[key + 1, k] = lines[k, 1]
        out[key + 2, k] = lines[k, 2]
    return out


@njit(inline="always")
def clamped(multiplicity, clamp):
    if multiplicity <= 0:
        return 0
    return 1 if clamp == CLAMP_DISTINCT else multiplicity


@njit
def _clamp_block(
    table, old, keys, first, last, lows, highs, rounds, clamp, base, fresh, later, count, lines, written
):
    """Append lines of group, epoch and diff for the groups first ≤ m < last to the first `written` lines.

    There must be room, and nobody counts references to the arrays (see `uncounted`): a group is little work.
    Returns the numbers of `lines` and of those `later`.
    """
    corners = base.shape[0]
    for m in range(first, last):
        n, count = read_group(
            table, old, keys, m, m - first, lows, highs, keys.shape[1], 1, rounds, base, fresh, later, count
        )
        i = 0
        while i < n:
            epoch = fresh[i, 0]
            change = 0
            for s in range(corners):
                change -= parity(s) * clamped(base[s, 0], clamp)
            i = absorb(fresh, i, n, 1, base)
            for s in range(corners):
                change += parity(s) * clamped(base[s, 0], clamp)
            if change != 0:
                lines[written, 0] = m
                lines[written, 1] = epoch
                lines[written, 2] = change
                written += 1
    return written, count


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
)
def threshold(keys, table, old, depth, rounds, clamp):
    """The changes of a bag's clamped multiplicities, for the rows `keys` [m, W] at one step.

    `table` holds the published batches (the first `old`), then the new ones. Returns a delta [W + 2, n], and
    lines (rounds, row) to visit in later rounds.
    """
    size, key = keys.shape
    layers = table.shape[0]
    lows = np.empty((layers, min(size, BLOCK)), np.int64)
    highs = np.empty((layers, min(size, BLOCK)), np.int64)
    positions = np.zeros(layers, np.int64)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    corners = 1 << depth
    base = np.zeros((corners, 1), np.int64)
    fresh = np.empty((16, 3), np.int64)
    lines = np.empty((16, 3), np.int64)
    written = 0
    for first in range(0, size, BLOCK):
        last = min(first + BLOCK, size)
        find_block(table, keys, first, last, positions, lows, highs)
        later, fresh, lines = room_for_block(
            lows, highs, old, last - first, later, count, fresh, lines, written, corners
        )
        written, count = _clamp_block(
            uncounted(table),
            old,
            uncounted(keys),
            first,
            last,
            uncounted(lows),
            uncounted(highs),
            uncounted(rounds),
            clamp,
            uncounted(base),
            uncounted(fresh),
            uncounted(later),
            count,
            uncounted(lines),
            written,
        )
    out = np.empty((key + 2, written), np.int64)
    for k in range(written):
        for w in range(key):
            out[w, k] = keys[lines[k, 0], w]
        out[key, k] = lines[k, 1]
        out[key + 1, k] = lines[k, 2]
    return out, later[:count]


@njit
def _comoment(slots, finish, counted):
    """The word of an exact comoment; it is rounded once, then divided by the scales."""
    products = slots[finish[PRODUCT] : finish[PRODUCT] + PRODUCT_LIMBS]
    value = comoment(
        counted,
        products,
        slots[finish[HIGH]],
        slots[finish[LOW]],
        slots[finish[OTHER_HIGH]],
        slots[finish[OTHER_LOW]],
    )
    return to_word(value / np.float64(finish[SCALE]) / np.float64(finish[OTHER_SCALE]))


@njit
def finish_row(base, s, finish, m, epoch, sign, lines, start, written):
    """Settle the row of group m at corner s into `lines`; returns the new number of lines.

    A line has group, epoch, diff, the aggregate that overflows or FINE or WIDE, and the aggregates. In a WIDE
    line some are not their own words (`engine.codec.numerals`): it has the group's slots in place of the
    aggregates. Raises OverflowError if a slot is not below MOST.
    """
    aggregates = finish.shape[0]
    seen = 0
    for k in range(base.shape[1]):
        seen |= bits(base[s, k])
    require_small(seen)
    lines[written, 0] = m
    lines[written, 1] = epoch
    lines[written, 2] = sign
    lines[written, 3] = FINE
    lines[written, 4 + aggregates :] = 0
    for a in range(aggregates):
        kind = finish[a, KIND]
        counted = base[s, finish[a, COUNTED]]
        if kind == COUNT:
            lines[written, 4 + a] = counted
            continue
        if counted <= 0:
            lines[written, 4 + a] = NULL
            continue
        if kind == COMOMENT:
            lines[written, 4 + a] = _comoment(base[s], finish[a], counted)
            continue
        low = base[s, finish[a, LOW]]
        high = base[s, finish[a, HIGH]] + (low >> 32)
        low &= 0xFFFFFFFF
        top = base[s, finish[a, TOP]] | base[s, finish[a, TOP] + 1] if finish[a, TOP] >= 0 else 0
        fits = -INT64_HIGH <= high < INT64_HIGH and not (high == -INT64_HIGH and low == 0)
        is_number = finish[a, TOP] != INTEGERS and kind == SUM
        if top != 0 or (is_number and not (fits and abs((high << 32) | low) < FIRST_NUMERAL)):
            lines[written, 3] = WIDE
            lines[written, 4:] = 0
            lines[written, 4 : 4 + base.shape[1]] = base[s]
            break
        if kind == AVG:
            total = (np.float64(high) * 4294967296.0 + np.float64(low)) / np.float64(finish[a, SCALE])
            lines[written, 4 + a] = to_word(total / np.float64(counted))
        elif fits:
            lines[written, 4 + a] = (high << 32) | low
        else:
            lines[written, 3] = a
            lines[written, 4:] = 0
            break
    return settle(lines, start, written)


@njit
def _split_failures(keys, lines, written, aggregates, failed):
    """The FINE lines as a delta [P + A + 2, n], and the others unchanged, [f, L]."""
    key = keys.shape[1]
    out = np.empty((key + aggregates + 2, written - failed), np.int64)
    failures = np.empty((failed, lines.shape[1]), np.int64)
    p = 0
    f = 0
    for k in range(written):
        if lines[k, 3] != FINE:
            failures[f] = lines[k]
            f += 1
            continue
        for w in range(key):
            out[w, p] = keys[lines[k, 0], w]
        for a in range(aggregates):
            out[key + a, p] = lines[k, 4 + a]
        out[key + aggregates, p] = lines[k, 1]
        out[key + aggregates + 1, p] = lines[k, 2]
        p += 1
    return out, failures


@njit
def _sum_block(
    table,
    old,
    keys,
    first,
    last,
    lows,
    highs,
    slots,
    rounds,
    finish,
    base,
    fresh,
    later,
    count,
    lines,
    written,
):
    """As `_clamp_block`, for the lines of `finish_row`."""
    corners = base.shape[0]
    for m in range(first, last):
        n, count = read_group(
            table,
            old,
            keys,
            m,
            m - first,
            lows,
            highs,
            keys.shape[1],
            slots,
            rounds,
            base,
            fresh,
            later,
            count,
        )
        i = 0
        while i < n:
            epoch = fresh[i, 0]
            start = written
            for s in range(corners):
                if base[s, 0] > 0:
                    written = finish_row(base, s, finish, m, epoch, -parity(s), lines, start, written)
            i = absorb(fresh, i, n, slots, base)
            for s in range(corners):
                if base[s, 0] > 0:
                    written = finish_row(base, s, finish, m, epoch, parity(s), lines, start, written)
    return written, count


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64, int64[:,::1])",
)
def reduce_sums(keys, table, old, depth, rounds, slots, finish):
    """The changes of accumulated aggregates, for the groups `keys` [m, P] at one step.

    Slot 0 counts rows: a group exists while it is positive. `finish` (A, FINISH) has a line an aggregate,
    whose TOP may be INTEGERS or NUMBERS. Returns a delta [P + A + 2, n]; the lines of `finish_row` that are
    not FINE, [f, 4 + max(A, K)], with groups as positions in `keys`; and lines (rounds, key) to visit in
    later rounds.
    """
    size, key = keys.shape
    layers = table.shape[0]
    lows = np.empty((layers, min(size, BLOCK)), np.int64)
    highs = np.empty((layers, min(size, BLOCK)), np.int64)
    positions = np.zeros(layers, np.int64)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    corners = 1 << depth
    aggregates = finish.shape[0]
    base = np.zeros((corners, slots), np.int64)
    fresh = np.empty((16, 2 + slots), np.int64)
    lines = np.empty((16, 4 + max(aggregates, slots)), np.int64)
    written = 0
    failed = 0
    for first in range(0, size, BLOCK):
        last = min(first + BLOCK, size)
        find_block(table, keys, first, last, positions, lows, highs)
        later, fresh, lines = room_for_block(
            lows, highs, old, last - first, later, count, fresh, lines, written, corners
        )
        start = written
        written, count = _sum_block(
            uncounted(table),
            old,
            uncounted(keys),
            first,
            last,
            uncounted(lows),
            uncounted(highs),
            slots,
            uncounted(rounds),
            uncounted(finish),
            uncounted(base),
            uncounted(fresh),
            uncounted(later),
            count,
            uncounted(lines),
            written,
        )
        for k in range(start, written):
            failed += lines[k, 3] != FINE
    out, failures = _split_failures(keys, lines, written, aggregates, failed)
    return out, failures, later[:count]
