"""A trace: all differences of a collection, as a spine of immutable sorted batches.

A batch is an int64 matrix of rows `[W words | d rounds | epoch | K diffs]`, sorted by
words, rounds and epoch, consolidated. Batches lie from the largest to the smallest; a reader
sees each of them, and a row's value is the sum over all.

Two neighbours of similar size are merged. Small merges happen at once; large ones go on
by the rows that are inserted meanwhile, so that no single insertion pays for them, and
are read as their two inputs until they are done.

Epochs below `since` are no longer told apart: a merge advances them to `since`. A trace
that only serves operators keeps `since` at its frontier and becomes as small as its
collection. Rounds are kept.

Not thread-safe; what `batches()` returned stays valid for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.layers import COLUMNS, register
from engine.kernels.merge import FIELDS, WRITTEN, compact, merge, merge_step

AT_ONCE = 128
"""Rows up to which a merge is done at once."""
QUANTUM = 4096
"""Rows that a large merge goes on by at a time."""
EFFORT = 10
"""Rows that every merge under way is owed for a row inserted."""


@dataclass(eq=False)
class Merge:
    """A merge under way, and the rows of work it is owed."""

    left: np.ndarray
    right: np.ndarray
    out: np.ndarray
    state: np.ndarray
    owed: int = 0

    @property
    def size(self) -> int:
        return len(self.out)


class Trace:
    """A spine of batches of `width` words and rounds, epoch, and `diffs` diffs."""

    def __init__(self, width: int, diffs: int = 1, since: int = 0) -> None:
        self.width = width
        self.diffs = diffs
        self.since = since
        self._layers: list[np.ndarray | Merge] = []
        self._merges: list[Merge] = []
        self.table = np.empty((16, COLUMNS), np.int64)
        self.count = 0
        self._held: list[np.ndarray] = []

    @property
    def rows(self) -> int:
        """Differences held, those of merges under way counted once."""
        return sum(len(batch) for batch in self._held)

    def batches(self) -> tuple[np.ndarray, ...]:
        """The batches whose sum the trace is."""
        return tuple(self._held)

    def insert(self, batch: np.ndarray) -> None:
        """Add a batch. Costs its own size and a share of the merges that it brings about."""
        size = len(batch)
        if size == 0:
            return
        layers = self._layers
        while layers:
            last = layers[-1]
            if isinstance(last, Merge) or len(last) + len(batch) > AT_ONCE:
                break
            batch = merge(last, batch, self.width, self.since)
            layers.pop()
        if len(batch):
            layers.append(batch)
        if not len(batch) or self._is_unbalanced() or (self._merges and self._work(size)):
            while self._balance():
                pass
            self._retable(0)
        else:
            self._retable(max(len(layers) - 1, 0))

    def finish(self) -> None:
        """Bring all merges to their end and leave one batch, with every epoch advanced to `since`."""
        while self._merges:
            self._work(QUANTUM * len(self._held))
        layers: list[np.ndarray] = [layer for layer in self._layers if not isinstance(layer, Merge)]
        while len(layers) > 1:
            right, left = layers.pop(), layers.pop()
            layers.append(merge(left, right, self.width, self.since))
        self._layers[:] = [batch for layer in layers if len(batch := compact(layer, self.width, self.since))]
        self._retable(0)

    def _is_unbalanced(self) -> bool:
        """Whether the two newest layers are neighbours of similar size."""
        if len(self._layers) < 2:
            return False
        left, right = self._layers[-2:]
        return not (isinstance(left, Merge) or isinstance(right, Merge)) and len(left) <= 2 * len(right)

    def _balance(self) -> bool:
        """Merge or start to merge neighbours of similar size, newest first; true if anything has changed."""
        layers = self._layers
        changed = False
        for index in range(len(layers) - 1, 0, -1):
            if index >= len(layers):
                continue
            left, right = layers[index - 1], layers[index]
            if isinstance(left, Merge) or isinstance(right, Merge) or len(left) > 2 * len(right):
                continue
            merged = self._begin(left, right)
            layers[index - 1 : index + 1] = [merged] if isinstance(merged, Merge) or len(merged) else []
            changed = True
        return changed

    def _begin(self, left: np.ndarray, right: np.ndarray) -> np.ndarray | Merge:
        size = len(left) + len(right)
        if size <= QUANTUM:
            return merge(left, right, self.width, self.since)
        out = np.empty((size, left.shape[1]), np.int64)
        under_way = Merge(left, right, out, np.zeros(FIELDS, np.int64))
        self._merges.append(under_way)
        return under_way

    def _work(self, inserted: int) -> bool:
        """Pay every merge under way for `inserted` rows; true if one has ended."""
        ended = False
        for under_way in tuple(self._merges):
            under_way.owed += EFFORT * inserted
            if under_way.owed < QUANTUM:
                continue
            m = under_way
            done = merge_step(m.left, m.right, m.out, m.state, self.width, self.since, m.owed)
            m.owed = 0
            if done:
                self._merges.remove(m)
                written = int(m.state[WRITTEN])
                batch = m.out[:written]
                index = next(i for i, layer in enumerate(self._layers) if layer is m)
                self._layers[index : index + 1] = [batch] if written else []
                ended = True
        return ended

    def _retable(self, first: int) -> None:
        """Write the table's lines from layer `first` on; no merge is under way after a `first` above 0."""
        held = self._held
        start = first + len(self._merges) if first else 0
        del held[start:]
        for layer in self._layers[first:]:
            if isinstance(layer, Merge):
                held += (layer.left, layer.right)
            else:
                held.append(layer)
        self.count = len(held)
        if self.count > len(self.table):
            self.table = np.empty((2 * self.count, COLUMNS), np.int64)
            start = 0
        for index in range(start, self.count):
            register(self.table, index, held[index])
