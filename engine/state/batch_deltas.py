"""Rows of batches as a delta, which has a row for each of their columns.

They are turned a block at a time, which stays in the cache: nothing else is as large as the delta.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.narrow.narrow_rows import Batch
from engine.kernels.parallel import threads

_BLOCK = 1 << 13
"""Rows that are turned together."""

Stretch = tuple[Batch, int, int]
"""The rows of a batch from one place up to another."""


def delta_of(
    stretches: Sequence[Stretch], columns: Sequence[int], wanted: frozenset[int] | None = None
) -> np.ndarray:
    """Some columns of the rows of stretches, one after the other, int64[columns, n].

    If only some of the delta's words are `wanted`, besides the last two, the others have any value, and take
    no memory if the delta is large.
    """
    blocks = []
    rows = 0
    for batch, first, last in stretches:
        for start in range(first, last, _BLOCK):
            stop = min(start + _BLOCK, last)
            blocks.append((batch, start, stop, rows))
            rows += stop - start
    width = len(columns)
    delta = np.empty((width, rows), np.int64)
    lines = list(range(width)) if wanted is None else sorted({*wanted, width - 2, width - 1})
    read = [columns[line] for line in lines]

    def turn(block: tuple[Batch, int, int, int]) -> None:
        batch, start, stop, at = block
        delta[lines, at : at + stop - start] = batch[start:stop, read].T

    if rows >= threads.LARGE:
        threads.each(turn, blocks)
    else:
        for block in blocks:
            turn(block)
    return delta
