"""Kernels of comparison, three-valued logic and choice on columns of words.

Operands are int64[n], or one element that stands for a whole column. Truth values are the words 1, 0 and
NULL. Words are compared as integers, which is the order of values for every kind but interned ones.
"""

from __future__ import annotations

from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.texts import WORDS
from engine.kernels.words import NULL

EQ, NE, LT, LE, GT, GE, DISTINCT, NOT_DISTINCT, AND, OR, COALESCE, GREATEST, LEAST = range(13)

_BINARY = types.void(types.int64, WORDS, WORDS, types.int64[::1])


@njit(inline="always")
def _holds(op, a, b):
    if op in (EQ, NOT_DISTINCT):
        return a == b
    if op in (NE, DISTINCT):
        return a != b
    if op == LT:
        return a < b
    if op == LE:
        return a <= b
    if op == GT:
        return a > b
    return a >= b


@kernel(_BINARY)
def compare(op, left, right, out):
    """Whether EQ, NE, LT, LE, GT, GE, DISTINCT or NOT_DISTINCT holds, into `out`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    nullable = op != DISTINCT and op != NOT_DISTINCT
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        truth = int(_holds(op, a, b))
        out[i] = NULL if nullable and (a == NULL or b == NULL) else truth


@kernel(types.void(WORDS, WORDS, types.int64, types.int64[::1]))
def contains(values, members, found, out):
    """Into `out` the truth value `found` where `values` is one of `members`, ascending, else its negation."""
    step = int(values.size != 1)
    for i in range(out.size):
        a = values[i * step]
        low, high = 0, members.size
        while low < high:
            middle = (low + high) // 2
            if members[middle] < a:
                low = middle + 1
            else:
                high = middle
        if a == NULL:
            out[i] = NULL
        else:
            out[i] = found if low < members.size and members[low] == a else 1 - found


@kernel(_BINARY)
def connect(op, left, right, out):
    """AND or OR of truth values, into `out`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    decisive = int(op == OR)
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        if a == decisive or b == decisive:
            out[i] = decisive
        else:
            out[i] = NULL if a == NULL or b == NULL else 1 - decisive


@kernel(types.void(WORDS, types.int64[::1]))
def negate(values, out):
    """NOT of truth values, into `out`."""
    step = int(values.size != 1)
    for i in range(out.size):
        a = values[i * step]
        out[i] = NULL if a == NULL else 1 - a


@kernel(_BINARY)
def pick(op, left, right, out):
    """The first value that is not NULL (COALESCE), or the GREATEST or LEAST, which skip NULLs, into `out`."""
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        if a == NULL or (b != NULL and ((op == GREATEST and b > a) or (op == LEAST and b < a))):
            out[i] = b
        else:
            out[i] = a


@kernel(types.void(WORDS, WORDS, WORDS, types.int64[::1]))
def choose(condition, value, otherwise, out):
    """`value` where `condition` is 1, `otherwise` elsewhere, into `out`, which may be `otherwise` itself."""
    step_condition, step_value = int(condition.size != 1), int(value.size != 1)
    step_otherwise = int(otherwise.size != 1)
    for i in range(out.size):
        if condition[i * step_condition] == 1:
            out[i] = value[i * step_value]
        else:
            out[i] = otherwise[i * step_otherwise]
