"""From a trace to its files: what is in memory alone is written, and with it files not much larger.

Each file of a shard has a few times the rows of all smaller ones: there are as many as the
logarithm of the rows, and no row is written more often than that. Files that came by other
ways, as those of an epoch on Spark, are merged by the same rule. Files of other divisions (of few
rows, which are not divided; of another number of shards) count as one more shard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.runtime.kept import Kept
from engine.state.layer import Layer
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import BatchFile
from engine.state.store.key_shards import key_words, split
from engine.state.trace import Trace

GROWTH = 2
"""A file is written anew unless it has more than this many times the rows that are written anyway,"""
FEW = 1 << 12
"""or has more rows than this."""
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
        """Let the files stand for what they hold; false where nothing has changed: no file is new, or the
        trace has been written anew meanwhile."""
        if not self.taken or not self.captured.trace.exchange(self.taken, self.made):
            return False
        self.captured.state.reset()
        return True


def rewrite(captured: Captured, directory: StateDirectory, writing: Writing, shards: int) -> Rewritten:
    """Write what is in no file, divided into `shards`. StoreError if a file that goes with it is damaged."""
    trace, since = captured.trace, captured.since
    words = key_words(trace.key)
    of = shards if words else 1
    fresh = [layer for layer in captured.layers if layer.file is None]
    filed = [(layer.file, layer) for layer in captured.layers if layer.file is not None]
    taken = _together(fresh, [layer for file, layer in filed if file.shards != of])
    merged = _merged(trace, taken, since)
    pieces = [(merged, 0, 1)]
    if of == 1 or len(merged) > UNDIVIDED:
        pieces.clear()
        divided = split(merged, words, of)
    else:
        divided = [merged[:0]] * of
    for shard, rows in enumerate(divided):
        own = [layer for file, layer in filed if (file.shard, file.shards) == (shard, of)]
        fresh = [Layer(rows)] if len(rows) else []
        together = _together(fresh, own)
        taken += together[len(fresh) :]
        pieces.append((_merged(trace, together, since), shard, of))
    for layer in taken:
        if layer.file is not None:
            directory.verify(layer.file)
    written = [
        writing.write(trace.export_rows(rows), trace.key, shard, of)
        for rows, shard, of in pieces
        if len(rows)
    ]
    return Rewritten(captured, tuple(taken), tuple(opened(directory, trace, file) for file in written))


def _together(fresh: list[Layer], filed: list[Layer]) -> list[Layer]:
    """The layers that are written as one: the fresh ones first, then the smallest of those in files.

    Without fresh ones these are at least two, or none.
    """
    taken = list(fresh)
    size = sum(map(len, fresh))
    for layer in sorted(filed, key=len):
        if taken and len(layer) > max(GROWTH * size, FEW):
            break
        taken.append(layer)
        size += len(layer)
    return taken if fresh or len(taken) > 1 else []


def _merged(trace: Trace, layers: Iterable[Layer], since: int) -> np.ndarray:
    return trace.merge_all([layer.rows for layer in layers], since)


def opened(directory: StateDirectory, trace: Trace, file: BatchFile) -> Layer:
    """A file's batch as the trace has it."""
    layer = directory.open(file)
    rows = trace.import_rows(layer.rows)
    return layer if rows is layer.rows else Layer(rows, layer.index, file)
