"""Prefix sums of a batch: totals over its rows before places.

Those of numbers are kept for every place. Slot 0 counts copies; each summed column has a total of numbers
behind it. Totals of floats and of wide numbers are large, and kept for every BLOCK of rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import texts_of
from engine.kernels.compiled import kernel
from engine.kernels.layers import layer
from engine.kernels.neighbours.arguments import NUMBER, argument_of
from engine.kernels.neighbours.totals import HIGH, OF_NUMBERS, OF_OTHERS, PARTS, add_value

BLOCK = 256
"""Rows of a batch between two places whose totals are kept."""


@njit(inline="always")
def slot_of_column(k):
    """Where the total of the k-th summed column begins."""
    return 1 + OF_NUMBERS * k


@njit(inline="always")
def is_high(slot):
    """Whether a slot has the high halves of a column's words; the next slot has the low ones."""
    return slot % OF_NUMBERS == (1 + HIGH) % OF_NUMBERS


@njit
def add_numbers(batch, row, summed, codes, texts, count, parts, slots):
    """Add `count` copies of a row to the slots of the columns whose words are `summed`."""
    slots[0] += count
    for k in range(summed.shape[0]):
        argument = argument_of(batch, row, codes, summed[k], NUMBER, texts)
        add_value(slots, slot_of_column(k), argument, NUMBER, count, parts, texts)


@njit
def add_others(batch, row, exact, codes, texts, count, parts, totals):
    """Add `count` copies of a row to the totals of `exact`, lines of a word and its sort."""
    for k in range(exact.shape[0]):
        word, sort = exact[k, 0], exact[k, 1]
        argument = argument_of(batch, row, codes, word, sort, texts)
        add_value(totals, k * OF_OTHERS, argument, sort, count, parts, texts)


@kernel(
    "int64[:,::1](int64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def prefix_sums(batch, summed, codes, entry_words, ends, arena):
    """int64[n + 1, S]: the slots of the rows before each place; `summed` are the words of summed columns. The
    last three arguments are the dictionary's (see `texts`)."""
    n = batch.shape[0]
    texts = texts_of(entry_words, ends, arena)
    parts = np.empty(PARTS, np.int64)
    slots = np.empty((n + 1, slot_of_column(summed.shape[0])), np.int64)
    slots[0] = 0
    for i in range(n):
        slots[i + 1] = slots[i]
        add_numbers(batch, i, summed, codes, texts, batch[i, batch.shape[1] - 1], parts, slots[i + 1])
    return slots


@kernel(
    "int64[:,::1](int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def block_totals(batch, exact, codes, entry_words, ends, arena):
    """int64[B, T]: the totals of `exact` over all rows before each BLOCK of rows; see `prefix_sums`."""
    texts = texts_of(entry_words, ends, arena)
    blocks = batch.shape[0] // BLOCK + 1
    kept = np.empty((blocks, exact.shape[0] * OF_OTHERS), np.int64)
    totals = np.zeros(exact.shape[0] * OF_OTHERS, np.int64)
    parts = np.empty(PARTS, np.int64)
    for block in range(blocks if exact.shape[0] > 0 else 0):
        kept[block] = totals
        last = min((block + 1) * BLOCK, batch.shape[0])
        _add_rows(batch, block * BLOCK, last, exact, codes, texts, 1, parts, totals)
    return kept


@njit
def _add_rows(batch, first, last, exact, codes, texts, sign, parts, totals):
    """Add the lines [first, last) of a batch, with a sign, to totals."""
    for row in range(first, last):
        add_others(batch, row, exact, codes, texts, sign * batch[row, batch.shape[1] - 1], parts, totals)


@njit
def add_totals_between(blocks, index, batch, low, place, exact, codes, texts, parts, totals):
    """Add the lines [low, place) of a batch; `blocks` is a table with its `block_totals` at `index`."""
    if place - low <= BLOCK:
        _add_rows(batch, low, place, exact, codes, texts, 1, parts, totals)
        return
    kept = layer(blocks, index)
    for w in range(totals.shape[0]):
        totals[w] += kept[place // BLOCK, w] - kept[low // BLOCK, w]
    for row, sign in ((place, 1), (low, -1)):
        _add_rows(batch, row // BLOCK * BLOCK, row, exact, codes, texts, sign, parts, totals)
