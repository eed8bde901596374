"""Totals: exact sums, which values are added to and taken from.

A total is linear in its values: what is taken out leaves no trace. That of numbers has the number of its
values, and the sums of their high and low halves, which no number of rows overflows. That of floats and of
wide numbers has the numbers of its values, of its NaNs and of its infinities, and the limbs of the sum of all
others: of floats as in `floatsums`, of wide numbers from the lowest on. Totals lie in flat arrays, at a
place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.floats import to_word
from engine.kernels.floatsums import BUCKETS, LIMBS, NANS, NEGATIVE, NULLS, POSITIVE, split
from engine.kernels.limbs import LIMB, MASK, carry, rounded
from engine.kernels.neighbours.arguments import NUMBER, WIDE, entry_of, is_numeral
from engine.kernels.reduce import INT64_HIGH
from engine.kernels.words import NULL

# Words of a total. Those of numbers end with the halves; of others, those from SUM on are limbs.
VALUES, HIGH, LOW, OF_NUMBERS = 0, 1, 2, 3
SUM = 4
OF_OTHERS = SUM + LIMBS

PARTS = 5
"""Limbs of a value: a wide number has 38 digits."""

# A total's special value, if it has one.
FINITE, NAN, INFINITE, BELOW = 0, 1, 2, 3

FURTHER = 4
"""Further words of a total that is finished elsewhere: its special value, and the sum in 64 bits each."""


@njit
def _split_wide(argument, parts, texts):
    """Fill `parts` with the limbs of a number that may be wide; returns 0, or the bucket of a special."""
    parts[:] = 0
    if not is_numeral(argument):
        parts[0] = argument & MASK
        parts[1] = argument >> LIMB
        return 0
    first, end = texts.ends[entry_of(argument)], texts.ends[entry_of(argument) + 1]
    mark = texts.arena[first + 2]
    if mark == ord("N"):
        return NANS
    if mark == ord("I"):
        return POSITIVE
    if mark == ord("-"):
        return NEGATIVE
    for at in range(first + 4, end):
        digit = np.int64(texts.arena[at]) - ord("0")
        more = digit if argument > 0 else 9 - digit
        for p in range(PARTS):
            parts[p] = parts[p] * 10 + more
            more = parts[p] >> LIMB
            parts[p] &= MASK
    if argument < 0:
        for p in range(PARTS):
            parts[p] = -parts[p]
    return 0


@njit(inline="always")
def add_value(totals, at, argument, sort, count, parts, texts):
    """Add `count` copies of an argument to the total at a place; `parts` is room for its limbs."""
    if argument != NULL:
        totals[at + VALUES] += count
        if sort == NUMBER:
            totals[at + HIGH] += count * (argument >> 32)
            totals[at + LOW] += count * (argument & 0xFFFFFFFF)
        else:
            _add_limbs(totals, at, argument, sort, count, parts, texts)


@njit
def _add_limbs(totals, at, argument, sort, count, parts, texts):
    bucket = _split_wide(argument, parts, texts) if sort == WIDE else split(argument, parts)
    if bucket >= BUCKETS:
        totals[at + bucket - NULLS] += count
        return
    for p in range(PARTS):
        totals[at + SUM + bucket + p] += count * parts[p]


@njit
def _special(total):
    nans, positive, negative = total[NANS - NULLS], total[POSITIVE - NULLS], total[NEGATIVE - NULLS]
    if nans > 0 or (positive > 0 and negative > 0):
        return NAN
    return INFINITE if positive > 0 else BELOW if negative > 0 else FINITE


@njit
def float_of(total, is_mean, limbs):
    """The word of a sum of floats, rounded once, or of their mean. `limbs` is room."""
    special = _special(total)
    if special != FINITE:
        return to_word(np.nan if special == NAN else np.inf if special == INFINITE else -np.inf)
    limbs[:] = total[SUM:]
    value = rounded(limbs, -1074)
    return to_word(value / np.float64(total[VALUES]) if is_mean else value)


@njit
def number_of_halves(total, divisor, is_mean):
    """The word of a sum of numbers, or of their mean; and whether the sum is too large."""
    high = total[HIGH] + (total[LOW] >> 32)
    low = total[LOW] & 0xFFFFFFFF
    if is_mean:
        value = (np.float64(high) * 4294967296.0 + np.float64(low)) / np.float64(divisor)
        return to_word(value / np.float64(total[VALUES])), False
    fits = -INT64_HIGH <= high < INT64_HIGH and not (high == -INT64_HIGH and low == 0)
    return (high << 32) | low if fits else 0, not fits


@njit
def write_apart(total, sort, limbs, out):
    """Fill out[:FURTHER] with the special value of a total of numbers, wide or not, and its sum, the lowest
    bits first. `limbs` is room."""
    if sort == NUMBER:
        high = total[HIGH] + (total[LOW] >> 32)
        out[0] = FINITE
        out[1] = (high << 32) | (total[LOW] & 0xFFFFFFFF)
        out[2] = high >> 32
        out[3] = high >> 63
        return
    out[:FURTHER] = 0
    out[0] = _special(total)
    if out[0] == FINITE:
        limbs[:] = total[SUM:]
        carry(limbs)
        for k in range(FURTHER - 1):
            out[1 + k] = (limbs[2 * k + 1] << LIMB) | limbs[2 * k]
