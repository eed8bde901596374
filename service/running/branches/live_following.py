"""A live branch follows its parent: each epoch of the parent becomes one of the branch.

A thread of the branch waits for the parent's pulse, reads what its tables have changed, and lets the branch's
own writer make it: the parent's writer has no part in it. What comes together is made together.

The row of a key that the branch has changed itself stays the branch's; with valid time, all rows of the key
do. In a table without a key, what the parent inserts is inserted, and what it deletes is deleted as far as
the branch has it. What was merged of the branch, it has already. Constraints between rows are not judged
here, but when the branch changes rows, and when it is merged; assertions are, and the branch waits while an
epoch would break one. Rows that come too late for a watermark on the branch, which its own rows may have
moved on, are left out, so that windows which are closed there stay as they are.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.errors import EngineError, PassTooLarge
from engine.state.distinct import numbered
from engine.state.snapshot import Snapshot
from service.catalog.branch_log import BranchLog
from service.catalog.branch_records import MergedEpochs
from service.changes.lateness import Lateness
from service.changes.table_changes import Applied
from service.errors import ServiceError, Unavailable
from service.running.branches.followed_epochs import FollowedEpochs
from service.running.branches.own_changes import OwnKeys, possible
from service.running.state import State
from service.running.timeline import T, Timeline
from service.writing.commits import Made

_PAUSE = 0.02
"""Seconds between two batches, so that the branch's commits leave the database to its parent's."""
_AGAIN = 1.0
"""Seconds until what has failed is tried again."""
_TOGETHER = 10_000
"""The most epochs that are made together."""
_log = logging.getLogger("freshet.branches")


class FollowingBranch(Protocol):
    """The branch that follows."""

    name: str
    merges: tuple[MergedEpochs, ...]

    @property
    def parent(self) -> Timeline:
        """What it has parted from."""

    def check_size(self) -> None:
        """Raises Conflict if the branch holds as much as it may."""

    def call(self, job: Callable[[], T]) -> T:
        """Calls a job on the thread of the branch's writer. Blocks."""


@dataclass(frozen=True, eq=False)
class _Stretch:
    """What tables of the parent have changed, int64[W + 2, n] by table, after epoch `since` up to `until`."""

    since: int
    until: int
    deltas: Mapping[str, np.ndarray]


class LiveFollowing:
    """`waits` says what it waits for, if that is not the parent's next epoch."""

    def __init__(
        self, branch: FollowingBranch, state: State, log: BranchLog, followed: FollowedEpochs, beginning: int
    ) -> None:
        self.waits: str | None = None
        self._branch = branch
        self._state = state
        self._log = log
        self._followed = followed
        tables = {name: it for name, it in state.definitions.known.all.items() if not it.is_view}
        self._tables = tables
        self._own = OwnKeys(tables, followed, beginning)
        self._together = _TOGETHER
        self._merging = 0
        self._closed = threading.Event()
        self._beat = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"freshet-branch-{branch.name}")

    def start(self) -> None:
        self._branch.parent.pulse.tell(self._beat)
        self._beat.set()
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread. Blocks."""
        self._branch.parent.pulse.tell_no_more(self._beat)
        self._closed.set()
        self._beat.set()
        if self._thread.ident is not None:
            self._thread.join()

    @contextmanager
    def merging(self) -> Iterator[None]:
        """Inside the context, the branch is merged: what becomes of it at the parent is not followed until it
        is known to be the branch's own."""
        self._merging += 1
        try:
            yield
        finally:
            self._merging -= 1
            self._beat.set()

    # On its thread

    def _run(self) -> None:
        while not self._closed.is_set():
            self._beat.wait(None if self.waits is None else _AGAIN)
            self._beat.clear()
            while not self._closed.is_set() and self._follow():
                self._closed.wait(_PAUSE)

    def _follow(self) -> bool:
        """Follows a stretch of epochs; false if there is none, or if it has to wait."""
        try:
            stretch = self._stretch(self._branch.parent.readable.snapshot)
            if stretch is None:
                return False
            self._branch.check_size()
            self._branch.call(lambda: self._make(stretch))
            self._together = _TOGETHER
            self.waits = None
            return True
        except PassTooLarge as error:
            if self._together > 1:
                self._together = max(1, self._together // 8)
                return True
            self.waits = error.message
        except Unavailable as error:
            if not self._closed.is_set():
                self.waits = error.message
        except (ServiceError, EngineError) as error:
            if self.waits != error.message:
                _log.warning("branch %s does not follow its parent: %s", self._branch.name, error.message)
            self.waits = error.message
        except Exception as error:
            if self.waits is None:
                _log.exception("branch %s does not follow its parent", self._branch.name)
            self.waits = f"{type(error).__name__}: {error}"
        return False

    def _stretch(self, parent: Snapshot) -> _Stretch | None:
        """The next epochs of the parent's snapshot; None if there are none, or if the branch is merged."""
        if self._merging:  # a merge that the snapshot has began before it was taken, or is noted by now
            return None
        since = self._followed.newest
        until = min(parent.upper - 1, since + self._together)
        if until <= since:
            return None
        merges = np.array([it.into for it in self._branch.merges], np.int64)
        deltas = {}
        for name in self._tables:
            delta = parent.changes(name, since, until)
            delta = delta[:, ~np.isin(delta[-2], merges)] if len(merges) else delta
            if delta.shape[1]:
                deltas[name] = delta
        return _Stretch(since, until, deltas)

    # On the thread of the branch's writer

    def _make(self, stretch: _Stretch) -> None:
        """Makes the stretch's epochs."""
        state = self._state
        snapshot = state.engine.snapshot
        self._own.look(snapshot)
        first = snapshot.upper
        last = first + stretch.until - stretch.since - 1
        deltas, late = {}, {}
        for name, delta in stretch.deltas.items():
            delta = self._fitting(name, delta, snapshot)
            is_late = self._is_late(name, delta, snapshot)
            if is_late.any():
                late[name] = np.repeat(delta[:-2, is_late], delta[-1, is_late], axis=1)
            delta = np.ascontiguousarray(delta[:, ~is_late])
            if delta.shape[1]:
                delta[-2] += first - stretch.since - 1
                deltas[name] = delta
        receipt = self._log.following(last, stretch.until)
        changes = sum(int(np.abs(delta[-1]).sum()) for delta in deltas.values())
        state.commits.install(deltas, first, last, Made(changes, (), ((receipt, Applied(last, changes)),)))
        self._followed.add(first, last, stretch.until)
        self._own.passed(last)
        state.epochs.note_late(late)

    def _fitting(self, name: str, delta: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """The part of a table's delta that the branch takes."""
        if self._tables[name].relation.key is not None:
            return self._own.without(name, delta)
        if (delta[-1] > 0).all():
            return delta
        rows, number = numbered(np.ascontiguousarray(delta[:-2]))
        _, counts, places = snapshot.lookup(name, rows)
        start = np.zeros(rows.shape[1], np.int64)
        start[places] = counts
        return possible(delta, start, number)

    def _is_late(self, name: str, delta: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """Which rows of a table's delta come too late for its watermark on the branch, bool[n]."""
        lateness = Lateness.of(self._tables[name].relation, snapshot)
        if lateness is None or not delta.shape[1]:
            return np.zeros(delta.shape[1], np.bool_)
        return lateness.late(delta[:-2], delta[-2] - delta[-2].min(), delta[-1] > 0)
