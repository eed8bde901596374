"""A merge in progress: two layers of a trace become one, some rows at a time.

Many rows are merged beside what goes on, until the trace asks again; what the trace holds meanwhile does not
depend on how fast that is.

The result is narrow. Its rows are made a stretch at a time, as a matrix, and written from there.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from engine.kernels.layers import ADDRESS, STRIDE
from engine.kernels.merge import FIELDS, WRITTEN
from engine.kernels.narrow.narrow_rows import table_of
from engine.kernels.parallel.threads import Beside
from engine.state.batch_index import Index
from engine.state.layer import Layer
from engine.state.narrow_writer import NarrowWriter

QUANTUM = 4096
"""A merge proceeds by at least this many rows at a time."""
BESIDE = 1 << 15
"""From so many rows on, they are merged beside what goes on."""


class Merging(Protocol):
    """A trace's way of merging batches."""

    diffs: int
    may_merge_beside: bool

    @property
    def first_index(self) -> Index | None:
        """The index of the first batch, by which one sees how its words are spread; None if it has none."""

    def merge_step(
        self, table: np.ndarray, out: np.ndarray, state: np.ndarray, since: int, fuel: int
    ) -> bool:
        """Continue a merge of a table's two batches into `out` for `fuel` rows; true when it is done."""


class LayerMerge:
    """A merge in progress; `owed` is the number of rows to merge next."""

    def __init__(self, left: Layer, right: Layer, trace: Merging, since: int, key: int) -> None:
        """Epochs are advanced to `since`. The result gets an index by `key` words, if it should have one."""
        self._size = len(left) + len(right)
        self.left = left
        self.right = right
        self.owed = 0
        self._since = since
        self._table = table_of([left.rows, right.rows])
        self._stretch = np.empty((min(self._size, QUANTUM) + 2, left.rows.shape[1]), np.int64)
        """The last row that is written, and those that were made since."""
        self._made = self._stretch[1:]
        self._made_table = table_of([self._made])
        self._state = np.zeros(FIELDS, np.int64)
        self._out = NarrowWriter(self._size, (left.rows, right.rows), trace.diffs, since)
        known = left.index or right.index or trace.first_index
        keys = left.most_keys + right.most_keys
        self._index = Index.of_merge((left.rows, right.rows), known, keys, key)
        self._beside: Beside[Layer | None] | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def bytes(self) -> int:
        """The room for the result and its index."""
        slots = 0 if self._index is None else self._index.slots.nbytes
        return self._out.bytes + self._stretch.nbytes + slots

    @property
    def is_due(self) -> bool:
        """Whether enough rows are owed to go on, or some are being merged."""
        return self.owed >= QUANTUM or self._beside is not None

    @property
    def payable(self) -> int:
        """How many rows more compiled code may let be owed: a few quanta, because it interrupts itself for
        them."""
        return 0 if self.is_due else 8 * QUANTUM - 1 - self.owed

    def go_on(self, trace: Merging, most: int) -> Layer | None:
        """Merge rows that are owed, up to `most`, in the way of `trace`; returns the result when it is done.

        If they are many, the next call has the result.
        """
        if self._beside is not None:
            done, self._beside = self._beside.result(), None
            if done is not None or not self.is_due:
                return done
        rows = min(self.owed, most)
        self.owed -= rows
        step = partial(self._step, trace, rows)
        if rows < BESIDE or not trace.may_merge_beside:
            return step()
        self._beside = Beside(step)
        return None

    def at_once(self, trace: Merging) -> Layer:
        """Merge all rows, in the way of `trace`."""
        done = None
        while done is None:
            done = self._step(trace, self._size)
        return done

    def _step(self, trace: Merging, rows: int) -> Layer | None:
        state, made = self._state, self._made
        is_done = False
        while rows > 0 and not is_done:
            fuel = min(rows, len(made) - 1)
            rows -= fuel
            is_done = trace.merge_step(self._table, made, state, self._since, fuel)
            # The last row may still cancel, so it is written together with those after it.
            count = int(state[WRITTEN])
            ready = count if is_done else max(count - 1, 0)
            if ready:
                self._write(made[:ready])
                self._stretch[0] = made[ready - 1]
                made[: count - ready] = made[ready:count]
                state[WRITTEN] = count - ready
        return self._result() if is_done else None

    def _write(self, rows: np.ndarray) -> None:
        start = self._out.write(rows)
        if self._index is not None:
            # The rows as part of the whole batch, of which nothing but the row before them is read.
            table = self._made_table.copy()
            table[0, ADDRESS] -= start * table[0, STRIDE]
            self._index.enter(table, start, start + len(rows))

    def _result(self) -> Layer:
        rows = self._out.rows
        return Layer(rows if len(rows) else self._stretch[:0], self._index)
