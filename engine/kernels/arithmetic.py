"""Kernels of arithmetic on columns of words: integers and decimals detect overflow, floats follow IEEE 754.

Operands are int64[n], or one element that stands for a whole column. NULL in either operand gives NULL. A row
that fails gets NULL too; a kernel that can fail returns how many rows did. The failed rows are those whose
result is NULL although their operands are not.

Loops are kept plain, one operator each, so that they become vector code.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.floats import to_float, to_word
from engine.kernels.texts import WORDS
from engine.kernels.words import NULL

_CHECKED = types.int64(WORDS, WORDS, types.int64, types.int64, types.int64[::1])
_UNARY = types.int64(WORDS, types.int64, types.int64[::1])
_FLOATS = types.void(types.int64, WORDS, WORDS, types.int64[::1])

# A product whose rounded magnitude is below the first is below 2**63; above the second, it is beyond 2**63.
_SAFE = 9.2e18
_UNSAFE = 9.3e18


@kernel(_CHECKED, error_model="numpy")
def add(left, right, low, high, out):
    """`left + right` into `out`; fails outside `low` to `high`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    failed = 0
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        out[i] = NULL
        if a == NULL or b == NULL:
            continue
        result = a + b
        if result < low or result > high or ((a ^ result) & (b ^ result)) < 0:
            failed += 1
        else:
            out[i] = result
    return failed


@kernel(_CHECKED, error_model="numpy")
def subtract(left, right, low, high, out):
    """`left - right` into `out`; fails outside `low` to `high`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    failed = 0
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        out[i] = NULL
        if a == NULL or b == NULL:
            continue
        result = a - b
        if result < low or result > high or ((a ^ result) & (a ^ b)) < 0:
            failed += 1
        else:
            out[i] = result
    return failed


@njit(inline="always")
def _product_overflows(a, b):
    size = abs(float(a) * float(b))
    if size < _SAFE:
        return False
    return size > _UNSAFE or (a * b) // b != a


@kernel(_CHECKED, error_model="numpy")
def multiply(left, right, low, high, out):
    """`left * right` into `out`; fails outside `low` to `high`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    failed = 0
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        out[i] = NULL
        if a == NULL or b == NULL:
            continue
        result = a * b
        if result < low or result > high or _product_overflows(a, b):
            failed += 1
        else:
            out[i] = result
    return failed


@njit(inline="always")
def _quotient(a, b):
    """The quotient, rounded towards zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


@kernel(_CHECKED, error_model="numpy")
def quotient(left, right, low, high, out):
    """`left / right`, rounded towards zero, into `out`; fails for a divisor of zero and beyond `high`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    failed = 0
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        out[i] = NULL
        if a == NULL or b == NULL:
            continue
        if b == 0 or (b == -1 and -a > high):
            failed += 1
        else:
            out[i] = _quotient(a, b)
    return failed


@kernel(_CHECKED, error_model="numpy")
def remainder(left, right, low, high, out):
    """The remainder of `quotient`, with the sign of `left`, into `out`; fails where that fails, as in
    DuckDB."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    failed = 0
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        out[i] = NULL
        if a == NULL or b == NULL:
            continue
        if b == 0 or (b == -1 and -a > high):
            failed += 1
        else:
            out[i] = a - _quotient(a, b) * b
    return failed


@kernel(_UNARY)
def negative(values, high, out):
    """`-values` into `out`; fails beyond `high`."""
    step = int(values.size != 1)
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        wrong = a != NULL and -a > high
        out[i] = NULL if wrong else -a  # NULL negated is NULL
        failed += wrong
    return failed


@kernel(_UNARY)
def absolute(values, high, out):
    """The magnitudes of `values` into `out`; fails beyond `high`."""
    step = int(values.size != 1)
    failed = 0
    for i in range(out.size):
        a = values[i * step]
        wrong = a != NULL and abs(a) > high
        out[i] = NULL if wrong else abs(a)  # the magnitude of NULL is NULL
        failed += wrong
    return failed


@kernel(_FLOATS, error_model="numpy")
def float_basic(op, left, right, out):
    """Sum (0), difference (1), product (2) or quotient (3) of words of floats, into `out`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        x, y = to_float(a), to_float(b)
        if op == 0:
            result = x + y
        elif op == 1:
            result = x - y
        elif op == 2:
            result = x * y
        else:
            result = x / y
        out[i] = NULL if (a == NULL) | (b == NULL) else to_word(result)


@kernel(_FLOATS, error_model="numpy")
def float_other(op, left, right, out):
    """The remainder (0) of two words of floats; for the others, `right` is `left` too: the negative (1), the
    magnitude (2) or the square root (3), which is NaN below zero. Into `out`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        x = to_float(a)
        if op == 0:
            result = np.fmod(x, to_float(b))
        elif op == 1:
            result = -x
        elif op == 2:
            result = abs(x)
        else:
            result = np.sqrt(x)
        out[i] = NULL if a == NULL or b == NULL else to_word(result)


@kernel(types.void(types.int64[::1]))
def round_to_single(words):
    """Rounds words of floats to float32, in place; values that are too large become infinite."""
    for i in range(words.size):
        if words[i] != NULL:
            words[i] = to_word(np.float64(np.float32(to_float(words[i]))))
