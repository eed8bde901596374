"""Codes: words that sort in a wanted order, and texts, whose words do not sort.

A word's code is a sign and a shift: coded = sign * word + shift, in arithmetic that wraps around. Uncoded
words sort ascending with NULL first; codes reverse the order, or move NULL to its end, without losing
anything.

| order | code |
|---|---|
| ascending, NULL first | word |
| ascending, NULL last | word - 1 |
| descending, NULL last | -word - 1 |
| descending, NULL first | -word |

A text becomes two words: its first eight bytes as a number, coded, which decide most comparisons; and the
number of its entry in the dictionary, -1 for NULL, which gives fast access to its bytes if the first eight do
not decide. So a trace of such rows is sorted by whole texts, and its merges must keep that order
(`merge_ordered`).

A number that may be too large for a word (`engine.codec.numerals`) becomes two words: itself or, if it is too
large, the least such number with its sign, coded; and the number of its entry, -1 if it is its own word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.layers import layer, uncounted
from engine.kernels.texts import order_of
from engine.kernels.words import NULL

# Columns of a code. A code is of a word as it is, of a text's first bytes, of a number that is cut off, or of
# the entry of a text or of such a number. Entries are compared by their bytes.
SIGN, SHIFT, KIND = 0, 1, 2
WORD, PREFIX, CUT, ENTRY, NUMERAL = 0, 1, 2, 3, 4

AS_IS = (1, 0, WORD)

Codes = tuple[tuple[int, int, int], ...]
"""The codes of the words that a column becomes."""


def codes_of(is_text: bool, descending: bool, nulls_first: bool, is_wide: bool = False) -> Codes:
    """The codes of the words by which a column is ordered: one, or two for texts and numbers that may be
    wide."""
    sign = -1 if descending else 1
    shift = 0 if nulls_first else -1
    if is_wide:
        return ((sign, shift, CUT), (sign, 0, NUMERAL))
    return ((sign, shift, PREFIX), (sign, 0, ENTRY)) if is_text else ((sign, shift, WORD),)


class Texts(NamedTuple):
    """The dictionary's arrays (see `engine.kernels.texts`)."""

    entry_words: Any
    ends: Any
    arena: Any


@njit
def texts_of(entry_words, ends, arena):
    """The texts of arrays that the caller keeps alive."""
    return Texts(uncounted(entry_words), uncounted(ends), arena)


@njit(inline="always")
def compare_coded(codes, ends, arena, a, i, b, j, width):
    """-1, 0 or 1: the first `width` words of row i of `a` against those of row j of `b`, texts by bytes.

    `codes` [W, 3] belong to the leading words; `ends` and `arena` are the dictionary's.
    """
    for w in range(width):
        x = a[i, w]
        y = b[j, w]
        if x != y:
            if w < codes.shape[0] and codes[w, KIND] >= ENTRY:
                return codes[w, SIGN] * order_of(ends, arena, x, y)
            return -1 if x < y else 1
    return 0


@njit(inline="always")
def decoded(batch, row, codes, w, entry_words):
    """The word that was coded as word w, and as the word before it if its code has two."""
    coded = batch[row, w]
    kind = codes[w, KIND]
    if kind >= ENTRY and coded >= 0:
        return entry_words[coded]
    if kind == ENTRY:
        return NULL
    if kind == NUMERAL:
        w -= 1
    return codes[w, SIGN] * (batch[row, w] - codes[w, SHIFT])


@njit
def write_words(table, lines, place, codes, entry_words, out, first):
    """Write the uncoded words of rows to `out`, a line a word from line `first` on; returns the line behind
    them.

    Each of `lines` has a row's batch and its number there, from column `place` on; without a batch, which is
    -1, its words are NULL.
    """
    for w in range(codes.shape[0]):
        if codes[w, KIND] == PREFIX or codes[w, KIND] == CUT:
            continue
        for k in range(lines.shape[0]):
            index = lines[k, place]
            out[first, k] = NULL
            if index >= 0:
                out[first, k] = decoded(layer(table, index), lines[k, place + 1], codes, w, entry_words)
        first += 1
    return first


@njit
def delta_of_rows(table, lines, codes, entry_words, first, values):
    """Lines of a row's batch and number there, epoch and diff, as a delta [W + V + 2, n] of uncoded words,
    with the `values` from column `first` on."""
    out = np.empty((codes.shape[0] + values + 2, lines.shape[0]), np.int64)
    width = write_words(table, lines, 0, codes, entry_words, out, 0)
    for k in range(lines.shape[0]):
        for v in range(values):
            out[width + v, k] = lines[k, first + v]
        out[width + values, k] = lines[k, 2]
        out[width + values + 1, k] = lines[k, 3]
    return out[: width + values + 2]
