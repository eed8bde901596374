"""Keeping a shard's state from one superstep to the next: `save` takes it out of the operators, `restore`
puts it into new ones.

A large array is written to a file when it is first kept, and only named from then on. An outermost
arrangement makes one batch an epoch; if that is large, it is written at once as a file of the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.history import History
from engine.operators.loop import Loop
from engine.operators.operator import Operator, Step
from engine.state.store.directory import StateDirectory
from engine.state.store.files import BatchFile
from engine.supersteps.messages import INLINE, Message, MessageKind, Scratch
from engine.supersteps.shard import Shard

OUT, BATCH, STAGED, DEFERRED, LEFT = "out", "batch", "staged", "deferred", "left"
FILED, FOREIGN, SCANNED, ERROR = "filed", "foreign", "scanned", "error"


class Keeper:
    """Saves and restores the state of one shard."""

    def __init__(self, shard: Shard, scratch: Scratch, directory: StateDirectory, shards: int) -> None:
        self._shard = shard
        self._scratch = scratch
        self._directory = directory
        self._shards = shards
        self.files: dict[object, BatchFile] = {}
        """The batches that are in files of the state already."""
        self._names: dict[int, tuple[str, np.ndarray]] = {}
        self._batches: dict[Operator, np.ndarray] = {}
        self._staged: dict[Operator, list[np.ndarray]] = {}

    def save(self) -> Iterator[Message]:
        """Messages from the shard to itself in the next superstep."""
        shard = self._shard
        yield from self.outs()
        for operator in shard.rendered.operators:
            if self._has_file(operator):
                about = (FILED, shard.rendered.numbers[operator], asdict(self.files[operator]))
                yield Message(shard.number, MessageKind.KEPT, about)
            yield from self._state(operator)
        yield from self._notes()

    def outs(self) -> Iterator[Message]:
        """The deltas of operators that are still to be read."""
        shard = self._shard
        for operator in shard.rendered.operators:
            if self._is_read(operator):
                yield from (self._message(OUT, operator, 0, delta) for delta in operator.out)

    def scanned(self) -> Iterator[Message]:
        """What a scan leaves besides deltas: failed rows, what was read, and an error."""
        for operator in self._shard.rendered.operators:
            if isinstance(operator, FailureLog):
                operator.end_step()
                yield from self._state(operator)
        yield from self._notes()

    def _notes(self) -> Iterator[Message]:
        shard = self._shard
        yield Message(shard.number, MessageKind.KEPT, (SCANNED, 0, shard.scanned))
        if shard.error is not None:
            yield Message(shard.number, MessageKind.KEPT, (ERROR, 0, shard.error))

    def _has_file(self, operator: Operator) -> bool:
        """Whether the operator's batch is in a file of the state; a large final batch is written to one."""
        if operator in self.files or not isinstance(operator, Arrangement):
            return operator in self.files
        batch = operator.batch
        if batch is None or operator.depth or batch.nbytes < INLINE or isinstance(operator, FailureLog):
            return False
        if not is_final(operator, batch):
            return False
        rows = operator.export_rows(batch)
        key, number = operator.trace.key, self._shard.number
        self.files[operator] = self._directory.write(rows, key, number, self._shards)
        return True

    def _is_read(self, operator: Operator) -> bool:
        shard = self._shard
        return shard.program.last_reads.get(operator, -1) >= max(shard.place.instruction, 1)

    def _message(self, what: str, operator: Operator, place: object, array: np.ndarray) -> Message:
        about = (what, self._shard.rendered.numbers[operator], place)
        if array.nbytes < INLINE:
            return Message(self._shard.number, MessageKind.KEPT, about, array)
        return Message(self._shard.number, MessageKind.KEPT, (*about, self._name(array), array.shape))

    def _name(self, array: np.ndarray) -> str:
        known = self._names.get(id(array))
        if known is None:
            known = self._names[id(array)] = self._scratch.write(array), array
        return known[0]

    def _state(self, operator: Operator) -> Iterator[Message]:
        for what, place, array in self._held(operator):
            yield self._message(what, operator, place, array)

    def _held(self, operator: Operator) -> Iterator[tuple[str, object, np.ndarray]]:
        if isinstance(operator, Arrangement):
            for batch in operator.staged_batches:
                yield STAGED, 0, operator.export_rows(as_matrix(batch))
            if operator.batch is not None and operator not in self.files:
                yield BATCH, 0, operator.export_rows(operator.batch)
            foreign = self._shard.rendered.foreign.get(operator)
            if foreign is not None:
                yield from ((FOREIGN, 0, operator.export_rows(rows)) for rows in foreign.current)
                yield from ((FOREIGN, 1, operator.export_rows(rows)) for rows in foreign.earlier)
        if operator.deferred is not None:
            yield from ((DEFERRED, rounds, item) for rounds, item in operator.deferred.items())
        if isinstance(operator, Loop) and self._is_read(operator):
            left = enumerate(operator.left)
            yield from ((LEFT, binding, delta) for binding, deltas in left for delta in deltas)

    def restore(self, message: Message) -> None:
        """Take back a message of `save`; call `finish` after the last one."""
        what, number, place, *file = message.about  # type: ignore[misc]
        operator = self._shard.rendered.operators[number]
        if what == SCANNED:
            self._shard.count(*place)
            return
        if what == FILED:
            file = self.files[operator] = BatchFile(**place)
            self._batches[operator] = self._directory.open(file).matrix
            return
        if what == ERROR:
            self._shard.error = tuple(place)
            return
        if file:
            name, shape = file
            array = self._scratch.read(name, shape)
            self._names[id(array)] = name, array
        else:
            array = message.rows
        match what:
            case "out":
                operator.out.append(array)
            case "batch":
                self._batches[operator] = array
            case "staged":
                self._staged.setdefault(operator, []).append(array)
            case "foreign":
                foreign = self._shard.rendered.foreign[operator]  # type: ignore[index]
                rows = operator.import_rows(array)  # type: ignore[attr-defined]
                (foreign.earlier if place else foreign.current).append(rows)
            case "deferred":
                loop = self._shard.rendered.loops[operator]
                operator.deferred.put(tuple(place), array, loop)  # type: ignore[union-attr]
            case "left":
                operator.left[place].append(array)  # type: ignore[attr-defined]

    def finish(self) -> None:
        """Give the operators the batches that `restore` collected."""
        step: Step = self._shard.step_of(None)
        for operator in self._batches.keys() | self._staged.keys():
            arrangement: Arrangement = operator  # type: ignore[assignment]
            arrangement.restore_staged(
                [arrangement.import_rows(rows) for rows in self._staged.get(operator, ())], step
            )
            if operator in self._batches:
                batch = arrangement.import_rows(self._batches[operator])
                arrangement.take(batch, step, 0.0)


def is_final(operator: Arrangement, batch: Batch) -> bool:
    """Whether a new batch stays as it is when the epoch is published: a history's, or changes of one
    epoch."""
    epochs = batch[:, operator.width + operator.depth]
    return isinstance(operator, History) or bool((epochs == epochs[0]).all())
