"""A worker: what a process does in the supersteps of one epoch.

`superstep` is a function of a shard's messages. It may run again, and in several workers at once, because
each run writes files under names of its own. Batches are merged in an order that depends on their contents
only, so messages may arrive in any order.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple
from functools import lru_cache
from pathlib import Path

import numpy as np

from engine.operators.arrangement import Arrangement
from engine.operators.history import History
from engine.runtime.executor_jobs import read_stored
from engine.runtime.kept import kept_states
from engine.state.store.directory import StateDirectory
from engine.state.store.files import BatchFile, TextFile
from engine.state.task_dictionary import KnownTexts, TaskDictionary
from engine.supersteps.alone import Offer
from engine.supersteps.flags import Flags, agreement
from engine.supersteps.fresh_keys import check_new_keys
from engine.supersteps.keeping import Keeper
from engine.supersteps.late import LateProgram
from engine.supersteps.messages import Message, MessageKind, Scratch
from engine.supersteps.rendered import RenderedTask
from engine.supersteps.shard import Shard
from engine.supersteps.spec import Spec

_KNOWN: dict[Path, KnownTexts] = {}


class Worker:
    """The tasks of one epoch: the state lies in `directory`, and files of the epoch in `scratch`."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.directory = StateDirectory(spec.directory).prefixed(spec.job.prefix)
        self.scratch = Scratch(spec.scratch)
        self._known = _KNOWN.setdefault(spec.directory, KnownTexts())

    def dictionary(self, files: Iterable[TextFile]) -> TaskDictionary:
        """A new task's dictionary, which can read the texts of the state and of `files`."""
        spec = self.spec
        return TaskDictionary(self._known, self.directory, (*spec.job.texts, *files), spec.job.exceptions)

    def new_texts(self, dictionary: TaskDictionary) -> list[Message]:
        """Messages that tell all shards of the texts that a task added."""
        new = dictionary.new()
        if new is None:
            return []
        file = astuple(self.directory.write_texts(*new))
        return [Message(shard, MessageKind.TEXTS, file) for shard in range(self.spec.shards)]

    def keeper(self, shard: Shard) -> Keeper:
        """A keeper of the shard's state."""
        return Keeper(shard, self.scratch, self.directory, self.spec.shards)

    def superstep(self, number: int, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages that shard `number` sends after it received `messages`."""
        by_kind: dict[MessageKind, list[Message]] = {kind: [] for kind in MessageKind}
        for message in messages:
            by_kind[message.kind].append(message)
        if by_kind[MessageKind.REPORT]:
            yield from by_kind[MessageKind.REPORT]
            return
        said = [Flags.of(message.about) for message in by_kind[MessageKind.FLAGS]]  # type: ignore[arg-type]
        agreed = agreement(said) if said else None
        if agreed is not None and agreed.error is not None:
            yield Message(number, MessageKind.REPORT, {"error": agreed.error})
            return
        texts = by_kind[MessageKind.TEXTS]
        dictionary = self.dictionary(TextFile(*message.about) for message in texts)  # type: ignore[misc]
        shard = self.shard(number, dictionary, agreed)
        keeper = self.keeper(shard)
        self._deliver(shard, keeper, by_kind)
        shard.enter()
        if agreed is None:
            self._read_changes(shard)
        yield from shard.advance()
        fresh = self.new_texts(dictionary)
        if shard.has_ended:
            mine = [m.about for m in (*texts, *fresh[number : number + 1])]
            yield self._report(shard, keeper, mine)
            return
        yield from (Message(number, MessageKind.TEXTS, message.about) for message in texts)
        yield from fresh
        yield from keeper.save()
        flags = shard.flags().document()
        yield from (Message(to, MessageKind.FLAGS, flags) for to in range(self.spec.shards))

    def shard(self, number: int, dictionary: TaskDictionary, said: Flags | None) -> Shard:
        """Shard `number` with its mapped state, before its messages are delivered."""
        shard = self.stateless_shard(number, dictionary, said)
        shard.rendered.map_state(self.spec, self.directory)
        return shard

    def stateless_shard(self, number: int, dictionary: TaskDictionary, said: Flags | None = None) -> Shard:
        """A shard without state, for scans."""
        spec = self.spec
        with dictionary.knowing():
            rendered = RenderedTask(spec, dictionary, LateProgram)
        for constant in rendered.constants:
            if not spec.job.fresh or number != 0 or said is not None:
                constant.pending = None
        return Shard(rendered, spec, number, said)

    def _deliver(self, shard: Shard, keeper: Keeper, by_kind: dict[MessageKind, list[Message]]) -> None:
        operators = shard.rendered.operators
        for message in by_kind[MessageKind.KEPT]:
            keeper.restore(message)
        keeper.finish()
        parts: dict[Arrangement, list[np.ndarray]] = {}
        for message in by_kind[MessageKind.ROWS]:
            arrangement: Arrangement = operators[message.about]  # type: ignore[assignment]
            parts.setdefault(arrangement, []).append(arrangement.import_rows(message.rows))
        for arrangement, batches in parts.items():
            shard.take(arrangement, batches)
        for message in by_kind[MessageKind.WIDE]:
            wide: Arrangement = operators[message.about]  # type: ignore[assignment]
            shard.rendered.foreign[wide].current.append(wide.import_rows(message.rows))
        for message in by_kind[MessageKind.OFFER]:
            number, is_batch = message.about
            shard.offers.append(Offer.imported(operators[number], is_batch, message.rows))

    def _read_changes(self, shard: Shard) -> None:
        """Give the inputs this shard's part of the changes that are in files."""
        for name, stored in self.spec.job.stored.items():
            delta = read_stored(stored, self.directory, shard.number, self.spec.shards)
            shard.rendered.inputs[name].pending = delta

    def _report(self, shard: Shard, keeper: Keeper, texts: list[object]) -> Message:
        """Write the shard's new batches; returns a message that names the files."""
        error = shard.error or check_new_keys(self.spec, shard)
        if error is not None:
            return Message(shard.number, MessageKind.REPORT, {"error": error})
        files = [
            (name, asdict(file))
            for name, state in kept_states(shard.rendered.dataflow.operators.items())
            if (file := self._file_of(state, shard, keeper)) is not None
        ]
        report = {"error": None, "files": files, "texts": texts, "scanned": shard.scanned}
        return Message(shard.number, MessageKind.REPORT, report)

    def _file_of(self, state: Arrangement, shard: Shard, keeper: Keeper) -> BatchFile | None:
        """The file with the new rows of a state; None if there are none."""
        if state in keeper.files:
            return keeper.files[state]
        rows = self._new_rows(state)
        if not len(rows):
            return None
        return self.directory.write(rows, state.trace.key, shard.number, self.spec.shards)

    def _new_rows(self, arrangement: Arrangement) -> np.ndarray:
        if arrangement.batch is not None:
            arrangement.end_step(indexed=False)
        batches = arrangement.staged_batches
        if not batches:
            return np.empty((0, 0), np.int64)
        since = 0 if isinstance(arrangement, History) else self.spec.job.since
        merged = arrangement.trace.merge_all(batches, since)
        return arrangement.export_rows(merged)


@lru_cache(maxsize=2)
def worker_of(path: Path) -> Worker:
    """The worker for the specification in a file; a process has one for each epoch."""
    return Worker(pickle.loads(path.read_bytes()))
