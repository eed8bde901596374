"""Kernels of casts between kinds of words, with DuckDB's rounding and limits.

Operands are int64[n], or one element that stands for a whole column. NULL stays NULL. A row that fails gets
NULL; the kernel returns how many did.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from engine.kernels.compiled import kernel
from engine.kernels.floats import to_float, to_word
from engine.kernels.texts import WORDS
from engine.kernels.words import NULL

DAY = 86_400_000_000  # microseconds
INFINITE_DAY = 2**31 - 1  # DuckDB's DATE 'infinity'
INFINITE_INSTANT = 2**63 - 1  # DuckDB's TIMESTAMP 'infinity'


@kernel(
    types.int64(WORDS, types.int64, types.int64, types.int64, types.int64, types.int64[::1]),
    error_model="numpy",
)
def rescale(values, factor, divisor, low, high, out):
    """`values * factor / divisor`, rounded half away from zero, into `out`; fails outside `low` to `high`.

    One of `factor` and `divisor` is 1. `high` is at most 2**63 - 1, `low` at least its negative.
    """
    step = int(values.size != 1)
    half = divisor // 2
    most, least = high // factor, -(-low // factor)
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        out[i] = NULL
        if a == NULL:
            continue
        if divisor > 1:
            size = abs(a) // divisor + int(abs(a) % divisor >= half)
            a = size if a > 0 else -size
        if least <= a <= most:
            out[i] = a * factor
        else:
            failed += 1
    return failed


@kernel(
    types.void(WORDS, types.int64, types.float64, types.boolean, types.int64[::1]),
    error_model="numpy",
)
def to_floats(values, power, float_power, single, out):
    """Integers over `power` as words of floats into `out`; of float32 with `single`.

    `float_power` is the same power of ten; `power` itself is capped at 2**63 - 1.
    """
    step = int(values.size != 1)
    exact = 2**24 if single else 2**53
    for i in range(out.size):
        a = values[i * step]
        if a == NULL:
            out[i] = NULL
            continue
        whole, rest = a, 0
        if power > 1 and abs(a) > exact:
            rest = abs(a) % power
            whole = abs(a) // power
            if a < 0:
                whole, rest = -whole, -rest
        if single:
            narrow = np.float32(whole)
            if whole != a:
                narrow = np.float32(narrow + np.float32(np.float32(rest) / np.float32(float_power)))
            else:
                narrow = np.float32(narrow / np.float32(float_power))
            out[i] = to_word(np.float64(narrow))
        elif whole != a:
            out[i] = to_word(float(whole) + float(rest) / float_power)
        else:
            out[i] = to_word(float(a) / float_power)


@kernel(
    types.int64(WORDS, types.float64, types.boolean, types.float64, types.float64, types.int64[::1]),
)
def from_floats(values, power, to_even, low, high, out):
    """Words of floats times `power` as integers into `out`; fails if not between `low` and `high`.

    Rounded half to even or, without `to_even`, half away from zero.
    """
    step = int(values.size != 1)
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        out[i] = NULL
        if a == NULL:
            continue
        value = to_float(a) * power
        if to_even:
            value = np.rint(value)
        else:
            size = np.floor(abs(value))
            size = size + 1.0 if abs(value) - size >= 0.5 else size
            value = math.copysign(size, value)
        if low < value < high:
            out[i] = int(value)
        else:
            failed += 1
    return failed


@kernel(types.int64(WORDS, types.int64[::1]))
def to_single(values, out):
    """Words of floats rounded to float32 into `out`; fails for a finite value that becomes infinite."""
    step = int(values.size != 1)
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        out[i] = NULL
        if a == NULL:
            continue
        value = to_float(a)
        narrow = np.float64(np.float32(value))
        if math.isinf(narrow) and not math.isinf(value):
            failed += 1
        else:
            out[i] = to_word(narrow)
    return failed


@kernel(types.int64(WORDS, types.int64[::1]))
def days_to_instants(values, out):
    """Dates as timestamps at midnight into `out`; fails outside their range."""
    step = int(values.size != 1)
    most = INFINITE_INSTANT // DAY
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        if a == INFINITE_DAY or a == -INFINITE_DAY:
            out[i] = INFINITE_INSTANT if a > 0 else -INFINITE_INSTANT
        elif -most <= a <= most:
            out[i] = a * DAY
        else:
            out[i] = NULL
            failed += int(a != NULL)
    return failed


@kernel(types.int64(WORDS, types.int64[::1]))
def instants_to_days(values, out):
    """The dates of timestamps into `out`; never fails."""
    step = int(values.size != 1)
    for i in range(out.size):
        a = values[i * step]
        if a == INFINITE_INSTANT or a == -INFINITE_INSTANT:
            out[i] = INFINITE_DAY if a > 0 else -INFINITE_DAY
        else:
            out[i] = NULL if a == NULL else a // DAY
    return 0
