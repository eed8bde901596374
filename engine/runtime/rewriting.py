"""From a trace to its files: writes what is only in memory, together with files that are not much larger.

Each file of a shard has a few times the rows of all smaller ones together. So the number of files, and the
number of times a row is written, are logarithmic in the number of rows. Files from other writers, such as an
epoch on Spark, are merged by the same rule. Files divided in another way (small ones are not divided; the
number of shards may have changed) count as one more shard.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.state.layer import Layer
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import BatchFile
from engine.state.store.key_shards import key_words, split_by_shard
from engine.state.trace import Trace

GROWTH = 2
"""A file stays as it is if it has more than this many times the rows that are written anyway."""
FEW = 1 << 12
"""A file with up to this many rows is written again in any case."""
UNDIVIDED = 1 << 14
"""Batches up to this many rows go into one file, whatever the number of shards."""


@dataclass(frozen=True, eq=False)
class Captured:
    """What `state` held at one moment: the sum of `layers`, whose arrays nobody changes."""

    fingerprint: str
    state: Arrangement
    trace: Trace
    layers: tuple[Layer, ...]
    since: int

    @staticmethod
    def of(fingerprint: str, state: Arrangement) -> Captured:
        """Capture the state's trace."""
        trace = state.trace
        return Captured(fingerprint, state, trace, trace.capture(), trace.since)


@dataclass(frozen=True, eq=False)
class Rewritten:
    """The layers `made`, mapped from new files, replace the captured layers `taken`, whose rows they have."""

    captured: Captured
    taken: tuple[Layer, ...] = ()
    made: tuple[Layer, ...] = ()

    @property
    def files(self) -> tuple[BatchFile, ...]:
        """The files that hold the captured rows after the rewrite."""
        gone = set(map(id, self.taken))
        kept = [layer for layer in self.captured.layers if id(layer) not in gone]
        return tuple(layer.file for layer in (*kept, *self.made) if layer.file is not None)

    def install(self) -> bool:
        """Replace the layers in the trace by those mapped from files; false if no file is new, or if the
        trace was rebuilt since the capture."""
        if not self.taken or not self.captured.trace.exchange(self.taken, self.made):
            return False
        self.captured.state.reset()
        return True


def rewrite(captured: Captured, directory: StateDirectory, writing: Writing, shards: int) -> Rewritten:
    """Write what is in no file, divided into `shards`. Raises StoreError if a file to be merged is
    damaged."""
    trace, since = captured.trace, captured.since
    words = key_words(trace.key)
    of = shards if words else 1
    fresh = [layer for layer in captured.layers if layer.file is None]
    filed = [(layer.file, layer) for layer in captured.layers if layer.file is not None]
    taken = _together(fresh, [layer for file, layer in filed if file.shards != of])
    merged = trace.settled([layer.rows for layer in taken], since)
    pieces = [(merged, 0, 1)]
    if of == 1 or len(merged) > UNDIVIDED:
        pieces.clear()
        divided = split_by_shard(merged, words, of)
    else:
        divided = [merged[:0]] * of
    for shard, rows in enumerate(divided):
        own = [layer for file, layer in filed if (file.shard, file.shards) == (shard, of)]
        fresh = [Layer(rows)] if len(rows) else []
        together = _together(fresh, own)
        taken += together[len(fresh) :]
        pieces.append((trace.settled([layer.rows for layer in together], since), shard, of))
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
    """The layers to write as one: the fresh ones first, then the smaller ones from files.

    Without fresh layers the result has at least two layers, or none.
    """
    taken = list(fresh)
    size = sum(map(len, fresh))
    for layer in sorted(filed, key=len):
        if taken and len(layer) > max(GROWTH * size, FEW):
            break
        taken.append(layer)
        size += len(layer)
    return taken if fresh or len(taken) > 1 else []


def opened(directory: StateDirectory, trace: Trace, file: BatchFile) -> Layer:
    """A file's batch, as a layer of the trace."""
    layer = directory.open(file)
    if not trace.translates:
        return layer
    own = Layer(trace.import_rows(layer.matrix), layer.index).narrowed
    return Layer(own.rows, own.index, file)
