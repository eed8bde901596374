"""Reading sorted batches at one time: all rows, or the first rows from some row on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from engine.kernels.layers import table_of
from engine.kernels.lookup import find_ranges
from engine.kernels.merge import merge
from engine.kernels.read import rows_until
from engine.kernels.times import rows_before

SLACK = 16
"""Rows that a step reads beyond those that are asked for, since some cancel."""


def accumulate(batches: Iterable[np.ndarray], width: int, time: int, masks: np.ndarray) -> np.ndarray:
    """All rows at or before a time, as one batch `[words | epoch 0 | diff]`."""
    if len(masks):
        found = (rows_before(batch, width, time, masks) for batch in batches)
    else:
        found = (rows_until(batch, width, time) for batch in batches)
    parts = sorted(found, key=len, reverse=True)
    if not parts:
        return np.empty((0, width + 2), np.int64)
    while len(parts) > 1:
        last = parts.pop()
        parts[-1] = merge(parts[-1], last, width, 0)
    return parts[0]


def first_rows(
    batches: Sequence[np.ndarray],
    width: int,
    first: np.ndarray | None,
    time: int,
    masks: np.ndarray,
    most: int,
) -> np.ndarray:
    """The rows of `accumulate` that exist, from words `first` on, until their counts reach `most`.

    It reads a stretch of every batch at a time: up to the least row at which some stretch ends, whose
    differences are all in the stretches then.
    """
    batches = [batch for batch in batches if len(batch)]
    starts = [0] * len(batches) if first is None else _bounds(batches, first)[0]
    found = [np.empty((0, width + 2), np.int64)]
    size = most + SLACK
    while most > 0:
        ends = [start + size for start in starts]
        unfinished = [
            tuple(batch[end - 1, :width].tolist())
            for batch, end in zip(batches, ends, strict=True)
            if end < len(batch)
        ]
        if unfinished:
            ends = _bounds(batches, np.array(min(unfinished), np.int64))[1]
        stretches = [batch[start:end] for batch, start, end in zip(batches, starts, ends, strict=True)]
        rows = accumulate([part for part in stretches if len(part)], width, time, masks)
        rows = rows[rows[:, -1] > 0]
        found.append(rows)
        most -= int(rows[:, -1].sum())
        if not unfinished:
            break
        starts, size = ends, 2 * size
    return np.concatenate(found)


def _bounds(batches: Sequence[np.ndarray], words: np.ndarray) -> tuple[list[int], list[int]]:
    """For every batch, the first row that is not below the words, and the first row above them."""
    if not batches:
        return [], []
    lows, highs = find_ranges(table_of(list(batches)), words.reshape(1, -1))
    return lows[:, 0].tolist(), highs[:, 0].tolist()
