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


def delta_of(stretches: Sequence[Stretch], columns: Sequence[int]) -> np.ndarray:
    """Some columns of the rows of stretches, one after the other, int64[columns, n]."""
    blocks = []
    rows = 0
    for batch, first, last in stretches:
        for start in range(first, last, _BLOCK):
            stop = min(start + _BLOCK, last)
            blocks.append((batch, start, stop, rows))
            rows += stop - start
    delta = np.empty((len(columns), rows), np.int64)

    def turn(block: tuple[Batch, int, int, int]) -> None:
        batch, start, stop, at = block
        delta[:, at : at + stop - start] = batch[start:stop, list(columns)].T

    if rows >= threads.LARGE:
        threads.each(turn, blocks)
    else:
        for block in blocks:
            turn(block)
    return delta
