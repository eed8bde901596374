"""Reducing groups at their interesting times.

The output of a group at a time is a function F of the group's accumulated input. Its difference at (rounds R,
epoch e) is a Möbius sum of F over the corners of the box below that time: for every subset S of the rounds'
coordinates, the rows at rounds ≤ R and strictly below R in the coordinates of S, up to e and before e, with
alternating sign. So no output is stored: the trace of the input is enough.

The sweep is written once. A function is two leaves: `add` counts a row in the totals of a corner, and
`finish` writes the values that follow from a corner's totals, and returns how often they are in the output.

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

# A new row of a group: its epoch, strictness, batch and place there.
_EPOCH, _STRICT, _BATCH, _ROW, _FRESH = 0, 1, 2, 3, 4

VALUES = 3
"""The first value of a line, behind its group, epoch and diff."""


# How an aggregate follows from the slots.
COUNT = 0
SUM = 1
AVG = 2
COMOMENT = 3

# Columns of the line that says how: slots, and powers of ten by which the arguments' words are scaled.
KIND, COUNTED, HIGH, LOW, SCALE, TOP, OTHER_HIGH, OTHER_LOW, OTHER_SCALE, PRODUCT, TOPS, FINISH = range(12)

INT64_HIGH = 2**31

# TOP is the first of the TOPS slots that are zero as long as no number is wide. Its values for an aggregate
# without them: one of integers, or of numbers that fit into two parts.
INTEGERS = -1
NUMBERS = -2

# Values in place of the aggregate that overflows: none does, or a number is wide.
FINE = -1
WIDE = -2

CLAMP_DISTINCT = 0
CLAMP_POSITIVE = 1

_FIRST = VALUES + 1
"""The first aggregate of a line."""


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
def _room_for_block(lows, highs, old, groups, depth, later, count, fresh, lines, written):
    """`later`, `fresh` and `lines`, enlarged if the rows of a block's `groups` may need it."""
    rows = 0
    new = 0
    for index in range(lows.shape[0]):
        for m in range(groups):
            rows += highs[index, m] - lows[index, m]
            if index >= old:
                new += highs[index, m] - lows[index, m]
    while depth > 0 and count + rows > later.shape[0]:
        later = grow(later)
    while written + (2 * new << depth) > lines.shape[0]:
        lines = grow(lines)
    most = most_new_rows(lows, highs, old, groups)
    if most > fresh.shape[0]:
        fresh = np.empty((most, fresh.shape[1]), np.int64)
    return later, fresh, lines


@njit(inline="always")
def _settle(lines, start, written):
    """Add line `written` to an equal one from `start` on, or keep it; returns the new number of lines.

    A line has group, epoch, diff, and the values by which lines of one group and epoch are equal.
    """
    for k in range(start, written):
        if _equal_from(lines, VALUES, k, written):
            lines[k, 2] += lines[written, 2]
            if lines[k, 2] == 0:
                written -= 1
                for c in range(lines.shape[1]):
                    lines[k, c] = lines[written, c]
            return written
    return written + 1


@njit(inline="always")
def _equal_from(lines, first, i, j):
    """Whether two lines are equal from column `first` on."""
    for c in range(first, lines.shape[1]):
        if lines[i, c] != lines[j, c]:
            return False
    return True


@njit(forceinline=True)
def _read_group(add, table, old, keys, m, place, lows, highs, width, rounds, base, fresh, later, count):
    """Accumulate a group's published rows by corner in `base`; list its new ones in `fresh`, by epoch.

    The group is keys[m], and its rows are those of the block's `place`. Rows not at or below `rounds` append
    lines (rounds, key) to the first `count` lines of `later`, as in `later_visits`. Returns the number of
    lines of both.
    """
    depth = rounds.shape[0]
    key = keys.shape[1]
    corners = base.shape[0]
    for s in range(corners):
        for k in range(base.shape[1]):
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
                        add(base, s, batch, j, width, width + depth + 1)
            else:
                fresh[n, _EPOCH] = batch[j, width + depth]
                fresh[n, _STRICT] = mask
                fresh[n, _BATCH] = index
                fresh[n, _ROW] = j
                n += 1
    order_by_epoch(fresh, n)
    return n, count


@njit(inline="always")
def _end_of_epoch(fresh, i, n):
    """The line behind those new rows that have the epoch of line i."""
    end = i + 1
    while end < n and fresh[end, _EPOCH] == fresh[i, _EPOCH]:
        end += 1
    return end


@njit(inline="always")
def _counts(fresh, i, end, s):
    """Whether one of the new rows i ≤ j < end counts for corner s."""
    for j in range(i, end):
        if s & fresh[j, _STRICT] == s:
            return True
    return False


