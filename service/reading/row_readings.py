"""Readings: the distinct rows of a relation at an epoch, with their counts, and any part of all copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.schema import Schema

_MOST_ROWS = 2**62


@dataclass(frozen=True, eq=False)
class Reading:
    """Distinct rows `words` int64[W, n] in order, and the number of copies of each, `counts` int64[n] > 0.

    `origin` is that of the relation's snapshot.
    """

    schema: Schema
    epoch: int
    words: np.ndarray
    counts: np.ndarray
    origin: object = None
    texts: object = None
    """Keeps the texts of the words as long as somebody has the reading."""

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the copies of each distinct row end among all rows, int64[n]; at most 2**62: no row
        behind that many can be read."""
        ends = np.cumsum(self.counts)
        if not len(ends) or int(self.counts.max()) <= _MOST_ROWS // len(ends):
            return ends
        return np.where(np.cumsum(self.counts, dtype=np.float64) < _MOST_ROWS, ends, _MOST_ROWS)

    @property
    def size(self) -> int:
        """The number of rows, copies included."""
        return int(self.ends[-1]) if len(self.counts) else 0

    def place(self, row: int) -> tuple[tuple[int, ...], int]:
        """The words of row number `row`, and how many of its copies come before it."""
        place = int(np.searchsorted(self.ends, row, side="right"))
        return tuple(self.words[:, place].tolist()), row - int(self.ends[place] - self.counts[place])

    def part(self, start: int, stop: int) -> np.ndarray:
        """The words int64[W, k] of rows `start` to `stop`, copies included."""
        stop = min(stop, self.size)
        if start >= stop:
            return self.words[:, :0]
        first, last = np.searchsorted(self.ends, (start, stop - 1), side="right")
        if self.size == len(self.counts):
            return np.ascontiguousarray(self.words[:, start:stop])
        ends = self.ends[first : last + 1]
        starts = np.append(self.ends[first - 1] if first else 0, ends[:-1])
        counts = np.minimum(ends, stop) - np.maximum(starts, start)
        return np.repeat(self.words[:, first : last + 1], counts, axis=1)
