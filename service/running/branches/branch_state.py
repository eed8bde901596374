"""The state of a branch: an engine that goes on from its parent's, and all that commits epochs to it.

Its tables are those that its parent had when it parted. So are its views, which stay as they are, but for
those that were made on it: these have no files, and are computed again whenever the branch is restored. Its
epochs have numbers that no epoch of its parent can have, so that they are the same after a restart, whatever
the parent has done meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.operators.allowance import Allowance
from engine.plan.clocked import CLOCK
from engine.plan.nodes import Node
from engine.runtime.engine import Options
from engine.runtime.fork import Fork
from engine.runtime.forking import forked
from planner.relation_names import is_temporary
from service.catalog.branch_log import BranchLog
from service.catalog.branch_records import BranchRecord
from service.catalog.branch_views import BranchDefinitionStore
from service.changes.payload import decode_payload
from service.clock import Clock
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.known_relations import KnownRelations, in_order
from service.definitions.restoring import hydrate_view, in_order_of_reading, restored_view
from service.metrics import Metrics
from service.running.replaying import replay
from service.running.state import State
from service.settings.settings import Settings
from service.writing.commits import Commits
from service.writing.epochs import Epochs


@dataclass(frozen=True, eq=False)
class Parting:
    """What a branch begins with: its parent's state, and the definitions that it keeps."""

    parent: State
    fork: Fork
    known: KnownRelations

    @classmethod
    def of(cls, parent: State, epoch: int | None = None, newest: int | None = None) -> Parting:
        """Parts at an epoch, by default the newest, with the relations up to number `newest`. Runs on the
        thread of the parent's writer. Raises EpochError if a table is not kept at the epoch."""
        engine, of = parent.engine, parent.definitions
        kept = {
            name: definition
            for name, definition in of.all.items()
            if not is_temporary(name) and (newest is None or definition.id <= newest)
        }
        known = KnownRelations.of(kept)
        tables = [name for name, definition in kept.items() if not definition.is_view]
        if parent.clock.is_running:
            tables.append(CLOCK.name)
        return cls(parent, engine.fork(tables, _plans(of, kept), epoch), known)

    def hold(self, branch: str, newest: int) -> None:
        """Lets the parent's relations up to number `newest` stay as they are for a branch. Runs on the thread
        of the parent's writer, or before it starts."""
        self.parent.definitions.holders[branch] = newest

    def end(self, branch: str) -> None:
        """Lets the parent change what it has held for a branch, and forget what it has kept. Runs on the
        thread of the parent's writer."""
        self.parent.engine.discard(self.fork)
        self.parent.definitions.holders.pop(branch, None)


def _plans(of: Definitions, kept: dict[str, Definition]) -> dict[str, Node]:
    """The plans of the views and indexes that the engine has."""
    plans: dict[str, Node] = {}
    for name, definition in kept.items():
        if definition.is_view:
            plans[name] = definition.maintained
        plans |= of.all_indexes(definition)
    there = of.engine.snapshot.relations
    return {name: plan for name, plan in plans.items() if name in there}


def branch_state(record: BranchRecord, parting: Parting, metrics: Metrics) -> State:
    """The state of a branch, with the epochs of its log. Any thread may make it."""
    parent, settings = parting.parent, parting.parent.settings
    options = Options(settings.max_rounds, allowance=_allowance(settings), keeps_files=False)
    engine = forked(parting.fork, record.beginning, options)
    log, time = BranchLog(parent.catalog, record), parent.instance.time
    clock = Clock(engine, log, settings.clock_milliseconds * 1000, time, stands_still=True)
    clock.go_on(record.created_at)
    store = BranchDefinitionStore(parent.catalog, record.id)
    definitions = Definitions(engine, parent.catalog, clock, settings, store=store)
    definitions.inherited = record.newest_relation
    definitions.schemas, definitions.sequences = parent.definitions.schemas, parent.definitions.sequences
    definitions.known = parting.known
    commits = Commits(engine, log, definitions, metrics, clock)
    state = replace(
        parent,
        engine=engine,
        clock=clock,
        definitions=definitions,
        commits=commits,
        epochs=Epochs(engine, definitions, commits, metrics, clock),
        placement=None,
    )
    _catch_up(state, log)
    _make_views(definitions, store)
    return state


def _allowance(settings: Settings) -> Allowance:
    """What an operator may use for an epoch of a branch, which nobody else waits for."""
    return Allowance(settings.build_seconds, settings.view_rows, settings.view_bytes)


def _make_views(of: Definitions, store: BranchDefinitionStore) -> None:
    """Restores the branch's own views, and computes what the parent does not have either, because it is being
    built there; large ones are set aside, to be built beside the writer."""
    for record in in_order_of_reading(store.records()):
        of.put(restored_view(of, record))
    there = of.engine.snapshot.relations
    for view in in_order(view for view in of.all.values() if view.planned is not None):
        if view.name in there:
            continue
        if of.is_large(view):
            of.put(of.compute_later(view, "it is being built"))
        else:
            hydrate_view(of, replace(view, failure=None))


def _catch_up(state: State, log: BranchLog) -> None:
    """Feeds the branch's log to its engine."""
    newest = log.newest_of_mine()
    if newest is None:
        return
    parts: dict[str, list[np.ndarray]] = {}
    for payload in log.payloads():
        for number, delta in decode_payload(payload, state.engine.dictionary):
            known = state.restoring.current(number, delta)
            if known is not None:
                table, delta = known
                parts.setdefault(table, []).append(delta)
        state.commits.log_bytes += len(payload)
    deltas = {table: np.concatenate(found, axis=1) for table, found in parts.items()}
    timed = deltas | state.clock.replayed()
    state.definitions.set_aside |= replay(state.engine, timed, newest.last + 1)
    state.commits.resume(newest, state.commits.log_bytes, 0)
