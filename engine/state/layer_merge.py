"""A merge in progress: two layers of a trace become one, some rows at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from engine.kernels.merge import FIELDS, WRITTEN
from engine.state.layer import Index, Layer


class Merging(Protocol):
    """A trace's way of merging batches."""

    def merge_step(
        self, left: np.ndarray, right: np.ndarray, out: np.ndarray, state: np.ndarray, fuel: int
    ) -> bool:
        """Continue a merge into `out` for `fuel` rows; true when it is done."""


class LayerMerge:
    """A merge in progress; `owed` is the number of rows to merge next."""

    def __init__(self, left: Layer, right: Layer, key: int) -> None:
        size = len(left) + len(right)
        self.left = left
        self.right = right
        self.owed = 0
        self._out = np.empty((size, left.rows.shape[1]), np.int64)
        self._state = np.zeros(FIELDS, np.int64)
        self._index = Index.of_size(size, left.most_keys + right.most_keys, key)

    def __len__(self) -> int:
        return len(self._out)

    @property
    def bytes(self) -> int:
        """The room for the result and its index."""
        return self._out.nbytes + (0 if self._index is None else self._index.slots.nbytes)

    def go_on(self, trace: Merging) -> Layer | None:
        """Merge the rows that are owed, in the way of `trace`; returns the result when it is done."""
        out, state = self._out, self._state
        start = int(state[WRITTEN])
        done = trace.merge_step(self.left.rows, self.right.rows, out, state, self.owed)
        self.owed = 0
        written = int(state[WRITTEN])
        if self._index is not None:
            # The last row written may still cancel, so it is entered together with those after it.
            self._index.enter(out, max(start - 1, 0), written if done else max(written - 1, 0))
        return Layer(out[:written], self._index) if done else None
