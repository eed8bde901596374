"""The engine: sources, views, and advances that are staged and then published whole.

One thread writes; snapshots may be read from any. An advance takes changes at any
number of epochs at once, and its result does not depend on how they are divided.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from engine.dataflow import Dataflow, OperatorFailed, reachable
from engine.dictionary import Dictionary
from engine.errors import EngineError, EpochError, NameInUse, PlanError, StoreError, UnknownName
from engine.execution import Declined, Executor, Job, Scan, Scanned, Stored, Table, ViewsFailed
from engine.fingerprint import fingerprint
from engine.jobs import failed_operator, receive, with_outcome
from engine.kernels.times import are_within
from engine.operators.arrangement import Arrangement
from engine.operators.failures import FailureLog
from engine.operators.history import History
from engine.operators.linear import Input
from engine.operators.operator import Operator
from engine.operators.outermost_loop import OutermostLoop
from engine.operators.rebuild import LoopStatistics, Rebuild
from engine.plan import Node, Source
from engine.relations import put_source, put_source_history, put_view, reading_order
from engine.rendering import Renderer
from engine.rewriting import Captured
from engine.schema import Schema
from engine.snapshot import RelationSnapshot, Snapshot
from engine.spill import Capture, SavedState, Spill, TextPart
from engine.states import kept_states
from engine.store.directory import StateDirectory
from engine.store.manifest import Manifest
from engine.times import TOTAL, Frontier, Order

FIRST_EPOCH = 1


@dataclass(frozen=True)
class Options:
    """`max_rounds`: rounds after which a recursion without a limit of its own has failed.

    `rebuild`: when a recursion is rebuilt instead of changed. The differences are the same.
    """

    max_rounds: int = 100_000
    rebuild: Rebuild = Rebuild.AUTO


DEFAULTS = Options()


NO_SCANS: Mapping[str, Scan] = MappingProxyType({})


@dataclass
class _Source:
    node: Source
    key: tuple[int, ...] | None
    input: Input
    history: History | None


@dataclass
class _View:
    plan: Node
    history: History
    failures: tuple[FailureLog, ...]


class Engine:
    def __init__(self, options: Options = DEFAULTS, order: Order = TOTAL, first: int = FIRST_EPOCH) -> None:
        """`order` is that of times; where they are epochs alone, `first` is the first one."""
        self.dictionary = Dictionary()
        self._options = options
        self._order = order
        self._beginning = Frontier(order, (0,))
        self._dataflow = Dataflow(order)
        self._sources: dict[str, _Source] = {}
        self._views: dict[str, _View] = {}
        self._staged: Stage | None = None
        self._texts: tuple[TextPart, ...] = ()
        self._snapshot = Snapshot(Frontier(order, (first,)), {}, self.dictionary)

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def frontier(self) -> Frontier:
        """The least times that are not complete."""
        return self._snapshot.frontier

    def differences(self) -> int:
        """The number of differences held, by all traces."""
        parts = (part for operator in self._dataflow.operators.values() for part in operator.parts())
        return sum(part.trace.rows for part in parts if isinstance(part, Arrangement))

    # Sources

    def create_source(
        self,
        name: str,
        schema: Schema,
        key: tuple[int, ...] | None = None,
        *,
        keep: bool = True,
        state: SavedState | None = None,
    ) -> None:
        """A new input. `key` names the primary key's columns; without one it is a bag.

        With `keep` false its rows only pass through: they cannot be read, and views over
        it must be there before its first row. With a `state` that `resume` has been called with, and
        that this very source was part of, it has the rows that are saved; StoreError if they are not.
        """
        self._check_new(name)
        node = Source(name, schema)
        input = put_source(self._dataflow, node)
        history = put_source_history(self._dataflow, node, key) if keep else None
        self._sources[name] = _Source(node, key, input, history)
        if history is not None:
            items = self._dataflow.operators.items()
            if state is not None and not state.map((key, it) for key, it in items if it is history):
                raise StoreError(f"the saved state has no rows of {name}")
            order = reading_order(len(schema), key)
            relation = RelationSnapshot(schema, order, kept=self._beginning)
            self._set_relation(name, self._refreshed(name, relation))

    def drop_source(self, name: str) -> None:
        """Forget a source and its rows; NameInUse while a view reads it."""
        source = self._sources.get(name)
        if source is None:
            raise UnknownName(f"there is no source {name}")
        readers = [view for view, it in self._views.items() if source.node in _sources_of(it.plan)]
        if readers:
            raise NameInUse(f"{name} is read by {', '.join(readers)}")
        del self._sources[name]
        self._collect()
        self._set_relation(name, None)

    # Views

    def create_view(self, name: str, plan: Node, executor: Executor | None = None) -> None:
        """Maintain `plan` as `name`: at once, for all epochs that its sources keep.

        It is computed here, or by `executor` unless that declines.

        Raises EngineError, and leaves nothing, where the plan does not fit the sources or
        cannot be computed.
        """
        self._check_plan(name, plan)
        self._put_view(name, plan, self._hydrated(name, plan, executor))

    def restore_view(self, name: str, plan: Node, state: SavedState) -> bool:
        """Maintain `plan` as `name`, with what its operators kept, and without computing anything.

        `state` is what `resume` was called with, and this very view was part of it. False where something
        is not saved, StoreError where a file is damaged; then nothing has changed.
        """
        self._check_plan(name, plan)
        history = self._mapped(name, plan, state)
        if history is not None:
            self._put_view(name, plan, history)
        return history is not None

    def _check_plan(self, name: str, plan: Node) -> None:
        self._check_new(name)
        for source in _sources_of(plan):
            known = self._sources.get(source.name)
            if known is None:
                raise UnknownName(f"there is no source {source.name}")
            if known.node != source:
                raise PlanError(
                    f"the plan takes {source.name} for {source.schema}, it is {known.node.schema}"
                )

    def _put_view(self, name: str, plan: Node, history: History) -> None:
        """The view's operators are there."""
        failures = tuple(
            part.failures
            for operator in self._in_order(reachable([history]))
            for part in operator.parts()
            if hasattr(part, "failures")
        )
        for log in failures:
            log.readers.add(name)
        self._views[name] = _View(plan, history, failures)
        kept = self._kept(plan)
        relation = RelationSnapshot(plan.schema, tuple(range(len(plan.schema))), kept=kept)
        self._set_relation(name, self._refreshed(name, relation))

    def _mapped(self, name: str, plan: Node, state: SavedState) -> History | None:
        """Take the operators of `plan` over with what is saved of them; None where that is not all."""
        dataflow = Dataflow(self._order)
        history = put_view(dataflow, self._renderer(dataflow), name, plan)
        new = {key: it for key, it in dataflow.operators.items() if key not in self._dataflow.operators}
        if not state.map(new.items()):
            return None
        for operator in new.values():
            if isinstance(operator, Input):
                operator.pending = None  # a constant's rows have come long ago
        self._dataflow.graft(dataflow)
        return history

    def _hydrated(self, name: str, plan: Node, executor: Executor | None) -> History:
        """Compute the operators of `plan`."""
        try:
            return self._hydrate(name, plan, 0, executor)
        except EngineError:
            if not self._order.is_total:
                raise
            # An epoch of the past may have had no answer; the present may have one.
            return self._hydrate(name, plan, self._snapshot.upper - 1, executor)

    def _hydrate(self, name: str, plan: Node, since: int, executor: Executor | None) -> History:
        """Run `plan` over the kept history of its sources, from `since` on, and take its operators over."""
        dataflow = Dataflow(self._order)
        renderer = self._renderer(dataflow)
        history = put_view(dataflow, renderer, name, plan)
        history.trace.since = since = max(since, *(self._since(source) for source in renderer.inputs), 0)
        if executor is None or not self._hydrate_on(executor, dataflow, name, plan, since):
            for source, input in renderer.inputs.items():
                input.pending = self._history_of(source, since)
            try:
                dataflow.run()
            except OperatorFailed as failed:
                raise _as_engine_error(failed) from failed
            history.trace.finish()
        dataflow.publish(self.frontier)
        self._dataflow.graft(dataflow)
        return history

    def _hydrate_on(self, executor: Executor, dataflow: Dataflow, name: str, plan: Node, since: int) -> bool:
        """Let the executor run a view's dataflow; false if it declines."""
        manifest = self.spill(executor.directory, executor.shards)
        stored = {source.name: self._stored(source.name, manifest, since) for source in _sources_of(plan)}
        job = self._job(f"view {name}", {name: plan}, stored, manifest)
        job = replace(job, stored=stored, state={}, since=self._snapshot.upper, fresh=True)
        try:
            outcome = executor.run(job)
        except Declined:
            return False
        except ViewsFailed as failure:
            raise failure.cause from failure
        for operator in dataflow.operators.values():
            if isinstance(operator, Input):
                operator.pending = None  # a constant's rows have come
        receive(dataflow, outcome, executor.directory, self.dictionary)
        return True

    def _stored(self, source: str, manifest: Manifest, since: int) -> Stored:
        """The kept differences of a source, in files."""
        places = self._snapshot.relations[source].places.tolist()
        width = len(places)
        files = manifest.arrangements[fingerprint(("history", source))]
        return Stored(files, (*places, width, width + 1), since)

    def _job(self, name: str, views: Mapping[str, Node], sources: Collection[str], manifest: Manifest) -> Job:
        """A job over the state of now."""
        known = [self._sources[source] for source in sorted(sources)]
        return Job(
            name=name,
            tables=tuple(Table(source.node, source.key) for source in known),
            views=tuple(views.items()),
            epoch=self._snapshot.upper,
            since=self._snapshot.upper,
            state=manifest.arrangements,
            texts=manifest.texts,
            exceptions=self.dictionary.exceptions,
            max_rounds=self._options.max_rounds,
            rebuild=self._options.rebuild,
        )

    def input_rows(self, plan: Node) -> int:
        """How many differences of its sources the hydration of a plan begins with."""
        histories = (self._sources[source.name].history for source in _sources_of(plan))
        return sum(history.trace.rows for history in histories if history is not None)

    def drop_view(self, name: str) -> None:
        """Forget a view and the operators that no other view needs."""
        if name not in self._snapshot.relations or name in self._sources:
            raise UnknownName(f"there is no view {name}")
        view = self._views.pop(name, None)
        for log in view.failures if view else ():
            log.readers.discard(name)
        self._collect()
        self._set_relation(name, None)

    def statistics(self) -> list[LoopStatistics]:
        """How each recursion of the views was brought up to date so far."""
        operators = self._dataflow.operators.values()
        return [replace(loop.statistics) for loop in operators if isinstance(loop, OutermostLoop)]

    # History

    def forget(self, name: str, before: int | Frontier, *, at_once: bool = True) -> None:
        """No longer tell the epochs before `before` of a relation apart: they cannot be read any more.

        Costs the relation's size, which it may make much smaller; or nothing, if not `at_once`: then its rows
        become fewer as they are merged, and written to files. What is read at epochs from `before` on does
        not change. EpochError where `before` is not yet complete. A frontier does the same, at once, for
        times of several coordinates.
        """
        if self._staged is not None:
            raise EpochError("a stage is neither published nor aborted")
        relation = self._snapshot.relations.get(name)
        if relation is None:
            raise UnknownName(f"there is no relation {name}")
        history = self._history(name)
        if not self._order.is_total:
            self._forget_times(name, relation, history, before)
            return
        epoch = before.words[0] if isinstance(before, Frontier) else before
        if epoch >= self._snapshot.upper:
            raise EpochError(f"epoch {epoch} of {name} is not complete, and cannot be all that is kept")
        if history is not None and epoch > history.trace.since:
            history.trace.since = epoch
            if at_once:
                history.trace.finish()
                history.reset()
            self._set_relation(name, self._refreshed(name, relation))

    def _forget_times(
        self, name: str, relation: RelationSnapshot, history: History | None, before: int | Frontier
    ) -> None:
        if not isinstance(before, Frontier) or not self.frontier.is_at_or_after(before):
            raise EpochError(f"what is kept of {name} cannot begin with {before}, which is not all complete")
        if not before.is_at_or_after(relation.kept):
            raise EpochError(f"what is kept of {name} begins with {relation.kept} already")
        if history is not None:
            history.trace.compact(before)
            history.reset()
            self._set_relation(name, self._refreshed(name, replace(relation, kept=before)))

    # Advances

    def stage(
        self,
        deltas: Mapping[str, np.ndarray],
        upper: int | Frontier,
        executor: Executor | None = None,
        scans: Mapping[str, Scan] = NO_SCANS,
    ) -> Stage:
        """Compute what follows from changes at times that are not complete yet, but are by `upper`.

        Of epochs, these are the ones from `snapshot.upper` up to, not including, `upper`.
        `deltas` has a delta int64[W + 2, n] a source. Nothing is visible until the stage is
        published. A view that cannot be computed is quarantined by it: see `Stage.failed`.

        It is computed here, or by `executor` unless that declines. Rows that only an executor can read,
        by source, come in the epoch `snapshot.upper`; Declined where it does not take them.
        """
        if self._staged is not None:
            raise EpochError("the last stage is neither published nor aborted")
        deltas = {name: np.ascontiguousarray(delta) for name, delta in deltas.items()}
        frontier = upper if isinstance(upper, Frontier) else Frontier(self._order, (upper,))
        self._check_deltas(deltas, frontier)
        stage = Stage(self, frontier, self._dataflow.operators)
        while True:
            try:
                if executor is None or not self._run_on(executor, deltas, scans, stage):
                    self._run(deltas)
                break
            except OperatorFailed as failure:
                self._abort()
                victims = self._readers(failure.operator, stage.failed)
                if not victims:
                    self._dataflow.restore(stage.operators)
                    raise _as_engine_error(failure) from failure
                stage.failed |= dict.fromkeys(victims, _as_engine_error(failure).message)
                self._collect(without=stage.failed)
            except BaseException:
                self._dataflow.restore(stage.operators)
                raise
        self._staged = stage
        return stage

    def _run(self, deltas: Mapping[str, np.ndarray]) -> None:
        for name, delta in deltas.items():
            self._sources[name].input.pending = delta
        self._dataflow.run()

    def _abort(self) -> None:
        self._dataflow.abort()
        for source in self._sources.values():
            source.input.pending = None

    def _run_on(
        self, executor: Executor, deltas: Mapping[str, np.ndarray], scans: Mapping[str, Scan], stage: Stage
    ) -> bool:
        """Let the executor compute an advance; false if it declines."""
        manifest = self.spill(executor.directory, executor.shards)
        changed = deltas.keys() | scans.keys()
        views = {
            name: view.plan
            for name, view in self._views.items()
            if name not in stage.failed and any(s.name in changed for s in _sources_of(view.plan))
        }
        sources = {*changed, *(source.name for plan in views.values() for source in _sources_of(plan))}
        job = self._job(f"epoch {self._snapshot.upper}", views, sources, manifest)
        job = replace(job, deltas=deltas, scans=scans, since=stage.frontier.since)
        try:
            outcome = executor.run(job)
        except Declined as declined:
            if scans:
                raise
            stage.declined = declined.message
            return False
        except ViewsFailed as failure:
            operator = failed_operator(self._dataflow, failure)
            if operator is None:
                raise failure.cause from failure
            raise OperatorFailed(operator, failure.cause) from failure
        receive(self._dataflow, outcome, executor.directory, self.dictionary)
        stage.manifest = with_outcome(manifest, outcome, stage.frontier.words[0])
        stage.scanned = outcome.scanned
        return True

    def _finish(self, stage: Stage, publish: bool) -> None:
        if self._staged is not stage:
            raise EpochError("the stage is published or aborted already")
        self._staged = None
        if not publish:
            self._dataflow.abort()
            self._dataflow.restore(stage.operators)
            return
        changed = self._dataflow.publish(stage.frontier)
        relations = dict(self._snapshot.relations)
        for name, reason in stage.failed.items():
            del self._views[name]
            relations[name] = replace(relations[name], failure=reason)
        for name in self._changed_relations(changed):
            relations[name] = self._refreshed(name, relations[name])
        self._snapshot = Snapshot(stage.frontier, relations, self.dictionary)

    # Files

    def resume(self, state: SavedState) -> None:
        """Begin where a state was saved; its sources and views are then created with it. For a new engine."""
        if self._sources or self._snapshot.relations or len(self.dictionary):
            raise EpochError("an engine that has something cannot begin with a saved state")
        self._texts = state.absorb_texts(self.dictionary)
        frontier = Frontier(self._order, (state.manifest.upper,))
        self._snapshot = Snapshot(frontier, {}, self.dictionary)

    def spill(self, directory: StateDirectory, shards: int) -> Manifest:
        """Write to files what is in memory alone, divided into `shards`, and hold it by them."""
        capture = self.capture()
        try:
            spill = capture.write(directory, shards)
        except BaseException:
            self.release(capture)
            raise
        self.install(spill)
        return spill.manifest

    def capture(self) -> Capture:
        """What there is now, to be written by any thread, and then installed or released (`engine.spill`)."""
        if self._staged is not None:
            raise EpochError("a stage is neither published nor aborted")
        states = kept_states(self._dataflow.operators.items())
        captured = tuple(Captured.of(fingerprint, state) for fingerprint, state in states)
        return Capture(self._snapshot.upper, captured, self.dictionary, len(self.dictionary), self._texts)

    def install(self, spill: Spill) -> None:
        """Let the files of a spill stand for what they hold, where it is still there."""
        if self._texts is spill.capture.texts:
            self._texts = spill.texts
        installed = [it.captured.state for it in spill.rewritten if it.install()]
        relations = dict(self._snapshot.relations)
        for name in self._changed_relations(installed):
            relations[name] = self._refreshed(name, relations[name])
        self._snapshot = Snapshot(self.frontier, relations, self.dictionary)

    def release(self, capture: Capture) -> None:
        """What was captured is not going to be installed."""
        for captured in capture.states:
            captured.trace.release()
            captured.state.reset()

    def files(self) -> set[str]:
        """The names of the files that are held."""
        states = kept_states(self._dataflow.operators.items())
        names = {file.name for _, state in states for file in state.trace.files()}
        return names | {part.file.name for part in self._texts}

    # Inside

    def _renderer(self, dataflow: Dataflow) -> Renderer:
        return Renderer(dataflow, self.dictionary, self._options.max_rounds, self._options.rebuild)

    def _check_new(self, name: str) -> None:
        if self._staged is not None:
            raise EpochError("a stage is neither published nor aborted")
        if name in self._sources or name in self._snapshot.relations:
            raise NameInUse(f"there is a relation {name} already")

    def _check_deltas(self, deltas: Mapping[str, np.ndarray], upper: Frontier) -> None:
        lower = self.frontier
        if not upper.is_at_or_after(lower):
            raise EpochError(f"what comes is at or after {lower}, an advance to {upper} goes back")
        for name, delta in deltas.items():
            source = self._sources.get(name)
            if source is None:
                raise UnknownName(f"there is no source {name}")
            if delta.ndim != 2 or delta.shape[0] != len(source.node.schema) + 2 or delta.dtype != np.int64:
                raise PlanError(f"a delta of {name} is {delta.dtype}{list(delta.shape)}")
            if not are_within(delta, lower.array, upper.array, self._order.masks):
                raise EpochError(f"a change of {name} is not at a time from {lower} on, before {upper}")

    def _history(self, name: str) -> History | None:
        """The history of a source or view; None of a source that keeps none, or a view that has failed."""
        if name in self._views:
            return self._views[name].history
        return self._sources[name].history if name in self._sources else None

    def _since(self, source: str) -> int:
        history = self._sources[source].history
        if not self._order.is_total:
            return 0
        return history.trace.since if history is not None else self._snapshot.upper - 1

    def _kept(self, plan: Node) -> Frontier:
        """The times at which a view can be read: those at which all of its sources that keep rows can."""
        relations = self._snapshot.relations
        kept = [relations[s.name].kept.words for s in _sources_of(plan) if s.name in relations]
        words = self._beginning.words
        for other in kept:
            words = self._order.frontier(self._order.join(a, b) for a in words for b in other)
        return Frontier(self._order, words)

    def _history_of(self, source: str, since: int) -> np.ndarray | None:
        """All kept differences of a source, as a delta; epochs before `since` are taken for it."""
        history = self._sources[source].history
        if history is None:
            return None
        batches = history.trace.batches()
        if not batches:
            return None
        places = self._snapshot.relations[source].places
        width = len(places)
        rows = np.concatenate(batches) if len(batches) > 1 else batches[0]
        delta = np.ascontiguousarray(rows[:, [*places, width, width + 1]].T)
        np.maximum(delta[width], since, out=delta[width])
        return delta

    def _collect(self, without: Collection[str] = ()) -> None:
        """Drop the operators that no source and no view (but those of `without`) needs."""
        outputs: list[Operator] = [source.input for source in self._sources.values()]
        outputs += [s.history for s in self._sources.values() if s.history is not None]
        outputs += [view.history for name, view in self._views.items() if name not in without]
        self._dataflow.keep(outputs)

    def _readers(self, operator: Operator, failed: Mapping[str, str]) -> list[str]:
        return [
            name
            for name, view in self._views.items()
            if name not in failed and operator in reachable([view.history])
        ]

    def _in_order(self, operators: set[Operator]) -> list[Operator]:
        return [operator for operator in self._dataflow.operators.values() if operator in operators]

    def _changed_relations(self, changed: Iterable[object]) -> set[str]:
        """The relations whose history or errors are among the changed states."""
        names: set[str] = set()
        for state in changed:
            if isinstance(state, History):
                names.add(state.name)
            elif isinstance(state, FailureLog):
                names |= state.readers
        return names & (self._views.keys() | self._sources.keys())

    def _refreshed(self, name: str, relation: RelationSnapshot) -> RelationSnapshot:
        """The relation with its history as it is now."""
        view = self._views.get(name)
        history = self._history(name)
        if history is None:
            return relation
        if view is not None and view.failures:
            errors = tuple(batch for log in view.failures for batch in log.trace.batches())
            relation = replace(relation, errors=errors)
        return relation.with_batches(history.trace.batches(), history.trace.since)

    def _set_relation(self, name: str, relation: RelationSnapshot | None) -> None:
        relations = dict(self._snapshot.relations)
        if relation is None:
            relations.pop(name, None)
        else:
            relations[name] = relation
        self._snapshot = Snapshot(self.frontier, relations, self.dictionary)


class Stage:
    """A computed advance: `publish` makes all of it visible, `abort` none."""

    def __init__(self, engine: Engine, frontier: Frontier, operators: dict[Hashable, Operator]) -> None:
        self.frontier = frontier
        self.failed: dict[str, str] = {}
        """The views that cannot be computed, and why."""
        self.operators = operators
        self.manifest: Manifest | None = None
        """The state when this is published, if all of it is in files: where it was computed elsewhere."""
        self.scanned = Scanned()
        self.declined = ""
        """Why it was computed here after all."""
        self._engine = engine

    def publish(self) -> None:
        self._engine._finish(self, publish=True)

    def abort(self) -> None:
        self._engine._finish(self, publish=False)


def _sources_of(plan: Node) -> set[Source]:
    found: set[Source] = set()
    seen: set[int] = set()
    stack = [plan]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Source):
            found.add(node)
        stack.extend(node.inputs)
    return found


def _as_engine_error(failed: OperatorFailed) -> EngineError:
    cause = failed.cause
    if isinstance(cause, EngineError):
        return cause
    if isinstance(cause, MemoryError):
        return EngineError("the view does not fit into memory")
    return EngineError(f"the view's {type(failed.operator).__name__} failed: {cause!r}")
