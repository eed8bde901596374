"""Forgetting: making old times of a relation unreadable, so that its trace no longer tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.errors import EpochError
from engine.operators.failure_log import FailureLog
from engine.operators.history import History
from engine.runtime.registry import KnownView
from engine.state.packed_times import Frontier
from engine.state.snapshot import RelationSnapshot


def forget_epochs(name: str, history: History | None, before: int, upper: int, at_once: bool) -> bool:
    """Stop telling the epochs before `before` apart; returns whether anything changed.

    Raises EpochError if `before` is not complete.
    """
    if before >= upper:
        raise EpochError(
            f"epoch {before} of {name} is not complete, so history before it cannot be forgotten"
        )
    return history is not None and history.forget(before, at_once)


def forget_errors(
    failures: Iterable[FailureLog], views: Mapping[str, KnownView], at_once: bool
) -> list[FailureLog]:
    """Stop telling apart the epochs of errors that none of their views can be read at; returns the logs that
    have changed."""

    def since(log: FailureLog) -> int:
        return min((views[name].history.trace.since for name in log.readers & views.keys()), default=0)

    return [log for log in failures if log.forget(since(log), at_once)]


def forget_times(
    name: str, history: History | None, relation: RelationSnapshot, before: int | Frontier, upper: Frontier
) -> RelationSnapshot:
    """Stop telling apart times that look the same from every time at or after `before`; returns the relation.

    Raises EpochError if `before` is not complete, or earlier than the history that is kept.
    """
    if not isinstance(before, Frontier) or not upper.is_at_or_after(before):
        raise EpochError(f"history of {name} before {before} cannot be forgotten: not all of it is complete")
    if not before.is_at_or_after(relation.kept):
        raise EpochError(f"history of {name} before {relation.kept} is forgotten already")
    if history is None:
        return relation
    history.trace.compact(before)
    history.reset()
    return replace(relation, kept=before)
