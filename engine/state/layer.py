"""A layer: a batch of a trace and, if it is large enough, the index that finds its keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.index import FEWEST, MOST, SLOTS_A_KEY, count_keys, index_rows
from engine.kernels.layers import KEY, SPREAD, register_index
from engine.kernels.narrow.narrow_rows import (
    Batch,
    NarrowRows,
    as_matrix,
    column_of,
    register_batch,
    table_of,
)
from engine.state.epoch_index import EpochIndex
from engine.state.store.files import BatchFile

NARROW = 4096
"""Batches of at least this many rows are narrow."""


@dataclass(eq=False)
class Index:
    """The slots of a batch's index by its first `key` words; `keys` is the number of keys entered so far."""

    slots: np.ndarray
    place_bits: int
    key: int
    keys: int = 0

    @staticmethod
    def of_size(rows: int, keys: int, key: int) -> Index | None:
        """An empty index for a batch of at most this many rows and keys; None if an index does not pay."""
        if key <= 0 or not FEWEST <= rows < MOST:
            return None
        return Index(np.zeros(SLOTS_A_KEY * keys, np.uint32), rows.bit_length(), key)

    def enter(self, table: np.ndarray, start: int, stop: int) -> None:
        """Enter the rows from `start` up to `stop` of the batch, a table of itself; rows must be entered in
        order."""
        self.keys += index_rows(table, start, stop, self.slots, self.place_bits, self.key)


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
        if self.index is not None or key <= 0 or len(self.rows) < FEWEST:
            return self
        table = table_of([self.rows])
        index = Index.of_size(len(self.rows), count_keys(table, key), key)
        if index is not None:
            index.enter(table, 0, len(self.rows))
        return Layer(self.rows, index, self.file)

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
