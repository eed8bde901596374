"""Replays of views: one epoch is computed again beside the writer, so that its steps can be looked at.

The tables are those of the kept history. Nothing of it waits for the writer, or is kept afterwards.
"""

from __future__ import annotations

from engine.errors import BuildCancelled, OverBudget
from engine.operators.allowance import Allowance, Spending
from engine.plan.nodes import Node, sources_of
from engine.runtime.engine import FIRST_EPOCH, Snapshot
from engine.runtime.replay import Replay, ReplayLimits, replay
from service.definitions.definition import Definition
from service.errors import Conflict, HistoryGone, Invalid, Unavailable
from service.reading.callers import Caller
from service.reading.reads import check_epoch, check_planned
from service.running.runtime import Runtime

ALLOWANCE = Allowance(seconds=5.0, rows=5_000_000, bytes=512 << 20, all_seconds=10.0)
"""What a replay may use, its hydration included."""


def newest_change(definition: Definition, snapshot: Snapshot) -> int:
    """The newest epoch that has changed what a view reads; 0 if none has."""
    names = _sources(_plan_of(definition), snapshot)
    layers = [layer for name in names for layer in snapshot.relations[name].layers if len(layer)]
    return max((layer.epochs.greatest for layer in layers), default=0)


def replay_view(runtime: Runtime, definition: Definition, epoch: int, shown: int, caller: Caller) -> Replay:
    """Computes an epoch of a view again, with up to `shown` rows of each step. Blocks.

    Raises Conflict for a view without a plan, Invalid for an epoch that does not exist, HistoryGone for one
    whose beginning is no longer kept, Invalid for a view that is too large, CallerGone or Unavailable if the
    caller leaves, and an EngineError if the view cannot be computed.
    """
    runtime.memory.check("a replay")
    name, plan, snapshot = definition.name, _plan_of(definition), runtime.snapshot
    _check(name, plan, snapshot, epoch)
    check_planned(definition, epoch - 1)
    spending = Spending(ALLOWANCE)
    limits, rounds = ReplayLimits(shown=shown), runtime.settings.max_rounds
    try:
        with caller.ending(spending.stop):
            return replay(name, plan, snapshot, epoch, runtime.dictionary, rounds, limits, spending)
    except BuildCancelled:
        caller.check()
        raise Unavailable(f"the replay of {name} was cancelled", code="shutting_down") from None
    except OverBudget as error:
        hint = "look at its operators with stage=analyze, or replay a view that reads fewer rows"
        raise Invalid(f"the replay takes too much: {error.message}", hint, code="replay_too_large") from None


def _plan_of(definition: Definition) -> Node:
    if definition.planned is None:
        raise Conflict(f"view {definition.name} cannot run: {definition.failure}", code="view_failed")
    return definition.planned.plan


def _sources(plan: Node, snapshot: Snapshot) -> list[str]:
    return [source.name for source in sources_of(plan) if source.name in snapshot.relations]


def _check(name: str, plan: Node, snapshot: Snapshot, epoch: int) -> None:
    """Raises Invalid or HistoryGone if the epoch cannot be replayed."""
    if epoch < FIRST_EPOCH:
        raise HistoryGone(f"{name} has no change to replay", "replay it after a change of its tables")
    for source in _sources(plan, snapshot):
        if epoch >= snapshot.upper:
            check_epoch(snapshot, source, epoch)
        check_epoch(snapshot, source, epoch - 1)
