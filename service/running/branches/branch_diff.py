"""How the answers of two timelines differ, in time that follows the difference.

Two timelines have a common one that both have come from, or that one of them is. What a relation of a
timeline has now is what the common one had when they parted, with all changes since on the way from there.
So the difference of two is that of their changes, and of what the common one has changed from one parting to
the other. Nothing else is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.runtime.engine import Snapshot
from engine.schema import BIGINT, Column, Schema
from engine.state.reading import Rows
from service.changes.resolve import sum_rows
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.errors import Conflict, NotFound
from service.reading.more_columns import with_columns
from service.reading.reads import check_health
from service.running.branches.branch_timeline import BranchTimeline
from service.running.timeline import Timeline

DIFF = "_diff"
"""The column that says by how many copies of a row two answers differ."""


@dataclass(frozen=True, eq=False)
class SeenTimeline:
    """A timeline at one moment, up to an epoch."""

    timeline: Timeline
    readable: Readable
    epoch: int

    @property
    def snapshot(self) -> Snapshot:
        return self.readable.snapshot

    def changes(self, name: str, since: int, until: int) -> Rows:
        """What a relation has changed between two epochs in any order: rows, and by how many more there
        are at `until`."""
        if since > until:
            words, diffs = self.changes(name, until, since)
            return words, -diffs
        return self.snapshot.net_changes(name, since, until)


def lineage(timeline: Timeline) -> list[SeenTimeline]:
    """A timeline as it is now, and those that it comes from as they were when it parted."""
    readable = timeline.readable
    found = [SeenTimeline(timeline, readable, readable.newest)]
    while isinstance(timeline, BranchTimeline):
        epoch, timeline = timeline.record.epoch, timeline.parent
        found.append(SeenTimeline(timeline, timeline.readable, epoch))
    return found


@dataclass(frozen=True, eq=False)
class Difference:
    """The rows that a relation has more, or with negative counts fewer: words int64[W, n] of `schema`,
    sorted, and counts int64[n], none 0. `epoch` is the newest on the second timeline; `texts` keeps the
    texts."""

    schema: Schema
    words: np.ndarray
    counts: np.ndarray
    epoch: int
    texts: object

    @property
    def whole(self) -> Schema:
        """The schema with a last column for the counts. Raises Invalid if it has one of that name."""
        return with_columns(self.schema, Column(DIFF, BIGINT, nullable=False), of="what is compared")

    @property
    def rows(self) -> Rows:
        """The rows of the whole schema, each once."""
        return np.vstack((self.words, self.counts)), np.ones(len(self.counts), np.int64)


def difference(name: str, before: Timeline, after: Timeline) -> Difference:
    """What a relation has more or less on `after` than on `before`, as they are now.

    Raises NotFound or Conflict if the relation is not in both, or cannot be read in one of them.
    """
    ours, theirs = lineage(before), lineage(after)
    _in_step(ours, theirs)
    _in_step(theirs, ours)
    schema = _common(name, ours[0], theirs[0]).schema
    for seen in (ours[0], theirs[0]):
        check_health(seen.readable.definition(name), seen.snapshot, seen.epoch)
    place, other = _fork(ours, theirs)
    parts = _since_parting(name, theirs[:other], 1) + _since_parting(name, ours[:place], -1)
    common = ours[place]
    if common.epoch != theirs[other].epoch:
        parts.append(common.changes(name, common.epoch, theirs[other].epoch))
    words = np.concatenate([np.empty((len(schema), 0), np.int64), *(rows[0] for rows in parts)], axis=1)
    counts = np.concatenate([np.empty(0, np.int64), *(rows[1] for rows in parts)])
    texts = ours[0].snapshot.texts, theirs[0].snapshot.texts
    return Difference(schema, *sum_rows(words, counts), theirs[0].epoch, texts)


def _in_step(parent: list[SeenTimeline], child: list[SeenTimeline]) -> None:
    """Lets the parent of a live branch be as it was at the epoch that the branch has by now."""
    branch, seen = child[0].timeline, parent[0]
    if isinstance(branch, BranchTimeline) and branch.record.live and branch.parent is seen.timeline:
        parent[0] = replace(seen, epoch=branch.followed.parent_at(child[0].epoch))


def _common(name: str, ours: SeenTimeline, theirs: SeenTimeline) -> Definition:
    """The relation, which both have. Raises NotFound or Conflict."""
    one, other = (seen.readable.known.all.get(name) for seen in (ours, theirs))
    if one is None and other is None:
        raise NotFound(f"there is no table or view called {name}")
    if one is None or other is None:
        where = theirs if other is None else ours
        raise Conflict(
            f"{name} is not on {shown(where.timeline)}",
            "a branch has what there was when it was made, and the views that were made on it",
            code="not_on_branch",
        )
    if not ours.readable.known.means_same(name, theirs.readable.known):
        raise Conflict(
            f"{name} is one thing on {shown(ours.timeline)} and another on {shown(theirs.timeline)}",
            "give one of them another name",
            code="not_on_branch",
        )
    return one


def shown(timeline: Timeline) -> str:
    """What messages call a timeline."""
    return f"branch {timeline.name}" if timeline.name else "main"


def _fork(ours: Sequence[SeenTimeline], theirs: Sequence[SeenTimeline]) -> tuple[int, int]:
    """The places in both lineages of the newest timeline that is in both."""
    places = {id(seen.timeline): place for place, seen in enumerate(ours)}
    return next(
        (places[id(seen.timeline)], place) for place, seen in enumerate(theirs) if id(seen.timeline) in places
    )


def _since_parting(name: str, own: Sequence[SeenTimeline], sign: int) -> list[Rows]:
    """What a relation has changed on the timelines of a lineage before the common one."""
    found = []
    for seen in own:
        assert isinstance(seen.timeline, BranchTimeline)
        words, diffs = seen.changes(name, seen.timeline.record.beginning, seen.epoch)
        found.append((words, sign * diffs))
    return found
