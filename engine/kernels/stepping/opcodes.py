"""How operators are told to compiled code: a line of numbers each, in the order in which they run.

A line has an operation, the places of the operators that it reads, a number whose meaning depends on the
operation, two ranges of further numbers, and, in the outermost scope, the places of its readers. Ranges stand
in an array of `constants`.
"""

from __future__ import annotations

# Columns of a line. A range is its beginning and its length.
OPERATION, LEFT, RIGHT, NUMBER, FIRST, FIRST_SIZE, SECOND, SECOND_SIZE, READERS, READERS_SIZE = range(10)
LINE = 10
NOTHING = -1
"""The place of an operator that does not exist."""

# Operations; the comments name the number and the ranges.
VARIABLE = 0  # LEFT is the initial value, or NOTHING
ENTERED = 1
CHANGES = 2
ARRANGE = 3  # whether epochs are kept apart; order
ARRANGE_SUMS = 4  # order; slots
JOIN = 5  # words of the key; columns for changes of the left side; for changes of the right side
CONCAT = 6  # the places of all inputs
NEGATE = 7
CONSOLIDATE = 8
SELECT = 9  # lines of the delta
THRESHOLD = 10  # how to clamp
REDUCE_SUMS = 11  # finish
ARRANGE_ORDERED = 12  # order; codes, none of texts or wide numbers
TOP = 13  # words of the key; offset, limit and codes
PYTHON = 14
"""An operator that Python runs between two calls, if the one that it reads has changes; LEFT is NOTHING if it
has to be asked in any case."""
INPUT = 15
"""Its delta is told before the call."""
WITH_ROUND = 16
MAP = 17  # formulas; the operands (`formulas`) that are the results
FILTER = 18  # formulas; the operand that is the condition
