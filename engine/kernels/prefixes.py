"""Prefix sums of a batch: sums over its rows before any place, of copies and of the words of columns.

Slot 0 counts copies. Each summed column has three more slots: the number of its words that are not NULL, and
the sums of their high and low halves, which no number of rows overflows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.top import decoded
from engine.kernels.words import NULL

PARTS = 3
"""Slots of a column."""


@njit(inline="always")
def is_high(slot):
    """Whether a slot has the high halves of a column's words; the next slot has the low ones."""
    return slot % PARTS == 2


@njit(inline="always")
def add_parts(batch, row, summed, codes, entry_words, count, sums):
    """Add `count` copies of a row to `sums`, a line of slots."""
    sums[0] += count
    for k in range(summed.shape[0]):
        word = decoded(batch, row, codes, summed[k], entry_words)
        if word != NULL:
            sums[1 + PARTS * k] += count
            sums[2 + PARTS * k] += count * (word >> 32)
            sums[3 + PARTS * k] += count * (word & 0xFFFFFFFF)


@kernel(
    "int64[:,::1](int64[:,::1], int64[::1], int64[:,::1], int64[::1])",
)
def prefix_sums(batch, summed, codes, entry_words):
    """int64[n + 1, S]: the sums of the rows before each place; `summed` are the words of summed columns."""
    n = batch.shape[0]
    sums = np.empty((n + 1, 1 + PARTS * summed.shape[0]), np.int64)
    sums[0] = 0
    for i in range(n):
        sums[i + 1] = sums[i]
        add_parts(batch, i, summed, codes, entry_words, batch[i, batch.shape[1] - 1], sums[i + 1])
    return sums