@njit(inline="always")
def _absorb(add, table, fresh, i, end, width, first, base):
    """Add the new rows i ≤ j < end to `base`."""
    for j in range(i, end):
        batch = layer(table, fresh[j, _BATCH])
        for s in range(base.shape[0]):
            if s & fresh[j, _STRICT] == s:
                add(base, s, batch, fresh[j, _ROW], width, first)


@njit(inline="always")
def _settle_corners(finish, base, parameters, fresh, i, end, m, side, lines, start, written):
    """Settle the group's row at every corner that new rows count for, with its sign times `side`.

    At the other corners it stays the same. Returns the new number of lines.
    """
    for s in range(base.shape[0]):
        if _counts(fresh, i, end, s):
            times = finish(base, s, parameters, lines, written)
            if times != 0:
                lines[written, 0] = m
                lines[written, 1] = fresh[i, _EPOCH]
                lines[written, 2] = side * parity(s) * times
                written = _settle(lines, start, written)
    return written


@njit
def _sweep_block(
    add,
    finish,
    table,
    old,
    keys,
    first,
    last,
    lows,
    highs,
    width,
    rounds,
    parameters,
    base,
    fresh,
    later,
    count,
    lines,
    written,
):
    """Append lines for the groups first ≤ m < last to the first `written` lines.

    There must be room, and nobody counts references to the arrays (see `uncounted`): a group is little work.
    Returns the numbers of `lines` and of those `later`.
    """
    diffs = width + rounds.shape[0] + 1
    for m in range(first, last):
        n, count = _read_group(
            add, table, old, keys, m, m - first, lows, highs, width, rounds, base, fresh, later, count
        )
        i = 0
        while i < n:
            end = _end_of_epoch(fresh, i, n)
            start = written
            written = _settle_corners(finish, base, parameters, fresh, i, end, m, -1, lines, start, written)
            _absorb(add, table, fresh, i, end, width, diffs, base)
            written = _settle_corners(finish, base, parameters, fresh, i, end, m, 1, lines, start, written)
            i = end
    return written, count


@njit
def sweep(add, finish, keys, table, old, width, rounds, totals, values, parameters):
    """The changes of a function of each of the groups `keys` [m, P] at one step.

    `table` holds the published batches (the first `old`), then the new ones, of rows of `width` words. The
    function is given by its leaves: `add(base, s, batch, row, width, diffs)` counts a row in line s of
    `base`, with `totals` numbers a line; `diffs` is the first column of its diffs. `finish(base, s,
    parameters, lines, line)` writes up to `values` values, and returns their multiplicity. `parameters` is
    an int64 matrix. Returns lines [n, VALUES + values] of group, epoch, diff and values; and lines (rounds,
    key) to visit in later rounds.
    """
    size, key = keys.shape
    depth = rounds.shape[0]
    layers = table.shape[0]
    lows = np.empty((layers, min(size, BLOCK)), np.int64)
    highs = np.empty((layers, min(size, BLOCK)), np.int64)
    positions = np.zeros(layers, np.int64)
    later = np.empty((0, depth + key), np.int64)
    count = 0
    base = np.zeros((1 << depth, totals), np.int64)
    fresh = np.empty((16, _FRESH), np.int64)
    lines = np.empty((16, VALUES + values), np.int64)
    written = 0
    for first in range(0, size, BLOCK):
        last = min(first + BLOCK, size)
        find_block(table, keys, first, last, positions, lows, highs)
        later, fresh, lines = _room_for_block(
            lows, highs, old, last - first, depth, later, count, fresh, lines, written
        )
        written, count = _sweep_block(
            add,
            finish,
            uncounted(table),
            old,
            uncounted(keys),
            first,
            last,
            uncounted(lows),
            uncounted(highs),
            width,
            uncounted(rounds),
            uncounted(parameters),
            uncounted(base),
            uncounted(fresh),
            uncounted(later),
            count,
            uncounted(lines),
            written,
        )
    return lines[:written], later[:count]


@njit
def delta_of(keys, lines, first, values):
    """Lines of group, epoch and diff as a delta [P + V + 2, n], with the `values` from column `first` on."""
    key = keys.shape[1]
    out = np.empty((key + values + 2, lines.shape[0]), np.int64)
    for k in range(lines.shape[0]):
        for w in range(key):
            out[w, k] = keys[lines[k, 0], w]
        for v in range(values):
            out[key + v, k] = lines[k, first + v]
        out[key + values, k] = lines[k, 1]
        out[key + values + 1, k] = lines[k, 2]
    return out


