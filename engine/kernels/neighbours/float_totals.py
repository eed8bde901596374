"""Exact totals of floats, which values are added to and taken from; those of a batch's rows before a place.

A total has the number of its values, of its NaNs and of its infinities, and the limbs of the sum of all other
values (`floatsums`). It is linear in its values: what is taken out leaves no trace.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.floats import to_word
from engine.kernels.floatsums import BUCKETS, LIMBS, NANS, NEGATIVE, NULLS, POSITIVE, split
from engine.kernels.layers import layer
from engine.kernels.limbs import rounded
from engine.kernels.top import decoded
from engine.kernels.words import NULL

# Words of a total; those from SUM on are limbs.
VALUES, SUM = 0, 4
TOTAL = SUM + LIMBS
BLOCK = 256
"""Rows of a batch between two places whose totals are kept."""


@njit
def add_float(total, word, count, parts):
    """Add `count` copies of a float's word to a total; `parts` is room for its limbs."""
    bucket = split(word, parts)
    if bucket == NULLS:
        return
    total[VALUES] += count
    if bucket >= BUCKETS:
        total[bucket - NANS + 1] += count
        return
    for p in range(3):
        total[SUM + bucket + p] += count * parts[p]


@njit
def total_word(total, is_mean, limbs):
    """The word of a total's sum, rounded once, or of its mean; NULL if it has no values. `limbs` is room."""
    if total[VALUES] <= 0:
        return NULL
    nans, positive, negative = total[1], total[POSITIVE - NANS + 1], total[NEGATIVE - NANS + 1]
    if nans > 0 or (positive > 0 and negative > 0):
        return to_word(np.nan)
    if positive > 0 or negative > 0:
        return to_word(np.inf if positive > 0 else -np.inf)
    limbs[:] = total[SUM:]
    value = rounded(limbs, -1074)
    return to_word(value / np.float64(total[VALUES]) if is_mean else value)


@njit
def _add_rows(batch, first, last, words, codes, entry_words, epoch, sign, parts, totals):
    """Add the lines [first, last) of epochs before one, with a sign, to the totals of some words."""
    width = batch.shape[1] - 2
    for row in range(first, last):
        if batch[row, width] < epoch:
            for k in range(words.shape[0]):
                word = decoded(batch, row, codes, words[k], entry_words)
                add_float(totals[k], word, sign * batch[row, width + 1], parts)


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[:,::1], int64[::1])")
def block_totals(batch, words, codes, entry_words):
    """int64[B, S]: the totals of the words of all rows before each BLOCK of rows."""
    blocks = batch.shape[0] // BLOCK + 1
    kept = np.empty((blocks, words.shape[0] * TOTAL), np.int64)
    totals = np.zeros((words.shape[0], TOTAL), np.int64)
    parts = np.empty(3, np.int64)
    forever = np.iinfo(np.int64).max
    for block in range(blocks):
        kept[block] = totals.ravel()
        last = min((block + 1) * BLOCK, batch.shape[0])
        _add_rows(batch, block * BLOCK, last, words, codes, entry_words, forever, 1, parts, totals)
    return kept


@njit
def totals_before(table, old, blocks, m, lows, places, epoch, words, codes, entry_words, parts, totals):
    """Fill `totals` with those of the group's rows before `places`, before an epoch.

    `blocks` is a table of the `block_totals` of the `old` published batches.
    """
    totals[:] = 0
    forever = np.iinfo(np.int64).max
    for index in range(table.shape[0]):
        low, place = lows[index, m], places[index]
        if low >= place:
            continue
        batch = layer(table, index)
        if index >= old or place - low <= BLOCK:
            before = forever if index < old else epoch
            _add_rows(batch, low, place, words, codes, entry_words, before, 1, parts, totals)
            continue
        kept = layer(blocks, index)
        for k in range(words.shape[0]):
            for w in range(TOTAL):
                at = k * TOTAL + w
                totals[k, w] += kept[place // BLOCK, at] - kept[low // BLOCK, at]
        for row, sign in ((place, 1), (low, -1)):
            first = row // BLOCK * BLOCK
            _add_rows(batch, first, row, words, codes, entry_words, forever, sign, parts, totals)
