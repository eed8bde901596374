"""From a trace to its files: what is in memory alone is written, and older files that are not much larger.

So each file of a shard has a few times the rows of all newer ones: there are as many as the
logarithm of the rows, and no row is written more often than that. Files of other divisions (of
few rows, in one file; of another number of shards) count as one more shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.layer import Layer
from engine.states import Kept
from engine.store.directory import StateDirectory
from engine.store.files import BatchFile
from engine.store.shards import key_words, split
from engine.trace import Trace

GROWTH = 2
"""A file is written anew unless it has more than this many times the rows that are written anyway."""
UNDIVIDED = 1 << 14
"""Rows up to which a batch goes to one file, whatever the number of shards."""


@dataclass(frozen=True, eq=False)
class Captured:
    """What `state` held at one moment: the sum of `layers`, arrays that nobody changes."""

    fingerprint: str
    state: Kept
    trace: Trace
    layers: tuple[Layer, ...]
    since: int

    @staticmethod
    def of(fingerprint: str, state: Kept) -> Captured:
        trace = state.trace
        return Captured(fingerprint, state, trace, trace.capture(), trace.since)


@dataclass(frozen=True, eq=False)
class Rewritten:
    """The layers `made`, mapped from new files, hold what the captured ones `taken` hold."""

    captured: Captured
    taken: tuple[Layer, ...] = ()
    made: tuple[Layer, ...] = ()

    @property
    def files(self) -> tuple[BatchFile, ...]:
        """All files of what was captured."""
        gone = set(map(id, self.taken))
        kept = [layer for layer in self.captured.layers if id(layer) not in gone]
        return tuple(layer.file for layer in (*kept, *self.made) if layer.file is not None)

    def install(self) -> bool:
        """Let the files stand for what they hold; false if the trace has been written anew meanwhile."""
        if not self.captured.trace.exchange(self.taken, self.made):
            return False
        self.captured.state.reset()
        return True


def rewrite(captured: Captured, directory: StateDirectory, shards: int) -> Rewritten:
    """Write what is in no file, divided into `shards`. StoreError if a file that goes with it is damaged."""
    trace, since = captured.trace, captured.since
    taken = [layer for layer in captured.layers if layer.file is None]
    if not taken:
        return Rewritten(captured)
    words = key_words(trace.key)
    of = shards if words else 1
    filed = [(layer.file, layer) for layer in captured.layers if layer.file is not None]
    others = [layer for file, layer in filed if file.shards != of]
    taken += _not_much_larger(others, sum(map(len, taken)))
    merged = _merged(trace, taken, since)
    pieces = [(merged, 0, 1)]
    if of == 1 or len(merged) > UNDIVIDED:
        pieces.clear()
        for shard, rows in enumerate(split(merged, words, of)):
            older = [layer for file, layer in filed if (file.shard, file.shards) == (shard, of)]
            older = list(_not_much_larger(older, len(rows)))
            taken += older
            pieces.append((_merged(trace, [Layer(rows), *older], since), shard, of))
    for layer in taken:
        if layer.file is not None:
            directory.verify(layer.file)
    made = (_written(directory, trace, *piece) for piece in pieces if len(piece[0]))
    return Rewritten(captured, tuple(taken), tuple(made))


def _not_much_larger(layers: Iterable[Layer], size: int) -> Iterator[Layer]:
    """Of some layers those that are written anew with `size` rows, the smallest first."""
    for layer in sorted(layers, key=len):
        if len(layer) > GROWTH * size:
            return
        size += len(layer)
        yield layer


def _merged(trace: Trace, layers: Iterable[Layer], since: int) -> np.ndarray:
    return trace.merge_all([layer.rows for layer in layers], since)


def _written(directory: StateDirectory, trace: Trace, rows: np.ndarray, shard: int, shards: int) -> Layer:
    """A batch in a new file, and as the trace has it from there."""
    file = directory.write(trace.export_rows(rows), trace.key, shard, shards)
    return opened(directory, trace, file)


def opened(directory: StateDirectory, trace: Trace, file: BatchFile) -> Layer:
    """A file's batch as the trace has it."""
    layer = directory.open(file)
    rows = trace.import_rows(layer.rows)
    return layer if rows is layer.rows else Layer(rows, layer.index, file)