@njit(inline="always")
def _add(base, s, batch, j, width, diffs):
    """Add a row's diffs to the slots of a corner."""
    for k in range(base.shape[1]):
        base[s, k] += batch[j, diffs + k]


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
def _finish(base, s, finish, lines, written):
    """Write the aggregates of a group at corner s; 0 if it does not exist there.

    The values are the aggregate that overflows or FINE or WIDE, and the aggregates. In a WIDE line some are
    not their own words (`engine.codec.numerals`): it has the group's slots in place of the aggregates. Raises
    OverflowError if a slot is not below MOST.
    """
    if base[s, 0] <= 0:
        return 0
    aggregates = finish.shape[0]
    seen = 0
    for k in range(base.shape[1]):
        seen |= bits(base[s, k])
    require_small(seen)
    lines[written, VALUES] = FINE
    for c in range(_FIRST + aggregates, lines.shape[1]):
        lines[written, c] = 0
    for a in range(aggregates):
        kind = finish[a, KIND]
        counted = base[s, finish[a, COUNTED]]
        if kind == COUNT:
            lines[written, _FIRST + a] = counted
            continue
        if counted <= 0:
            lines[written, _FIRST + a] = NULL
            continue
        if kind == COMOMENT:
            lines[written, _FIRST + a] = _comoment(base[s], finish[a], counted)
            continue
        low = base[s, finish[a, LOW]]
        high = base[s, finish[a, HIGH]] + (low >> 32)
        low &= 0xFFFFFFFF
        top = 0
        for t in range(finish[a, TOPS]):
            top |= base[s, finish[a, TOP] + t]
        fits = -INT64_HIGH <= high < INT64_HIGH and not (high == -INT64_HIGH and low == 0)
        is_number = finish[a, TOP] != INTEGERS and kind == SUM
        if top != 0 or (is_number and not (fits and abs((high << 32) | low) < FIRST_NUMERAL)):
            lines[written, VALUES] = WIDE
            lines[written, _FIRST:] = 0
            lines[written, _FIRST : _FIRST + base.shape[1]] = base[s]
            break
        if kind == AVG:
            total = (np.float64(high) * 4294967296.0 + np.float64(low)) / np.float64(finish[a, SCALE])
            lines[written, _FIRST + a] = to_word(total / np.float64(counted))
        elif fits:
            lines[written, _FIRST + a] = (high << 32) | low
        else:
            lines[written, VALUES] = a
            lines[written, _FIRST:] = 0
            break
    return 1


@njit
def _apart(lines, is_fine):
    """The lines that are FINE, or the others."""
    return lines[(lines[:, VALUES] == FINE) == is_fine]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64, int64[:,::1])",
)
def reduce_sums(keys, table, old, depth, rounds, slots, finish):
    """The changes of accumulated aggregates, for the groups `keys` [m, P] at one step.

    Slot 0 counts rows: a group exists while it is positive. `finish` (A, FINISH) has a line an aggregate,
    whose TOP may be INTEGERS or NUMBERS. Returns a delta [P + A + 2, n]; the lines that are not FINE, [f, 4 +
    max(A, K)], with groups as positions in `keys`; and lines (rounds, key) to visit in later rounds.
    """
    aggregates = finish.shape[0]
    values = 1 + max(aggregates, slots)
    lines, later = sweep(_add, _finish, keys, table, old, keys.shape[1], rounds, slots, values, finish)
    failed = 0
    for k in range(lines.shape[0]):
        failed += lines[k, VALUES] != FINE
    if failed == 0:
        none = np.empty((0, lines.shape[1]), np.int64)  # a view would keep all lines
        return delta_of(keys, lines, _FIRST, aggregates), none, later
    return delta_of(keys, _apart(lines, True), _FIRST, aggregates), _apart(lines, False), later


@njit(inline="always")
def _clamped(base, s, clamp, lines, written):
    """The row's multiplicity at a corner."""
    if base[s, 0] <= 0:
        return 0
    return 1 if clamp[0, 0] == CLAMP_DISTINCT else base[s, 0]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
)
def threshold(keys, table, old, depth, rounds, clamp):
    """The changes of a bag's clamped multiplicities, for the rows `keys` [m, W] at one step.

    `table` holds the published batches (the first `old`), then the new ones. Returns a delta [W + 2, n], and
    lines (rounds, row) to visit in later rounds.
    """
    how = np.full((1, 1), clamp)
    lines, later = sweep(_add, _clamped, keys, table, old, keys.shape[1], rounds, 1, 0, how)
    return delta_of(keys, lines, VALUES, 0), later
