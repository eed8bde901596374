"""A journey: what a request went through, phase after phase, from its head to its answer.

Phases follow each other without gaps: each begins where the one before has ended. The writer makes many
requests together, so it does not know their journeys; it leaves its recent commits behind, and a request
finds the one that has its epoch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

Attributes = Mapping[str, str | int | tuple[str, ...]]
_RECENT = 256
_NAMED = 100
"""The most tables, and the most views, whose names a span has."""


@dataclass(frozen=True)
class Phase:
    """`began` and `ended` are of `time.perf_counter`."""

    name: str
    began: float
    ended: float
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class CommitRecord:
    """How epochs `first` to `last` became visible; the moments are of `time.perf_counter`.

    `taken` is when the writer took them from its queue. `tables` have changed, and `views` have moved.
    """

    first: int
    last: int
    taken: float
    checked: float
    staged: float
    logged: float
    published: float
    changes: int
    tables: tuple[str, ...]
    views: tuple[str, ...]

    def phases(self) -> list[tuple[str, float, Attributes]]:
        """What a request of one of the epochs went through in the writer: names, ends and attributes."""
        step: Attributes = {
            "freshet.epoch.first": self.first,
            "freshet.epoch.last": self.last,
            "freshet.changes": self.changes,
            "freshet.tables": self.tables[:_NAMED],
            "freshet.views": self.views[:_NAMED],
            "freshet.views.count": len(self.views),
        }
        return [
            ("wait for the writer", self.taken, {}),
            ("check", self.checked, {}),
            ("step", self.staged, step),
            ("write the log", self.logged, {}),
            ("publish", self.published, {}),
        ]


class RecentCommits:
    """The writer's last commits. One thread adds, any thread looks."""

    def __init__(self) -> None:
        self._all: deque[CommitRecord] = deque(maxlen=_RECENT)

    def add(self, commit: CommitRecord) -> None:
        self._all.append(commit)

    def of(self, epoch: int) -> CommitRecord | None:
        """The commit that made an epoch, if it is recent."""
        found = (commit for commit in reversed(tuple(self._all)) if commit.first <= epoch <= commit.last)
        return next(found, None)


class Journey:
    """The phases of one request. `parent` has the headers that name the caller's span."""

    def __init__(self, parent: Mapping[str, str]) -> None:
        self.parent = parent
        self.began = time.perf_counter()
        self.offset = time.time_ns() - int(self.began * 1e9)
        """Nanoseconds to add to those of `time.perf_counter` for the time since 1970."""
        self.phases: list[Phase] = []
        self.epoch: int | None = None

    @property
    def ended(self) -> float:
        """When the last phase ended."""
        return self.phases[-1].ended if self.phases else self.began

    def reached(self, name: str, at: float | None = None, attributes: Attributes | None = None) -> None:
        """Notes that a phase ends now, or at another moment, which began where the last one has ended."""
        began = self.ended
        ended = time.perf_counter() if at is None else at
        self.phases.append(Phase(name, began, max(began, ended), attributes or {}))

    def committed(self, epoch: int, commits: RecentCommits) -> None:
        """Notes what the writer did for the request's epoch, unless that was before the request came."""
        self.epoch = epoch
        commit = commits.of(epoch)
        if commit is not None and commit.published >= self.ended:
            for name, ended, attributes in commit.phases():
                self.reached(name, ended, attributes)
