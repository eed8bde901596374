"""Arguments of window functions: a number each, which compares as the value does.

A number or a float is its word, and a text the number of its entry in the dictionary. A number that may be
wide is its word too; if it is a numeral, it is beyond all such words by the number of its entry, on the side
of its sign.
"""

from __future__ import annotations

from numba import njit

from engine.kernels.coding import decoded
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.texts import order_of
from engine.kernels.words import NULL

# The sorts of arguments.
NUMBER, FLOAT, TEXT, WIDE = 0, 1, 2, 3


@njit(inline="always")
def argument_of(batch, row, codes, word, sort, texts):
    """The argument of a row whose codes end with word `word`; NULL if it has none."""
    if sort <= FLOAT or (sort == WIDE and batch[row, word] < 0):
        argument = decoded(batch, row, codes, word, texts.entry_words)
    else:
        argument = _of_entry(batch[row, word], sort, texts)
    return argument


@njit
def _of_entry(entry, sort, texts):
    """The argument that has an entry; of a text it may be -1, for NULL."""
    if sort == TEXT:
        return entry if entry >= 0 else NULL
    return FIRST_NUMERAL + entry if texts.entry_words[entry] > 0 else -FIRST_NUMERAL - entry


@njit(inline="always")
def is_numeral(argument):
    """Whether a number that may be wide is a numeral. (NULL has no magnitude.)"""
    return abs(argument) >= FIRST_NUMERAL


@njit(inline="always")
def entry_of(numeral):
    """The number of a numeral's entry."""
    return abs(numeral) - FIRST_NUMERAL


@njit
def word_of_argument(argument, sort, texts):
    """The word of the value."""
    if argument == NULL:
        return argument
    if sort == TEXT:
        return texts.entry_words[argument]
    if sort == WIDE and is_numeral(argument):
        return texts.entry_words[entry_of(argument)]
    return argument


@njit(inline="always")
def compare_arguments(one, other, sort, texts):
    """-1, 0 or 1: an argument against another one of its sort; neither is NULL."""
    order = int(one > other) - int(one < other)
    if sort > FLOAT and order != 0:
        order = _compare_entries(one, other, sort, texts)
    return order


@njit
def _compare_entries(one, other, sort, texts):
    if sort == TEXT:
        return order_of(texts.ends, texts.arena, one, other)
    if sort == WIDE and is_numeral(one) and is_numeral(other) and (one > 0) == (other > 0):
        return order_of(texts.ends, texts.arena, entry_of(one), entry_of(other))
    return int(one > other) - int(one < other)


@njit(inline="always")
def better(best, argument, direction, sort, texts):
    """The lesser of two arguments that are not NULL; the greater if the direction is -1."""
    if argument != NULL and (best == NULL or compare_arguments(argument, best, sort, texts) * direction < 0):
        best = argument
    return best
