"""Building: a new view is computed beside the running dataflow, and joins it once it has caught up.

  begin      on the writer's thread: takes the sources as they are at one epoch, which nobody changes
  compute    on any thread, here or by an executor: the view at that epoch, with its history
  catch up   on any thread, as often as it takes: what has changed since, from a newer snapshot
  adopt      on the writer's thread: the last changes; then the view belongs to the running dataflow

`Engine` has the steps of the writer's thread. One thread at a time uses a building.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from engine.errors import BuildCancelled, EngineError, ExecutionFailed, OverBudget
from engine.operators.linear import as_batch
from engine.operators.operator import Meter
from engine.plan.nodes import Node
from engine.runtime.execution import Executor, ExecutorJob, Stored
from engine.runtime.executor_jobs import job_over, text_files
from engine.runtime.hydration import Hydration
from engine.runtime.options import Options
from engine.runtime.registry import KnownSource, failure_logs
from engine.runtime.spill import TextPart
from engine.runtime.succession import Past, preceding
from engine.state.dictionary import Dictionary
from engine.state.error_history import ErrorHistory
from engine.state.layer import Layer
from engine.state.snapshot import RelationSnapshot, Snapshot
from engine.state.store.directory import Writing
from engine.state.store.manifest import Manifest

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Ground:
    """What a view is built on, as it was at one epoch: its sources, the layers of their histories, and the
    files of texts.
    """

    sources: Mapping[str, KnownSource]
    layers: Mapping[str, tuple[Layer, ...]]
    texts: tuple[TextPart, ...]

    @property
    def rows(self) -> int:
        """The number of differences of all sources."""
        return sum(len(layer) for layers in self.layers.values() for layer in layers)

    @property
    def words(self) -> int:
        """The number of values in them."""
        return sum(math.prod(layer.rows.shape) for layers in self.layers.values() for layer in layers)


@dataclass(eq=False)
class Building:
    """A view that is being built, readable from epoch `since` on.

    `snapshot` is the state over which it is computed, or with which it has caught up. The engine keeps the
    epochs after it apart until the view is adopted or discarded.
    """

    name: str
    plan: Node
    ground: Ground
    snapshot: Snapshot
    since: int
    dictionary: Dictionary
    options: Options
    hydration: Hydration = field(init=False)

    def __post_init__(self) -> None:
        self.start_over()

    @property
    def epoch(self) -> int:
        """The newest epoch that the view has."""
        return self.snapshot.upper - 1

    def files(self) -> set[str]:
        """The names of the files that the view is built from."""
        names = {layer.file.name for layers in self.ground.layers.values() for layer in layers if layer.file}
        return names | {part.file.name for part in self.ground.texts}

    def relation(self) -> RelationSnapshot:
        """The view as it has been computed, readable from `since` to `epoch`."""
        history = self.hydration.history
        logs = failure_logs(history, self.hydration.dataflow.operators.values())
        errors = ErrorHistory(tuple(layer for log in logs for layer in log.trace.layers()))
        width = len(self.plan.schema)
        shown = history.trace.shown()
        return RelationSnapshot(self.plan.schema, tuple(range(width)), shown, self.since, errors)

    # Computing

    def compute(self, meter: Meter | None = None) -> None:
        """Compute the view here, as far as the meter lets it. Raises EngineError if that is not possible."""
        self._attempt(lambda: self._compute_here(meter), (BuildCancelled, OverBudget))
        self.hydration.dataflow.publish(self.snapshot.frontier)

    def compute_on(self, executor: Executor, prefix: str = "") -> bool:
        """Let an executor compute the view; false if it declines. Raises EngineError if the view fails.

        New files have the prefix; the caller reserves it, and `files`, until the view is adopted.
        """
        if not self._attempt(
            lambda: self._compute_there(executor, prefix), (BuildCancelled, ExecutionFailed)
        ):
            return False
        self.hydration.dataflow.publish(self.snapshot.frontier)
        return True

    def _attempt(self, compute: Callable[[], T], final: tuple[type[EngineError], ...]) -> T:
        """Compute from the oldest epoch; or, if there is no answer at an old epoch, from the newest.

        Errors that are `final` say nothing about an epoch.
        """
        try:
            return compute()
        except final:
            raise
        except EngineError:
            if not self.snapshot.frontier.order.is_total:
                raise
            self.since = self.epoch
            self.start_over()
            return compute()

    def start_over(self) -> None:
        """Begin with new operators: at first, or after an attempt that failed."""
        order = self.snapshot.frontier.order
        self.hydration = Hydration.of(self.name, self.plan, order, self.dictionary, self.options)
        self.hydration.history.trace.since = self.since

    def _compute_here(self, meter: Meter | None) -> None:
        relations = self.snapshot.relations
        kept = [name for name in self.hydration.inputs if name in relations]
        wanted = self.hydration.wanted
        self.hydration.run({name: relations[name].delta(self.since, wanted(name)) for name in kept}, meter)

    def _compute_there(self, executor: Executor, prefix: str) -> bool:
        with executor.directory.scratch(prefix) as scratch:
            job = self._job(scratch, prefix)
            return self.hydration.run_on(executor, job, self.dictionary)

    def _job(self, scratch: Writing, prefix: str) -> ExecutorJob:
        """The job of computing the view; what is in no file yet is written to scratch."""
        stored = {name: self._stored(name, layers, scratch) for name, layers in self.ground.layers.items()}
        texts = text_files(self.ground.texts, self.dictionary, scratch)
        nothing = Manifest(self.snapshot.upper, {}, {}, texts)
        tables = [self.ground.sources[name].table for name in sorted(self.ground.sources)]
        views = {self.name: self.plan}
        job = job_over(nothing, self.dictionary, self.options, f"view {self.name}", tables, views)
        return replace(job, stored=stored, fresh=True, prefix=prefix)

    def _stored(self, name: str, layers: Iterable[Layer], scratch: Writing) -> Stored:
        """The kept differences of a source, in files; epochs before `since` are read as `since`."""
        files = tuple(layer.file or scratch.write(layer.rows) for layer in layers)
        relation = self.snapshot.relations[name]
        width = len(relation.order)
        return Stored(files, (*relation.positions.tolist(), width, width + 1), self.since)

    # What the view was before

    def precede(self, pasts: Sequence[Past]) -> None:
        """Let the history, which begins with `since`, go on from what the view was before that epoch."""
        history, width = self.hydration.history, len(self.plan.schema)
        before, since = preceding(pasts, self.since, width)
        if since < self.since:
            whole = np.concatenate((before, self.relation().delta(self.since)), axis=1)
            history.trace = history.trace.emptied()
            history.trace.since = self.since = since
            history.trace.insert(as_batch(whole))
            history.reset()

    # Catching up

    def catch_up(self, snapshot: Snapshot, meter: Meter | None = None) -> int:
        """Bring the view to a newer snapshot; returns how many differences of its sources it read.

        Raises EngineError if that is not possible.
        """
        changes = self._changes(snapshot)
        self.hydration.run(changes, meter)
        self.hydration.dataflow.publish(snapshot.frontier)
        self.snapshot = snapshot
        return sum(delta.shape[1] for delta in changes.values())

    def _changes(self, snapshot: Snapshot) -> dict[str, np.ndarray]:
        """By source, what has changed between the two snapshots."""
        old, new = self.snapshot.relations, snapshot.relations
        changed = [name for name in self.hydration.inputs if new.get(name) is not old.get(name)]
        since, until = (snapshot.upper - 1 for snapshot in (self.snapshot, snapshot)) if changed else (0, 0)
        return {name: snapshot.changes(name, since, until) for name in changed if name in new}
