"""A merge in progress: two layers of a trace become one, some rows at a time.

Many rows are merged beside what goes on, until the trace asks again; what the trace holds meanwhile does not
depend on how fast that is.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from engine.kernels.merge import FIELDS, WRITTEN
from engine.kernels.parallel.threads import Beside
from engine.state.layer import Index, Layer

QUANTUM = 4096
"""A merge proceeds by at least this many rows at a time."""
BESIDE = 1 << 15
"""From so many rows on, they are merged beside what goes on."""


class Merging(Protocol):
    """A trace's way of merging batches."""

    since: int
    may_merge_beside: bool

    def merge_step(
        self, left: np.ndarray, right: np.ndarray, out: np.ndarray, state: np.ndarray, since: int, fuel: int
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
        self._beside: Beside[Layer | None] | None = None

    def __len__(self) -> int:
        return len(self._out)

    @property
    def bytes(self) -> int:
        """The room for the result and its index."""
        return self._out.nbytes + (0 if self._index is None else self._index.slots.nbytes)

    @property
    def is_due(self) -> bool:
        """Whether enough rows are owed to go on, or some are being merged."""
        return self.owed >= QUANTUM or self._beside is not None

    @property
    def payable(self) -> int:
        """How many rows may be owed more before it goes on."""
        return 0 if self.is_due else QUANTUM - 1 - self.owed

    def go_on(self, trace: Merging) -> Layer | None:
        """Merge the rows that are owed, in the way of `trace`; returns the result when it is done.

        If many are owed, the next call has the result.
        """
        if self._beside is not None:
            done, self._beside = self._beside.result(), None
            if done is not None or not self.is_due:
                return done
        owed, self.owed = self.owed, 0
        step = partial(self._step, trace, trace.since, owed)
        if owed < BESIDE or not trace.may_merge_beside:
            return step()
        self._beside = Beside(step)
        return None

    def _step(self, trace: Merging, since: int, rows: int) -> Layer | None:
        out, state = self._out, self._state
        start = int(state[WRITTEN])
        done = trace.merge_step(self.left.rows, self.right.rows, out, state, since, rows)
        written = int(state[WRITTEN])
        if self._index is not None:
            # The last row written may still cancel, so it is entered together with those after it.
            self._index.enter(out, max(start - 1, 0), written if done else max(written - 1, 0))
        return Layer(out[:written], self._index) if done else None
