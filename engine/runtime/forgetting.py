"""Forgetting: times of a relation that can no longer be read, and are told apart no more."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import EpochError
from engine.operators.history import History
from engine.state.packed_times import Frontier
from engine.state.snapshot import RelationSnapshot


def forget_epochs(name: str, history: History | None, before: int, upper: int, at_once: bool) -> bool:
    """Tell the epochs before `before` no longer apart; whether anything has changed."""
    if before >= upper:
        raise EpochError(f"epoch {before} of {name} is not complete, and cannot be all that is kept")
    if history is None or before <= history.trace.since:
        return False
    history.trace.since = before
    if at_once:
        history.trace.finish()
        history.reset()
    return True


def forget_times(
    name: str, history: History | None, relation: RelationSnapshot, before: int | Frontier, upper: Frontier
) -> RelationSnapshot:
    """Tell times no longer apart that are one to all at or after `before`; what the relation is then."""
    if not isinstance(before, Frontier) or not upper.is_at_or_after(before):
        raise EpochError(f"what is kept of {name} cannot begin with {before}, which is not all complete")
    if not before.is_at_or_after(relation.kept):
        raise EpochError(f"what is kept of {name} begins with {relation.kept} already")
    if history is None:
        return relation
    history.trace.compact(before)
    history.reset()
    return replace(relation, kept=before)
