"""Reading sorted batches at one time: all rows, those from some row on, or those under some keys.

Rows that were read can be brought up to a later time by what has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from engine.kernels.collapse import rows_until
from engine.kernels.lookup import find_ranges
from engine.kernels.merge import merge
from engine.kernels.narrow.narrow_rows import Batch, as_matrix, table_of
from engine.kernels.times import rows_before

Rows = tuple[np.ndarray, np.ndarray]
"""Distinct rows: words [W, n] and counts [n]."""

SLACK = 16
"""Rows that a step reads beyond those that are asked for, since some cancel."""


def accumulate(batches: Iterable[Batch], width: int, time: int, masks: np.ndarray) -> np.ndarray:
    """All rows at or before a time, as one batch `[words | epoch 0 | diff]`."""
    if len(masks):
        found = (rows_before(as_matrix(batch), width, time, masks) for batch in batches)
    else:
        found = (rows_until(table_of([batch]), width, time) for batch in batches)
    parts = sorted(found, key=len, reverse=True)
    if not parts:
        return np.empty((0, width + 2), np.int64)
    while len(parts) > 1:
        last = parts.pop()
        parts[-1] = merge(parts[-1], last, width, 0)
    return parts[0]


def first_rows(
    batches: Sequence[Batch],
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
            tuple(batch[end - 1 : end, :width][0].tolist())
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


def rows_in(
    batches: Sequence[Batch],
    width: int,
    lows: np.ndarray,
    highs: np.ndarray,
    time: int,
    masks: np.ndarray,
) -> np.ndarray:
    """The rows of `accumulate` that lie in the ranges [lows[l, m], highs[l, m]) of the batches.

    The ranges of a batch ascend and do not overlap.
    """
    stretches = (
        np.concatenate([batch[low:high] for low, high in zip(*bounds, strict=True)])
        for batch, *bounds in zip(batches, lows.tolist(), highs.tolist(), strict=True)
    )
    return accumulate([part for part in stretches if len(part)], width, time, masks)


def _bounds(batches: Sequence[Batch], words: np.ndarray) -> tuple[list[int], list[int]]:
    """For every batch, the first row that is not below the words, and the first row above them."""
    if not batches:
        return [], []
    lows, highs = find_ranges(table_of(batches), words.reshape(1, -1))
    return lows[:, 0].tolist(), highs[:, 0].tolist()


def patched(rows: Rows, changes: Rows, order: Sequence[int]) -> Rows:
    """The rows after `changes`, words [W, k] and diffs [k]; both are sorted by `order`, and distinct.

    Costs a copy of the rows, and a search for each change.
    """
    (words, counts), (new, diffs) = rows, changes
    found = [_place(words, row, order) for row in new.T.tolist()]
    places = np.array([place for place, _ in found], np.int64)
    is_there = np.array([there for _, there in found], np.bool_)
    counts = counts.copy()
    counts[places[is_there]] += diffs[is_there]
    if (~is_there).any():
        words = np.insert(words, places[~is_there], new[:, ~is_there], axis=1)
        counts = np.insert(counts, places[~is_there], diffs[~is_there])
    kept = counts > 0
    if not kept.all():
        words, counts = np.ascontiguousarray(words[:, kept]), counts[kept]
    return words, counts


def _place(words: np.ndarray, row: Sequence[int], order: Sequence[int]) -> tuple[int, bool]:
    """The place of a row among sorted `words` [W, n], or at which it would be; and whether it is there."""
    low, high = 0, words.shape[1]
    for column in order:
        line = words[column, low:high]
        low, high = (
            low + int(line.searchsorted(row[column])),
            low + int(line.searchsorted(row[column], "right")),
        )
        if low == high:
            return low, False
    return low, True
