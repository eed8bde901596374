"""A side advance: a large advance, computed beside the running dataflow, which it joins at one epoch.

  begin      on the writer's thread: takes the state of all that the changes reach, which nobody changes
  compute    on any thread, here or by an executor: that state with the changes
  catch up   on any thread, as often as it takes: what was published meanwhile, from a newer snapshot
  write      on any thread, to files: see `engine.runtime.side_files`
  join       on the writer's thread: the last changes; a stage then publishes the advance, or aborts

Let S be the sources at the beginning, L the large change, and d what is published meanwhile. The running
dataflow then holds the views F(S + d), and the advance F(S + d + L). It has times of its own: L is its
first step, and each catching up is one more, however many epochs that covers. There are no more steps than
epochs, so at the epoch of the join all its times are past.

`Engine` has the steps of the writer's thread. One thread at a time uses a side advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.errors import EngineError
from engine.operators.arrangement import Arrangement
from engine.operators.history import History
from engine.operators.linear import InputOperator
from engine.operators.operator import Meter, Operator
from engine.operators.running_dataflow import OperatorFailed, RunningDataflow
from engine.rendering.renderer import Renderer
from engine.runtime.ends import history_key, put_source, put_source_history, put_view, reading_order
from engine.runtime.execution import Executor, ExecutorJob, KeyTaken, RowScan, Scanned, ViewsFailed
from engine.runtime.executor_jobs import job_over, receive, text_files
from engine.runtime.kept import kept_states
from engine.runtime.options import Options
from engine.runtime.registry import KnownSource, KnownView, require_texts
from engine.runtime.spill import TextPart
from engine.runtime.state_ground import StateGround
from engine.state.dictionary import Dictionary, Lease
from engine.state.distinct import distinct
from engine.state.packed_times import TOTAL, Frontier
from engine.state.snapshot import RelationSnapshot, Snapshot
from engine.state.store.directory import Writing
from engine.state.store.manifest import Manifest


class Outdated(EngineError):
    """A source or view was created, altered or dropped while a side advance that reaches it was computed."""

    code = "table_changed"


class ViewLost(EngineError):
    """A view cannot be computed with the changes of a side advance."""

    @classmethod
    def of(cls, reason: EngineError) -> ViewLost:
        return cls(reason.message, reason.hint)


@dataclass(eq=False)
class SideAdvance:
    """An advance of `tables` over the state of `snapshot`, with the `views` and `sources` that it concerns.

    `ground` has the state by fingerprint. `known` is the snapshot with which the advance has caught up.
    """

    tables: tuple[str, ...]
    views: Mapping[str, KnownView]
    sources: Mapping[str, KnownSource]
    ground: StateGround
    snapshot: Snapshot
    texts: tuple[TextPart, ...]
    dictionary: Dictionary
    options: Options
    lease: Lease
    """Keeps the dictionary as it is until the advance has joined."""
    dataflow: RunningDataflow = field(default_factory=RunningDataflow)
    scanned: Scanned = field(default_factory=Scanned)
    """What the scans read."""
    known: Snapshot = field(init=False)

    def __post_init__(self) -> None:
        self.known = self.snapshot
        self._time = self.snapshot.upper
        self._scanned_tables: tuple[str, ...] = ()

    @property
    def epoch(self) -> int:
        """The newest epoch of the state that the advance begins with."""
        return self.snapshot.upper - 1

    def files(self) -> set[str]:
        """The names of the files that the advance reads."""
        layers = (layer for ground in self.ground.traces.values() for layer in ground.layers)
        return {layer.file.name for layer in layers if layer.file} | {part.file.name for part in self.texts}

    # Computing

    def compute(self, deltas: Mapping[str, np.ndarray], meter: Meter | None = None) -> None:
        """Compute changes of the tables here, as far as the meter lets it. Epochs do not matter.

        Raises ViewLost if a view cannot be computed; the advance is then of no use.
        """
        self._begin(deltas)
        self._advance(deltas, meter)

    def compute_on(
        self,
        executor: Executor,
        deltas: Mapping[str, np.ndarray],
        scans: Mapping[str, RowScan],
        prefix: str = "",
    ) -> None:
        """Let an executor compute changes and scans of the tables; see `Executor.run`, and `compute`.

        New files have the prefix; the caller reserves it, and `files`, until the advance has joined.
        """
        self._begin(deltas)
        deltas = {name: self._at(delta, self._time) for name, delta in deltas.items()}
        with executor.directory.scratch(prefix) as scratch:
            job = self._job(scratch, deltas, scans, prefix)
            try:
                outcome = executor.run(job)
            except ViewsFailed as failure:
                raise ViewLost.of(failure.cause) from failure
        receive(self.dataflow, outcome, executor.directory, self.dictionary)
        self.scanned = outcome.scanned
        self._scanned_tables = tuple(scans)
        self._publish()

    def _begin(self, deltas: Mapping[str, np.ndarray]) -> None:
        """Make the operators of all views, with the state of the ground."""
        for name, delta in deltas.items():
            require_texts(self.sources[name], delta, self.dictionary)
        dataflow = self.dataflow
        renderer = Renderer(dataflow, self.dictionary, self.options.max_rounds, self.options.rebuild)
        for name in self.tables:
            table = self.sources[name].table
            put_source(dataflow, table.node)
            put_source_history(dataflow, table.node, table.key)
        for name, view in self.views.items():
            put_view(dataflow, renderer, name, view.plan)
        for operator in dataflow.operators.values():
            if isinstance(operator, InputOperator):
                operator.pending = None  # the state includes the rows of constants
        if not self.ground.map(dataflow.operators.items()):
            raise RuntimeError("the state of an operator of a side advance is not there")

    def _job(
        self,
        scratch: Writing,
        deltas: Mapping[str, np.ndarray],
        scans: Mapping[str, RowScan],
        prefix: str,
    ) -> ExecutorJob:
        """The executor's job; what is in no file yet is written to scratch."""
        texts = text_files(self.texts, self.dictionary, scratch)
        state = {
            name: tuple(
                layer.file or scratch.write(ground.empty.export_rows(layer.matrix), ground.empty.key)
                for layer in ground.layers
            )
            for name, ground in self.ground.traces.items()
        }
        before = Manifest(self._time, state, {}, texts)
        tables = [self.sources[name].table for name in sorted(self.sources)]
        views = {name: view.plan for name, view in self.views.items()}
        job = job_over(
            before,
            self.dictionary,
            self.options,
            f"a large change of {', '.join(self.tables)}",
            tables,
            views,
        )
        return replace(job, deltas=deltas, scans=scans, prefix=prefix)

    # Catching up

    def catch_up(self, snapshot: Snapshot, meter: Meter | None = None) -> int:
        """Bring the advance to a newer snapshot; returns how many differences of its sources it read.

        Raises KeyTaken if a scanned row now has the key of another, and Outdated or ViewLost.
        """
        changes = self._changes(snapshot)
        if changes:
            self._advance(changes, meter)
        self.known = snapshot
        for name in self._scanned_tables:
            key = self.sources[name].table.key
            if key is not None and name in changes:
                self._check_keys(name, key, changes[name])
        return sum(delta.shape[1] for delta in changes.values())

    def _changes(self, snapshot: Snapshot) -> dict[str, np.ndarray]:
        """By source, what has changed since the advance last caught up."""
        old, new = self.known, snapshot
        if old.upper == new.upper:
            return {}
        changed = [name for name in self.sources if new.relations.get(name) is not old.relations.get(name)]
        for name in changed:
            check_same(name, old, new)
        deltas = {name: new.changes(name, old.upper - 1, new.upper - 1) for name in changed}
        return {name: delta for name, delta in deltas.items() if delta.shape[1]}

    def _check_keys(self, name: str, key: tuple[int, ...], delta: np.ndarray) -> None:
        """Raise KeyTaken if two rows of a table have a key that `delta` has."""
        schema = self.sources[name].table.node.schema
        shown = self.history(name).trace.shown()
        relation = RelationSnapshot(schema, reading_order(len(schema), key), shown)
        keys = distinct(delta[list(key)])
        now = Snapshot(self.known.frontier, {name: relation}, self.dictionary)
        _, counts, positions = now.lookup(name, keys)
        held = np.bincount(positions, counts, keys.shape[1])
        if (held > 1).any():
            raise KeyTaken(name, tuple(keys[:, int(np.argmax(held > 1))].tolist()))

    def _advance(self, deltas: Mapping[str, np.ndarray], meter: Meter | None) -> None:
        """One step of the advance."""
        rows = 0
        for name, delta in deltas.items():
            input = self._input(name)
            if input is not None:
                self.dataflow.feed(input, self._at(delta, self._time))
                rows += delta.shape[1]
        try:
            self.dataflow.run(rows, meter)
        except OperatorFailed as failed:
            self.dataflow.abort()
            raise ViewLost.of(failed.reason) from failed
        self._publish()

    def _publish(self) -> None:
        self._time += 1
        self.dataflow.publish(Frontier(TOTAL, (self._time,)))

    def _at(self, delta: np.ndarray, time: int) -> np.ndarray:
        """The delta with all changes at one time; itself if they are there already."""
        if delta.flags.c_contiguous and bool((delta[-2] == time).all()):
            return delta
        moved = np.array(delta, order="C")
        moved[-2] = time
        return moved

    # What it holds

    def _input(self, name: str) -> InputOperator | None:
        return self.dataflow.operators.get(self.sources[name].table.node)  # type: ignore[return-value]

    def history(self, table: str) -> History:
        """The history of a changed table."""
        return self.dataflow.operators[history_key(table)]  # type: ignore[return-value]

    def reached(self) -> Iterator[tuple[str, Arrangement]]:
        """The states that follow from the changed tables, by fingerprint."""
        inputs: set[Operator] = {op for name in self.tables if (op := self._input(name)) is not None}
        known = set(inputs)
        items = []
        for key, operator in self.dataflow.operators.items():
            if not known.isdisjoint(operator.inputs):
                known.add(operator)
                items.append((key, operator))
        yield from kept_states(items)


def check_same(name: str, old: Snapshot, new: Snapshot) -> None:
    """Raise Outdated if a relation of a snapshot is another one in a newer snapshot."""
    relation = new.relations.get(name)
    if relation is None or relation.origin is not old.relations[name].origin:
        raise Outdated(f"{name} was altered or dropped while a large change was made")
