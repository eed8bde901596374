"""COUNT, SUM, AVG and comoments of words, from slots that are added up in the diffs of a trace."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.floats import to_word
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.magnitudes import bits, require_small
from engine.kernels.moments import PRODUCT_LIMBS, comoment
from engine.kernels.reduce import VALUES, delta_of, sweep
from engine.kernels.words import NULL

# How an aggregate follows from the slots.
COUNT = 0
SUM = 1
AVG = 2
COMOMENT = 3

# Columns of the line that says how: slots, and powers of ten by which the arguments' words are scaled.
KIND, COUNTED, HIGH, LOW, SCALE, TOP, OTHER_HIGH, OTHER_LOW, OTHER_SCALE, PRODUCT, FINISH = range(11)

INT64_HIGH = 2**31

# TOP is the first of the two slots with the tops of wide numbers. Its values for an aggregate without them:
# one of integers, or of numbers that fit into two parts.
INTEGERS = -1
NUMBERS = -2

# Values in place of the aggregate that overflows: none does, or a number is wide.
FINE = -1
WIDE = -2

_FIRST = VALUES + 1
"""The first aggregate of a line."""


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
    lines[written, _FIRST + aggregates :] = 0
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
        top = base[s, finish[a, TOP]] | base[s, finish[a, TOP] + 1] if finish[a, TOP] >= 0 else 0
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
        return delta_of(keys, lines, _FIRST, aggregates), lines[:0], later
    return delta_of(keys, _apart(lines, True), _FIRST, aggregates), _apart(lines, False), later
