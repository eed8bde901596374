"""Rows coded so that their words sort in a wanted order.

A word's code is a sign and a shift: coded = sign * word + shift, in arithmetic that wraps
around. Words sort ascending with NULL first as they are; the codes below turn the order, or
move NULL to its end, and lose nothing.

| order | code |
|---|---|
| ascending, NULL first | word |
| ascending, NULL last | word - 1 |
| descending, NULL last | -word - 1 |
| descending, NULL first | -word |
"""

from __future__ import annotations

from numba import njit

from engine.kernels.arrange import consolidate, pack

AS_IS = (1, 0)


def code(descending: bool, nulls_first: bool) -> tuple[int, int]:
    """The sign and shift by which words sort so."""
    return (-1 if descending else 1, 0 if nulls_first else -1)


@njit("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64[:,::1])", cache=True, nogil=True)
def arrange_ordered(delta, order, rounds, codes):
    """As `arrange`, with the words coded by `codes` [P, 2]."""
    width = codes.shape[0]
    lead = width + rounds.shape[0] + 1
    rows = pack(delta, order, rounds, lead + 1)
    diffs = delta[delta.shape[0] - 1]
    for i in range(rows.shape[0]):
        for w in range(width):
            rows[i, w] = codes[w, 0] * rows[i, w] + codes[w, 1]
        rows[i, lead] = diffs[i]
    return consolidate(rows, lead)
