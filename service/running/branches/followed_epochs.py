"""The epochs of a live branch that are epochs of its parent, one for one; all others are the branch's own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np

Range = tuple[int, int, int]
"""The first and the last epoch of the branch in a range, and the epoch of the parent that the last one is."""


class FollowedEpochs:
    """The branch's writer adds ranges, in order; any thread asks. A pinned branch has none."""

    def __init__(self, parted: int, ranges: Iterable[Range] = ()) -> None:
        """`parted` is the parent's epoch that the branch begins with."""
        self._parted = parted
        self._ranges: list[Range] = []
        for each in ranges:
            self.add(*each)

    def add(self, first: int, last: int, until: int) -> None:
        """Adds a range that comes after all others."""
        if self._ranges and self._ranges[-1][1] == first - 1:
            self._ranges[-1] = (self._ranges[-1][0], last, until)
        else:
            self._ranges.append((first, last, until))

    @property
    def is_empty(self) -> bool:
        return not self._ranges

    @property
    def newest(self) -> int:
        """The parent's newest epoch that the branch has."""
        return self._ranges[-1][2] if self._ranges else self._parted

    def parent_at(self, epoch: int) -> int:
        """The parent's newest epoch that the branch has at one of its own."""
        return int(self.parents_at(np.array([epoch], np.int64))[0])

    def parents_at(self, epochs: np.ndarray) -> np.ndarray:
        """The same for epochs int64[n]."""
        place, ranges = self._places(epochs)
        _, last, until = ranges[np.maximum(place, 0)].T
        return np.where(place < 0, self._parted, until - np.maximum(last - epochs, 0))

    def are_own(self, epochs: np.ndarray) -> np.ndarray:
        """Which of the epochs int64[n] are the branch's own, bool[n]."""
        place, ranges = self._places(epochs)
        return (place < 0) | (epochs > ranges[np.maximum(place, 0), 1])

    def _places(self, epochs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each epoch, the place of the last range that begins at or before it, or -1; and the ranges."""
        ranges = self._ranges[: bisect_right(self._ranges, int(epochs.max(initial=0)), key=lambda it: it[0])]
        found = np.array(ranges or [(0, 0, 0)], np.int64)
        return np.searchsorted(found[: len(ranges), 0], epochs, side="right") - 1, found
