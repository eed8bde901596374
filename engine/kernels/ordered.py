"""Batches of coded rows (see `coding`): arranged, and merged."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import add_equal, pack
from engine.kernels.coding import CUT, ENTRY, KIND, PREFIX, SHIFT, SIGN, compare_coded
from engine.kernels.compiled import kernel
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.merge import FIELDS, WRITTEN, advance, advance_table
from engine.kernels.sort import sort_rows
from engine.kernels.texts import slot_of
from engine.kernels.words import NULL


@njit
def _prefix(ends, arena, entry):
    """A number that sorts texts by their first eight bytes, above NULL."""
    number = np.uint64(0)
    size = ends[entry + 1] - ends[entry]
    for k in range(8):
        byte = arena[ends[entry] + k] if k < size else 0
        number = (number << np.uint64(8)) | np.uint64(byte)
    return (
        np.int64(number + np.uint64(1)) ^ NULL
    )  # no text begins with a byte above 0xF4, so nothing overflows


@njit
def _code(rows, codes, table, entry_words, ends, arena):
    """Code the words of `rows` in place."""
    for i in range(rows.shape[0]):
        for w in range(codes.shape[0]):
            word = rows[i, w]
            kind = codes[w, KIND]
            if kind == CUT and word != NULL:
                word = min(max(word, -FIRST_NUMERAL), FIRST_NUMERAL)
            elif kind >= ENTRY:
                is_text = word != NULL and (kind == ENTRY or abs(word) >= FIRST_NUMERAL)
                word = np.int64(table[slot_of(word, table, entry_words)]) - 1 if is_text else -1
            elif kind == PREFIX and word != NULL:
                word = _prefix(ends, arena, np.int64(table[slot_of(word, table, entry_words)]) - 1)
            rows[i, w] = word if kind >= ENTRY else codes[w, SIGN] * word + codes[w, SHIFT]


@njit
def _is_sorted(rows, low, high, lead, codes, ends, arena):
    for i in range(low + 1, high):
        if compare_coded(codes, ends, arena, rows, i - 1, rows, i, lead) > 0:
            return False
    return True


@njit
def _sort_run(rows, low, high, lead, codes, ends, arena):
    """Sort a run of rows by `compare_coded`: a merge sort of an index."""
    n = high - low
    index = np.arange(low, high)
    other = np.empty_like(index)
    size = 1
    while size < n:
        for start in range(0, n, 2 * size):
            middle = min(start + size, n)
            end = min(middle + size, n)
            i = start
            j = middle
            for k in range(start, end):
                if j == end or (
                    i < middle
                    and compare_coded(codes, ends, arena, rows, index[i], rows, index[j], lead) <= 0
                ):
                    other[k] = index[i]
                    i += 1
                else:
                    other[k] = index[j]
                    j += 1
        index, other = other, index
        size *= 2
    rows[low:high] = rows[index]


@njit
def _sort_texts(rows, lead, codes, ends, arena):
    """Bring rows that are sorted as numbers into the order of their texts.

    Only rows that agree in everything before the first text's entry can be out of order.
    """
    first = 0
    while first < codes.shape[0] and codes[first, KIND] < ENTRY:
        first += 1
    if first == codes.shape[0]:
        return
    low = 0
    for i in range(1, rows.shape[0] + 1):
        if i < rows.shape[0] and compare_coded(codes, ends, arena, rows, i, rows, low, first) == 0:
            continue
        if i - low > 1 and not _is_sorted(rows, low, i, lead, codes, ends, arena):
            _sort_run(rows, low, i, lead, codes, ends, arena)
        low = i


@kernel(
    "int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64[:,::1],"
    "uint32[::1], int64[::1], int64[::1], uint8[::1])",
)
def arrange_ordered(delta, order, rounds, codes, table, entry_words, ends, arena):
    """As `arrange`, with words coded by `codes` [P, 3] and rows in the order of `compare_coded`.

    The other arrays are the dictionary's (see `texts`).
    """
    width = codes.shape[0]
    lead = width + rounds.shape[0] + 1
    rows = pack(delta, order, rounds, lead + 1)
    diffs = delta[delta.shape[0] - 1]
    for i in range(rows.shape[0]):
        rows[i, lead] = diffs[i]
    _code(rows, codes, table, entry_words, ends, arena)
    sort_rows(rows, lead)
    _sort_texts(rows, lead, codes, ends, arena)
    return add_equal(rows, lead)


@kernel(
    "boolean(int64[:,::1], int64[:,::1], int64[::1], int64, int64, int64,"
    "int64[:,::1], int64[::1], uint8[::1])",
)
def merge_ordered_step(table, out, state, width, since, fuel, codes, ends, arena):
    """As `merge_step`, in the order of `compare_coded`."""
    return advance_table(table, out, state, width, since, fuel, (codes, ends, arena))


@kernel(
    "int64[:,::1](int64[:,::1], int64[:,::1], int64, int64, int64[:,::1], int64[::1], uint8[::1])",
)
def merge_ordered(a, b, width, since, codes, ends, arena):
    """As `merge`, in the order of `compare_coded`."""
    n = a.shape[0] + b.shape[0]
    out = np.empty((n, a.shape[1]), np.int64)
    state = np.zeros(FIELDS, np.int64)
    advance(a, b, out, state, width, since, n, (codes, ends, arena))
    return out[: state[WRITTEN]]
