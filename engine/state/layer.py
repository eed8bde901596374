"""A layer: a batch of a trace and, if it is large enough, the index that finds its keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.layers import KEY, SPREAD, register_index
from engine.kernels.narrow.narrow_rows import (
    NARROW,
    Batch,
    NarrowRows,
    as_matrix,
    column_of,
    register_batch,
)
from engine.state.batch_index import Index
from engine.state.epoch_index import EpochIndex
from engine.state.store.files import BatchFile


@dataclass(eq=False, slots=True)
class Layer:
    """A batch. `file` is the file that rows and index are mapped from, None if they are only in memory."""

    rows: Batch
    index: Index | None = None
    file: BatchFile | None = None
    _epochs: EpochIndex | None = None
    _total: int | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def matrix(self) -> np.ndarray:
        """The rows as a matrix."""
        return as_matrix(self.rows)

    @property
    def bytes(self) -> int:
        """The size of the rows and of their indexes."""
        indexes = (0 if self.index is None else self.index.slots.nbytes) + (
            0 if self._epochs is None else self._epochs.bytes
        )
        return self.rows.nbytes + indexes

    @property
    def epochs(self) -> EpochIndex:
        """The index by epoch of rows with one diff; made when it is first asked for."""
        if self._epochs is None:
            self._epochs = EpochIndex(column_of(self.rows, -2))
        return self._epochs

    @property
    def total(self) -> int:
        """The sum of the last diffs, added up once."""
        if self._total is None:
            diffs = self.rows[:, -1]
            high, low = diffs >> 32, diffs & 0xFFFFFFFF
            self._total = (int(high.sum()) << 32) + int(low.sum())
        return self._total

    @property
    def most_keys(self) -> int:
        """An upper bound of the batch's number of keys."""
        return len(self.rows) if self.index is None else self.index.keys

    def indexed(self, key: int) -> Layer:
        """The layer with an index by `key` words, if it should have one."""
        index = Index.of(self.rows, key) if self.index is None else None
        return self if index is None else Layer(self.rows, index, self.file)

    @property
    def narrowed(self) -> Layer:
        """The layer with a narrow batch, if it is large and in memory."""
        rows = self.rows
        if self.file is not None or len(rows) < NARROW or isinstance(rows, NarrowRows):
            return self
        return Layer(NarrowRows.of(rows), self.index)

    def without_file(self) -> Layer:
        """The same layer, for somebody who does not know whether its file is still there."""
        return self if self.file is None else replace(self, file=None)

    def register(self, table: np.ndarray, line: int, key: int) -> None:
        """Write the layer into a line of a table; `key` is the trace's."""
        register_batch(table, line, self.rows)
        if self.index is not None:
            register_index(table, line, self.index.slots, self.index.place_bits, self.index.key)
        elif key == SPREAD:
            table[line, KEY] = SPREAD
