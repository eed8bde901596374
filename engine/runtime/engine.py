"""The engine: sources, views, and advances that are staged and then published as a whole.

An advance takes changes at any number of epochs at once; its result does not depend on how the changes are
divided into advances.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from engine.errors import (
    EpochError,
    JoinTooLarge,
    NameInUse,
    OverBudget,
    PassTooLarge,
    PlanError,
    StoreError,
    UnknownName,
)
from engine.operators.arrangement import Arrangement
from engine.operators.operator import Meter, Operator
from engine.operators.outermost_loop import OutermostLoop
from engine.operators.rebuild import LoopStatistics
from engine.operators.running_dataflow import OperatorFailed, RunningDataflow, reachable
from engine.plan.nodes import Node, Source, sources_of
from engine.plan.same_program import ChangedSource, OtherProgram, check_same_program
from engine.plan.successor import Successor
from engine.runtime import joining
from engine.runtime.advance import Advance
from engine.runtime.building import Building, Ground
from engine.runtime.carrying import CarriedState, carried_ground
from engine.runtime.ends import put_source, put_source_history, reading_order
from engine.runtime.execution import Declined, Executor, JobTable, RowScan
from engine.runtime.forgetting import forget_epochs, forget_errors, forget_times
from engine.runtime.fork import Fork
from engine.runtime.hydration import Hydration
from engine.runtime.kept import StateSource, kept_states
from engine.runtime.observation import Held, Observed, held, observe
from engine.runtime.options import DEFAULTS, Options
from engine.runtime.registry import KnownSource, Registry
from engine.runtime.rewriting import Captured
from engine.runtime.side_advance import SideAdvance
from engine.runtime.side_files import SideFiles
from engine.runtime.spill import Capture, SavedState, Spill, TextPart
from engine.runtime.stage import Stage
from engine.runtime.state_ground import StateGround, TraceGround
from engine.runtime.succession import Past, Succession
from engine.runtime.upkeep import Upkeep, sharing, upkeep
from engine.schema import Schema
from engine.state.collecting import TextCollection
from engine.state.dictionary import Dictionary
from engine.state.error_history import ErrorHistory
from engine.state.layer import Layer
from engine.state.packed_times import TOTAL, Frontier, Order
from engine.state.shown_layers import ShownLayers
from engine.state.snapshot import RelationSnapshot, Snapshot
from engine.state.store.directory import StateDirectory
from engine.state.store.manifest import Manifest

FIRST_EPOCH = 1

NO_SCANS: Mapping[str, RowScan] = MappingProxyType({})


class Engine:
    """Maintains views over sources.

    A source (`create_source`) is an input; a view (`create_view`) is a plan over sources, kept up to date.
    `stage` computes what follows from changes of sources, in every view; its `Stage` then publishes all of
    it in a new `snapshot`, or aborts. While a stage is open, nothing else may change the engine. `forget`
    gives up old epochs of a relation.

    State goes to disk in three steps: `capture` collects it, `Capture.write` writes it to files, and
    `install` maps these files in place of the arrays in memory (`spill` does all three). `resume` starts a
    new engine from such files; `create_source` and `restore_view` then map their parts of it.

    One thread, the writer, calls the methods that change something, and those that look into operators
    (`due`, `observe`, `statistics`, `differences`, `files`). Any thread may take the `snapshot` and read it,
    ask for the number of `rows`, and write a `Capture`.
    """

    def __init__(
        self,
        options: Options = DEFAULTS,
        order: Order = TOTAL,
        first: int = FIRST_EPOCH,
        dictionary: Dictionary | None = None,
    ) -> None:
        """`order` orders the times; if they are plain epochs, `first` is the first epoch.

        An engine in the place of another may share its `dictionary`: snapshots of both then stay readable.
        """
        self.dictionary = Dictionary() if dictionary is None else dictionary
        """The texts of all words, shared by sources, views and snapshots."""
        self._options = options
        self._order = order
        self._dataflow = RunningDataflow(order)
        self._registry = Registry()
        self._staged: Stage | None = None
        self._beside: set[Building | SideAdvance | Fork] = set()
        self._texts: tuple[TextPart, ...] = ()
        self._snapshot = Snapshot(Frontier(order, (first,)), {}, self.dictionary)

    @property
    def snapshot(self) -> Snapshot:
        """The relations as they were last published."""
        return self._snapshot

    @property
    def frontier(self) -> Frontier:
        """The least times that are not complete."""
        return self._snapshot.frontier

    def differences(self) -> int:
        """The number of differences in all traces."""
        parts = (part for operator in self._dataflow.operators.values() for part in operator.parts())
        return sum(part.trace.rows for part in parts if isinstance(part, Arrangement))

    def observe(self, view: str) -> tuple[Observed, ...]:
        """What each operator of a view holds and has done. UnknownName if no such view is maintained."""
        if view not in self._registry.views:
            raise UnknownName(f"no view {view} is maintained")
        views = self._registry.views
        return observe(views[view].history, self._dataflow, views)

    def held(self) -> Held:
        """How much memory the engine holds, by kind. Any thread may ask; costs a look at each operator."""
        return held(list(self._dataflow.operators.items()), self.dictionary)

    def upkeep(self) -> dict[str, Upkeep]:
        """What each source and view has cost and holds. Any thread may ask; costs a look at each operator."""
        return upkeep(self._registry)

    def sharing(self, keys: Collection[Hashable]) -> dict[Hashable, tuple[str, ...]]:
        """Of these keys, those of running operators, each with the views that need it. Any thread may ask;
        costs a look at each operator."""
        return sharing(keys, self._dataflow.operators, self._registry)

    def statistics(self) -> list[LoopStatistics]:
        """How each recursion of the views was maintained so far."""
        operators = self._dataflow.operators.values()
        return [replace(loop.statistics) for loop in operators if isinstance(loop, OutermostLoop)]

    def due(self, now: int) -> int | None:
        """The least time of the clock (`engine.plan.clocked`) after `now` at which a view changes, or None.
        Costs a look at each trace of a temporal operator.
        """
        moments = (part.due(now) for part in self._dataflow.turns.timed)
        return min((moment for moment in moments if moment is not None), default=None)

    # Sources

    def create_source(
        self,
        name: str,
        schema: Schema,
        key: tuple[int, ...] | None = None,
        *,
        keep: bool = True,
        state: StateSource | None = None,
        kept: tuple[np.ndarray, int] | None = None,
    ) -> None:
        """Add a source. `key` has the positions of the primary key's columns; without one it is a bag.

        With `keep` false, rows only pass through: they cannot be read, and views over the source must be
        created before its first row. `state` is the saved state that `resume` got, or a fork, if the source
        was part of it; its rows are mapped from there, and StoreError is raised if they are missing. `kept`
        is a history to begin with: a delta int64[W + 2, n] at complete epochs, and the least epoch at which
        it can be read.
        """
        self._check_new(name)
        node = Source(name, schema)
        input = put_source(self._dataflow, node)
        history = put_source_history(self._dataflow, node, key) if keep else None
        self._registry.sources[name] = KnownSource(JobTable(node, key), input, history)
        if history is not None:
            items = self._dataflow.operators.items()
            if state is not None and not state.map((key, it) for key, it in items if it is history):
                raise StoreError(f"the saved state has no rows of {name}")
            if kept is not None:
                history.begin_with(*kept)
            readable = self._snapshot.kept(())
            self._show(name, RelationSnapshot(schema, reading_order(len(schema), key), kept=readable))

    def history_of(self, name: str) -> tuple[np.ndarray, int]:
        """The kept differences of a source, and the least epoch at which it can be read."""
        relation = self._snapshot.relations[name]
        return relation.delta(relation.since), relation.since

    def drop_source(self, name: str) -> None:
        """Drop a source and its rows. Raises NameInUse while a view reads it."""
        source = self._registry.sources.get(name)
        if source is None:
            raise UnknownName(f"there is no source {name}")
        readers = self._registry.readers(source.table.node)
        if readers:
            raise NameInUse(f"{name} is read by {', '.join(readers)}")
        del self._registry.sources[name]
        self._collect()
        self._snapshot = self._snapshot.replaced({name: None})

    # Views

    def create_view(
        self,
        name: str,
        plan: Node,
        executor: Executor | None = None,
        meter: Meter | None = None,
        pasts: Sequence[Past] = (),
    ) -> None:
        """Maintain `plan` as view `name`, from the oldest epoch that all its sources keep.

        `executor` computes it, or this process, as far as the meter lets it, if there is none or it declines.
        `pasts` are what a successor was before. Raises EngineError if the plan does not fit the sources or
        cannot be computed; the engine is then as before.
        """
        building = self.begin_view(name, plan)
        try:
            if executor is None or not building.compute_on(executor):
                building.compute(meter)
            building.precede(pasts)
            self.adopt(building)
        finally:
            self.discard(building)

    def begin_view(
        self, name: str, plan: Node, *, replacing: bool = False, with_past: bool = True
    ) -> Building:
        """Begin to build a view beside the running dataflow; `adopt` or `discard` it later.

        With `replacing`, it takes the place of a view of that name; without `with_past`, it can be read from
        now on only. A successor's history begins with its epoch, until `Building.precede`. Raises EngineError
        if the name is taken or the plan does not fit the sources.
        """
        self._check_new(name, replacing=replacing)
        self._registry.check_plan(plan)
        sources = {source.name: self._registry.sources[source.name] for source in sources_of(plan)}
        kept = {name: source.history for name, source in sources.items() if source.history is not None}
        layers = {name: it.trace.layers() for name, it in kept.items()}
        if not self._options.keeps_files:
            layers = {name: tuple(map(Layer.without_file, found)) for name, found in layers.items()}
        ground = Ground(sources, layers, self._texts)
        since = max((self._since(source) for source in sources), default=0)
        if isinstance(plan, Successor):
            since = max(since, plan.epoch)
        if not with_past:
            since = self._snapshot.upper - 1
        building = Building(name, plan, ground, self._snapshot, since, self.dictionary, self._options)
        self._beside.add(building)
        return building

    def adopt(self, building: Building, *, replacing: bool = False) -> None:
        """Bring a view that has been built to the newest epoch, and maintain it from now on.

        Raises PlanError if one of its sources is another by now, EngineError if it cannot catch up.
        """
        self._check_new(building.name, replacing=replacing)
        for name, source in building.ground.sources.items():
            if self._registry.sources.get(name) is not source:
                raise PlanError(f"{name} was dropped or altered while view {building.name} was built")
        if building.snapshot is not self._snapshot:
            building.catch_up(self._snapshot)
        if building.name in self._snapshot.relations:
            self.drop_view(building.name)
        self._add_view(building.name, building.plan, building.hydration)
        self._beside.discard(building)

    def discard(self, beside: Building | SideAdvance | Fork) -> None:
        """Keep nothing any more for what goes on beside this engine."""
        self._beside.discard(beside)

    def explain_failure(self, name: str, reason: str) -> None:
        """Give another reason why a view has failed, which is no longer set aside."""
        relation = replace(self._snapshot.relations[name], failure=reason, aside=False)
        self._snapshot = self._snapshot.replaced({name: relation})

    def carry(self, plans: Mapping[str, tuple[str, Node]], changed: Sequence[ChangedSource]) -> CarriedState:
        """The state that views have, for the new names and plans that they are to have, by their old names,
        once sources are changed: as far as both plans are one program. Nothing is copied or changed."""
        running = dict(kept_states(self._dataflow.operators.items()))
        ground: dict[str, TraceGround] = {}
        reasons: dict[str, str] = {}
        for old, (name, plan) in plans.items():
            known = self._registry.views.get(old)
            try:
                if known is None:
                    raise OtherProgram("it had failed")
                check_same_program(known.plan, plan, changed)
                before = Hydration.of(old, known.plan, self._order, self.dictionary, self._options)
                after = Hydration.of(name, plan, self._order, self.dictionary, self._options)
                found = carried_ground(running, before, after)
                if found is None:
                    raise OtherProgram("it is computed in another way")
                ground |= found
            except OtherProgram as difference:
                reasons[name] = difference.message
        return CarriedState(StateGround(ground), reasons)

    def restore_view(self, name: str, plan: Node, state: StateSource) -> bool:
        """Maintain `plan` as view `name` from its saved state, without computing anything.

        `state` is the saved state that `resume` got, a fork, or what was carried over, and the view was part
        of it. Returns false if the state of an operator is not saved. Raises StoreError if a file is damaged.
        In both cases the engine is as before.
        """
        self._check_new(name)
        self._registry.check_plan(plan)
        view = Hydration.of(name, plan, self._order, self.dictionary, self._options)
        is_saved = view.map(state, self._dataflow.operators.keys())
        if is_saved:
            self._add_view(name, plan, view)
        return is_saved

    def restore_failed(self, name: str, relation: RelationSnapshot) -> None:
        """Show a view that has failed elsewhere as it was there."""
        self._check_new(name)
        self._snapshot = self._snapshot.replaced({name: replace(relation, aside=False)})

    def drop_view(self, name: str) -> None:
        """Drop a view and the operators that no other view needs."""
        if name not in self._snapshot.relations or name in self._registry.sources:
            raise UnknownName(f"there is no view {name}")
        self._registry.remove_view(name)
        self._collect()
        self._snapshot = self._snapshot.replaced({name: None})

    def succeed(self, successions: Sequence[Succession]) -> None:
        """Let views go on with other plans, all from the newest epoch on. Nothing is computed for it."""
        self._check_unstaged()
        for it in successions:
            plan = Successor(self._registry.views[it.by].plan, it.epoch)
            view = Hydration.of(it.name, plan, self._order, self.dictionary, self._options)
            it.fill(view.history)
            old = self._snapshot.relations.get(it.name)
            if old is not None:
                self.drop_view(it.name)
            self._add_view(it.name, plan, view)
            new = self._snapshot.relations[it.name]
            if old is not None and (old.schema, old.layers) == (new.schema, it.layers):
                self._snapshot = self._snapshot.replaced({it.name: replace(new, origin=old.origin)})
        for it in successions:
            self.drop_view(it.by)

    def is_read(self, source: str) -> bool:
        """Whether a view reads a source, or will once it is built."""
        buildings = (it for it in self._beside if isinstance(it, Building))
        if any(source in building.ground.sources for building in buildings):
            return True
        return bool(self._registry.readers(self._registry.sources[source].table.node))

    def input_rows(self, plan: Node) -> int:
        """How many differences of its sources the hydration of a plan starts from."""
        return sum(self.rows(source.name) for source in sources_of(plan))

    def input_words(self, plan: Node) -> int:
        """How many values these have."""
        return sum(self.rows(source.name) * len(source.schema) for source in sources_of(plan))

    def rows(self, name: str) -> int:
        """About how many rows a source or view has: the number of its kept differences."""
        return self._registry.rows(name)

    def _since(self, source: str) -> int:
        """The first epoch at which a source can be read."""
        if not self._order.is_total:
            return 0
        relation = self._snapshot.relations.get(source)
        return relation.since if relation is not None else self._snapshot.upper - 1

    def _add_view(self, name: str, plan: Node, view: Hydration) -> None:
        """Graft a view's operators onto the running dataflow, and show the view."""
        self._dataflow.graft(view.dataflow)
        self._registry.add_view(name, plan, view.history, self._dataflow.operators.values())
        kept = self._snapshot.kept(source.name for source in sources_of(plan))
        order = tuple(range(len(plan.schema)))
        errors = ErrorHistory(begins=plan.epoch if isinstance(plan, Successor) else 0)
        self._show(name, RelationSnapshot(plan.schema, order, errors=errors, kept=kept))

    # History

    def forget(self, name: str, before: int | Frontier, *, at_once: bool = True) -> None:
        """Make the epochs before `before` of a relation unreadable, so that they need not be told apart.

        Costs a pass over the relation, which may become much smaller; or, without `at_once`, nothing now: its
        rows then become fewer as they are merged and written to files. Reads at epochs from `before` on do
        not change. A frontier does the same, at once, for times of several coordinates. Raises EpochError if
        `before` is not complete.
        """
        self._check_unstaged()
        relation = self._snapshot.relations.get(name)
        if relation is None:
            raise UnknownName(f"there is no relation {name}")
        history = self._registry.history(name)
        if not self._order.is_total:
            self._show(name, forget_times(name, history, relation, before, self.frontier))
            return
        epoch = before.words[0] if isinstance(before, Frontier) else before
        epoch = min([epoch, *(it.epoch for it in self._beside)])
        if forget_epochs(name, history, epoch, self._snapshot.upper, at_once):
            self._show(name, relation)
            views = self._registry.views
            if name in views:
                changed = forget_errors(views[name].failures, views, at_once)
                self._snapshot = self._snapshot.replaced(self._renewed(changed))

    # Advances

    def stage(
        self,
        deltas: Mapping[str, np.ndarray],
        upper: int | Frontier,
        executor: Executor | None = None,
        scans: Mapping[str, RowScan] = NO_SCANS,
        gives_up: bool = True,
    ) -> Stage:
        """Compute what follows from changes at times that are not complete yet, but will be at `upper`.

        For plain epochs these are the epochs from `snapshot.upper` up to, not including, `upper`. `deltas`
        has a delta int64[W + 2, n] for each changed source. Nothing is visible until the stage is published.
        A view that cannot be computed is put into `Stage.failed`, and publishing leaves it at its last epoch.
        Unless the engine `gives_up`, PassTooLarge is raised for one that uses more than it may: allowances
        are for an epoch, so a caller that has several can stage fewer.

        `executor` computes it, or this process if there is none or it declines. `scans` has, by source, rows
        that only an executor can read; they come at epoch `snapshot.upper`, and Declined is raised if it does
        not take them.
        """
        self._check_unstaged()
        deltas = {name: np.ascontiguousarray(delta) for name, delta in deltas.items()}
        frontier = upper if isinstance(upper, Frontier) else Frontier(self._order, (upper,))
        self._registry.check_deltas(deltas, self._snapshot.frontier, frontier, self.dictionary)
        advance = Advance(self._dataflow, self._registry, self.dictionary, self._options, deltas, scans)
        stage = Stage(frontier, self._dataflow.operators, self._publish, self._abort)
        try:
            while not self._is_computed(advance, stage, executor, gives_up):
                self._collect(without=stage.failed)
        except BaseException:
            advance.abort()
            self._dataflow.restore(stage.operators)
            raise
        self._staged = stage
        return stage

    def _is_computed(self, advance: Advance, stage: Stage, executor: Executor | None, gives_up: bool) -> bool:
        """Compute an advance; false if views failed, so that it has to run again without them."""
        try:
            spill = self.spill(executor.directory, executor.shards) if executor is not None else None
            if executor is None or spill is None or not advance.run_on(executor, spill, stage):
                advance.run()
            return True
        except OperatorFailed as failure:
            if not gives_up and isinstance(failure.reason, OverBudget | JoinTooLarge):
                raise PassTooLarge(failure.reason.message, failure.reason.hint) from failure
            advance.abandon(failure, stage)
            return False

    def staged(self, view: str) -> tuple[np.ndarray, np.ndarray]:
        """What the open stage changes in a view, as a delta int64[W + 2, n] by epoch; and in its errors, as a
        delta int64[3, n] of message words. Raises EpochError if no stage is open, UnknownName for a view that
        is not maintained."""
        if self._staged is None:
            raise EpochError("no stage is open")
        known = self._registry.views.get(view)
        if known is None:
            raise UnknownName(f"there is no view {view}")
        since, until = self._snapshot.upper - 1, self._staged.frontier.words[0] - 1
        layers = (*known.history.trace.layers(), *self._dataflow.staged(known.history))
        rows = replace(self._snapshot.relations[view], shown=ShownLayers(layers))
        failed = [layer for log in known.failures for layer in (*log.trace.layers(), *log.staged_layers)]
        errors = RelationSnapshot(Schema(()), (0,), ShownLayers(tuple(failed)))
        return rows.changes(since, until), errors.changes(since, until)

    # Advances beside the running dataflow

    def begin_aside(self, *tables: str) -> SideAdvance:
        """Begin a large advance of these sources beside the dataflow; `join` it later, and `discard` it.

        The engine keeps the epochs after the advance's first snapshot apart until then. Raises Declined if a
        source keeps no rows, or times are no plain epochs.
        """
        self._check_unstaged()
        affected, names = self._registry.affected(tables, ())
        sources = {name: self._registry.sources[name] for name in names}
        if not self._order.is_total or any(source.history is None for source in sources.values()):
            raise Declined("a side advance needs sources that keep their rows, and epochs")
        views = {name: self._registry.views[name] for name in affected}
        ends = [view.history for view in views.values()]
        ends += [history for name in tables if (history := sources[name].history) is not None]
        ground = StateGround.of(self._dataflow.operators, reachable(ends))
        aside = SideAdvance(
            tables,
            views,
            sources,
            ground,
            self._snapshot,
            self._texts,
            self.dictionary,
            self._options,
            self.dictionary.lease(),
        )
        self._beside.add(aside)
        return aside

    def join(self, aside: SideAdvance, files: SideFiles) -> Stage:
        """Stage an advance as the change of epoch `files.epoch`, complete once the stage is published.

        Raises Outdated if a relation of the advance is another by now, EpochError if the epoch has passed,
        and what `SideAdvance.catch_up` raises.
        """
        self._check_unstaged()
        joining.check_current(aside, self._registry)
        if files.epoch < self._snapshot.upper:
            raise EpochError(f"epoch {files.epoch} is complete already")
        aside.catch_up(self._snapshot)
        files.write_rest()
        frontier = Frontier(self._order, (files.epoch + 1,))
        stage = Stage(frontier, self._dataflow.operators, self._publish, self._abort)
        manifest = self.spill(files.directory, files.shards)
        try:
            stage.manifest = joining.stage(aside, files, self._dataflow, manifest, files.epoch + 1)
        except BaseException:
            self._dataflow.abort()
            raise
        self._staged = stage
        stage.scanned = aside.scanned
        return stage

    # Forks

    def fork(self, sources: Collection[str], views: Mapping[str, Node], epoch: int | None = None) -> Fork:
        """The state of these sources and views, for an engine that goes on from epoch `epoch`, by default the
        newest. `views` have their plans.

        From then on the engine keeps these epochs apart, until `discard`. Raises EpochError if a source does
        not have that epoch any more, Declined if times are no plain epochs or a source keeps no rows.
        """
        self._check_unstaged()
        snapshot = self._snapshot
        epoch = snapshot.upper - 1 if epoch is None else epoch
        known = {name: self._registry.sources[name] for name in sources}
        if not self._order.is_total or any(source.history is None for source in known.values()):
            raise Declined("a fork needs sources that keep their rows, and epochs")
        for name in sources:
            if not snapshot.since(name) <= epoch < snapshot.upper:
                raise EpochError(f"{name} is not kept at epoch {epoch}")
        ends: list[Operator] = [source.history for source in known.values() if source.history is not None]
        ends += [self._registry.views[name].history for name in views if name in self._registry.views]
        fork = Fork(
            {name: source.table for name, source in known.items()},
            views,
            {name: snapshot.relations[name] for name in views if name not in self._registry.views},
            StateGround.of(self._dataflow.operators, reachable(ends)),
            snapshot,
            epoch,
            self.dictionary,
            self.dictionary.lease(),
        )
        self._beside.add(fork)
        return fork

    def departed(self, fork: Fork, building: Building | None = None) -> int:
        """The bytes that this engine, which began with a fork, holds besides the fork's, and would hold with
        what was built. Any thread may ask; costs a look at each operator."""
        built = {} if building is None else building.hydration.dataflow.operators
        return fork.departed(list((dict(built) | dict(self._dataflow.operators)).items()))

    def _publish(self, stage: Stage) -> None:
        self._unstage(stage)
        changed = self._dataflow.publish(stage.frontier)
        lost = self._lost(stage) if stage.failed else {}
        renewed = self._registry.renewed(changed, self._snapshot.relations)
        self._snapshot = self._snapshot.replaced({**lost, **renewed} if lost else renewed, stage.frontier)

    def _lost(self, stage: Stage) -> dict[str, RelationSnapshot]:
        """The views that have failed in a stage, which are maintained no more."""
        snapshot, lost = self._snapshot, {}
        until = snapshot.upper if self._order.is_total else None
        for name, reason in stage.failed.items():
            del self._registry.views[name]
            aside = name in stage.over_budget
            lost[name] = replace(snapshot.relations[name], failure=reason, lost=until, aside=aside)
        return lost

    def _abort(self, stage: Stage) -> None:
        self._unstage(stage)
        self._dataflow.abort()
        self._dataflow.restore(stage.operators)

    def _unstage(self, stage: Stage) -> None:
        if self._staged is not stage:
            raise EpochError("the stage is published or aborted already")
        self._staged = None

    # Files

    def resume(self, state: SavedState) -> None:
        """Start a new engine from a saved state; sources and views are then created with the same `state`.

        Raises EpochError if the engine is not empty.
        """
        if self._registry.sources or self._snapshot.relations:
            raise EpochError("only an empty engine can start from a saved state")
        is_new = not len(self.dictionary)
        texts = state.absorb_texts(self.dictionary)
        self._texts = texts if is_new else ()  # files of entries in another order are of no use
        frontier = Frontier(self._order, (state.manifest.upper,))
        self._snapshot = Snapshot(frontier, {}, self.dictionary)

    def spill(self, directory: StateDirectory, shards: int) -> Manifest:
        """Write what is only in memory to files, divided into `shards`, and map these files in its place."""
        capture = self.capture()
        try:
            spill = capture.write(directory, shards)
        except BaseException:
            self.release(capture)
            raise
        self.install(spill)
        return spill.manifest

    def capture(self, *, collect: bool = False) -> Capture:
        """The current state. Any thread may write it; afterwards, install or release it.

        With `collect`, texts that nothing refers to any more go with its installation, if there are many.
        """
        self._check_unstaged()
        states = kept_states(self._dataflow.operators.items())
        captured = tuple(Captured.of(fingerprint, state) for fingerprint, state in states)
        collection = self.dictionary.collection(self.differences()) if collect else None
        lease = self.dictionary.lease() if collection is None else None
        upper, entries = self._snapshot.upper, len(self.dictionary)
        return Capture(upper, captured, self.dictionary, entries, self._texts, collection, lease)

    def install(self, spill: Spill) -> None:
        """Map the files of a spill in place of the captured arrays, where traces still have these."""
        changed = spill.install()
        collection = spill.capture.collection
        if self._texts is spill.capture.texts if collection is None else self._switch(collection):
            self._texts = spill.texts
        self._snapshot = self._snapshot.replaced(self._renewed(changed))

    def release(self, capture: Capture) -> None:
        """Give up a capture: it will not be installed."""
        if capture.collection is not None:
            self.dictionary.abandon(capture.collection)
        capture.release()

    def files(self) -> set[str]:
        """The names of the files that are mapped."""
        states = kept_states(self._dataflow.operators.items())
        names = {file.name for _, state in states for file in state.trace.files()}
        return names | {part.file.name for part in self._texts}

    def detach(self, kept: Collection[str]) -> None:
        """Take all files but the `kept` ones for memory, which the next spill writes to files again: somebody
        else may have removed them, though they are still mapped."""
        for _, state in kept_states(self._dataflow.operators.items()):
            if state.trace.detach(kept):
                state.reset()
        if any(part.file.name not in kept for part in self._texts):
            self._texts = ()

    # Internals

    def _switch(self, collection: TextCollection) -> bool:
        """Drop the texts that a collection found to be gone; false if they have to stay for now."""
        numbers = self.dictionary.switch(collection)
        if numbers is None:
            return False
        for _, state in kept_states(self._dataflow.operators.items()):
            if state.trace.renumber(numbers):
                state.reset()
        return True

    def _check_unstaged(self) -> None:
        if self._staged is not None:
            raise EpochError("a stage is open: publish or abort it first")

    def _check_new(self, name: str, *, replacing: bool = False) -> None:
        """Raise NameInUse if the name is taken; with `replacing`, a view may have it."""
        self._check_unstaged()
        if name in self._registry.sources or (name in self._snapshot.relations and not replacing):
            raise NameInUse(f"a relation {name} exists already")

    def _collect(self, without: Collection[str] = ()) -> None:
        """Drop the operators that are needed by no source and by no view except those of `without`."""
        self._dataflow.keep(self._registry.outputs(without))

    def _renewed(self, changed: Iterable[object]) -> dict[str, RelationSnapshot]:
        """Those relations anew whose history or failure log is among the changed states."""
        return self._registry.renewed(changed, self._snapshot.relations)

    def _show(self, name: str, relation: RelationSnapshot) -> None:
        """Put a relation, with its current history, into the snapshot."""
        self._snapshot = self._snapshot.replaced({name: self._registry.refreshed(name, relation)})
