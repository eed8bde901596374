"""Epochs as a list: when each was committed, and how many differences it brought to each table and view.

The times are the catalog's, so they survive a restart; they are kept as long as the epochs can be read. The
differences are those that a snapshot keeps: what has been forgotten is not counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.runtime.engine import FIRST_EPOCH
from engine.state.snapshot import Snapshot
from service.definitions.definition import Definition

Times = Sequence[tuple[int, int]]
"""First epochs of commits, in order, each with its time in microseconds since 1970, UTC."""


@dataclass(frozen=True)
class ListedEpoch:
    """`at` is None if the time is no longer known. `tables` and `views` have numbers of differences."""

    epoch: int
    at: int | None
    tables: Mapping[str, int]
    views: Mapping[str, int]


@dataclass(frozen=True)
class EpochRange:
    """The epochs after `since` up to `until`, of which the last `limit` are wanted."""

    since: int
    until: int
    limit: int


def every_epoch(snapshot: Snapshot, relations: Iterable[Definition], wanted: EpochRange) -> list[ListedEpoch]:
    """The newest epochs of the range, newest first, without their times."""
    since = max(wanted.since, wanted.until - wanted.limit, FIRST_EPOCH - 1)
    return _listed(snapshot, relations, since, wanted.until, range(wanted.until, since, -1))


def epochs_of(snapshot: Snapshot, relation: Definition, wanted: EpochRange) -> list[ListedEpoch]:
    """The newest epochs of the range in which one relation has changed, newest first, without their times."""
    counted = _counts(snapshot, relation, wanted.since, wanted.until)
    epochs = sorted(counted, reverse=True)[: wanted.limit]
    tables, views = ({}, counted) if relation.is_view else (counted, {})
    return [ListedEpoch(it, None, _one(relation, tables, it), _one(relation, views, it)) for it in epochs]


def timed(epochs: Iterable[ListedEpoch], times: Times) -> list[ListedEpoch]:
    """The epochs with the times of their commits."""
    return [ListedEpoch(it.epoch, time_of(it.epoch, times), it.tables, it.views) for it in epochs]


def time_of(epoch: int, times: Times) -> int | None:
    """When an epoch was committed, in microseconds since 1970; None if it is not known."""
    place = bisect_right(times, epoch, key=lambda commit: commit[0])
    return times[place - 1][1] if place else None


def _listed(
    snapshot: Snapshot, relations: Iterable[Definition], since: int, until: int, epochs: Iterable[int]
) -> list[ListedEpoch]:
    tables: dict[int, dict[str, int]] = {}
    views: dict[int, dict[str, int]] = {}
    for relation in relations:
        found = views if relation.is_view else tables
        for epoch, count in _counts(snapshot, relation, since, until).items():
            found.setdefault(epoch, {})[relation.name] = count
    return [ListedEpoch(it, None, tables.get(it, {}), views.get(it, {})) for it in epochs]


def _counts(snapshot: Snapshot, relation: Definition, since: int, until: int) -> dict[int, int]:
    """How many differences of a relation each epoch has. Its oldest epoch has none: it is all that was."""
    kept = snapshot.relations.get(relation.name)
    return {} if kept is None else kept.epoch_counts(max(since, kept.since), until)


def _one(relation: Definition, counts: Mapping[int, int], epoch: int) -> dict[str, int]:
    return {relation.name: counts[epoch]} if epoch in counts else {}
