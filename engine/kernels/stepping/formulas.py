"""Expressions within compiled steps: lines of numbers, each of which computes a register.

The arithmetic is that of the kernels; here is only which of them runs, on what. A row that fails, or has a
number that is not its own word, is left to Python, with all others of its delta.
"""

from __future__ import annotations

from numba import njit

from engine.kernels import arithmetic, logic
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.words import NULL

# Columns of a line. Operands are registers or, below 0, columns of the delta: -1 is the first.
OPERATION, FIRST, SECOND, THIRD, LOW, HIGH, CHECKED = range(7)
FORMULA = 7
"""CHECKED is 1 if operands may be wide numbers (`engine.codec.numerals`)."""

# Operations; the comments name LOW and HIGH.
COLUMN = 0  # the column, to which operands refer: it has no line
CONSTANT = 1  # the word
ADD = 2  # the least and greatest result, here and below
SUBTRACT = 3
MULTIPLY = 4
QUOTIENT = 5
REMAINDER = 6
NEGATIVE = 7
ABSOLUTE = 8
FLOAT_BASIC = 9  # the operator, here and below
FLOAT_OTHER = 10
COMPARE = 11
CONNECT = 12
NOT = 13
PICK = 14
CHOOSE = 15


@njit(inline="always")
def operand(delta, registers, number):
    """A register, or a column of the delta."""
    return registers[number] if number >= 0 else delta[-1 - number]


@njit
def _has_wide(words):
    """Whether a column has a number that is not its own word."""
    for word in words:
        if word != NULL and not -FIRST_NUMERAL < word < FIRST_NUMERAL:
            return True
    return False


@njit
def _compute(line, first, second, third, out):
    """Compute a line; returns how many rows fail."""
    operation, low, high = line[OPERATION], line[LOW], line[HIGH]
    if operation == CONSTANT:
        out[:] = low
    elif operation == ADD:
        return arithmetic.add(first, second, low, high, out)
    elif operation == SUBTRACT:
        return arithmetic.subtract(first, second, low, high, out)
    elif operation == MULTIPLY:
        return arithmetic.multiply(first, second, low, high, out)
    elif operation == QUOTIENT:
        return arithmetic.quotient(first, second, low, high, out)
    elif operation == REMAINDER:
        return arithmetic.remainder(first, second, low, high, out)
    elif operation == NEGATIVE:
        return arithmetic.negative(first, high, out)
    elif operation == ABSOLUTE:
        return arithmetic.absolute(first, high, out)
    elif operation == FLOAT_BASIC:
        arithmetic.float_basic(low, first, second, out)
    elif operation == FLOAT_OTHER:
        arithmetic.float_other(low, first, second, out)
    elif operation == COMPARE:
        logic.compare(low, first, second, out)
    elif operation == CONNECT:
        logic.connect(low, first, second, out)
    elif operation == NOT:
        logic.negate(first, out)
    elif operation == PICK:
        logic.pick(low, first, second, out)
    else:
        logic.choose(first, second, third, out)
    return 0


@njit
def compute(formulas, delta, registers):
    """Compute a register a line; false if some row is Python's."""
    for f in range(formulas.shape[0]):
        line = formulas[f]
        first = operand(delta, registers, line[FIRST])
        second = operand(delta, registers, line[SECOND])
        third = operand(delta, registers, line[THIRD])
        if line[CHECKED] == 1 and (_has_wide(first) or _has_wide(second)):
            return False
        if _compute(line, first, second, third, registers[f]) > 0:
            return False
    return True
