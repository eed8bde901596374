"""Kernels of arithmetic on columns of words: overflow of integers and decimals is seen, floats are IEEE's.

Operands are int64[n], or of one element, which then stands for a whole column. NULL in
either makes NULL. A row that fails gets NULL too; a kernel that can fail returns how
many rows did, so that they are those with a NULL result of operands that are not NULL.

Loops are kept plain, an operator each, so that they become vector code.
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

# A product whose rounded magnitude is below the first is below 2**63, and above the second beyond it.
_SAFE = 9.2e18
_UNSAFE = 9.3e18


@kernel(_CHECKED, error_model="numpy")
def add(left, right, low, high, out):
    """`left + right` into `out`; fails beyond `low` to `high`."""
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
    """`left - right` into `out`; fails beyond `low` to `high`."""
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
    """`left * right` into `out`; fails beyond `low` to `high`."""
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
    """Towards zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


@kernel(_CHECKED, error_model="numpy")
def quotient(left, right, low, high, out):
    """`left / right` towards zero into `out`; fails for a divisor of zero and beyond `high`."""
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
    """The remainder of `quotient`, signed as `left`, into `out`; fails where that fails, as in DuckDB."""
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
        out[i] = NULL if wrong else abs(a)  # that of NULL is NULL
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
    """Remainder (0) of words of floats; of `left`, which is `right` too, the negative (1), the magnitude (2)
    or the square root (3), NaN below zero."""
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
    """Rounds words of floats to float32, in place; what is too large becomes infinite."""
    for i in range(words.size):
        if words[i] != NULL:
            words[i] = to_word(np.float64(np.float32(to_float(words[i]))))
