"""The clock of views that read the time: the time of each epoch, and when the next epoch is due.

An epoch's time is the time of its commit; the catalog keeps it as long as the epoch can be read. While a
view reads the time, the engine has the times as a source. The clock makes that source from the catalog when
the first such view is created and when the service starts, so the log holds no times. Without such a view
there is no source, and no epoch is ever due.

An epoch is due when a view changes by time alone, but no sooner than the configured interval after the last.
The writer's thread owns the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from engine.plan.clocked import CLOCK
from engine.plan.nodes import Node, sources_of
from engine.runtime.engine import FIRST_EPOCH, Engine, Snapshot
from engine.runtime.spill import SavedState
from service.catalog.branch_log import BranchLog
from service.catalog.catalog import Catalog

Time = Callable[[], int]
"""Microseconds since 1970, UTC."""


def system_time() -> int:
    """This machine's time, in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


MOST_PATIENCE = 86_400.0
"""The longest time to wait before looking again, in seconds."""


class Clock:
    def __init__(
        self,
        engine: Engine,
        catalog: Catalog | BranchLog,
        interval: int,
        time: Time = system_time,
        *,
        stands_still: bool = False,
    ) -> None:
        """`interval`: the least time between two epochs that are due to time alone, in microseconds. On a
        clock that `stands_still`, none is due: time goes on with the changes."""
        self._engine = engine
        self._catalog = catalog
        self._interval = interval
        self._time = time
        self._stands_still = stands_still
        self._newest = 0
        self._shown: int | None = None
        self._tried = 0
        self._due: tuple[Snapshot, int | None] | None = None
        self._is_new = False

    def now(self) -> int:
        """The time, which never goes back."""
        self._newest = max(self._time(), self._newest)
        return self._newest

    @property
    def newest(self) -> int:
        """The last time that `now` has returned."""
        return self._newest

    @property
    def is_running(self) -> bool:
        """Whether a view may read the time."""
        return CLOCK.name in self._engine.snapshot.relations

    # Views

    def start_for(self, plan: Node, saved: SavedState | None = None) -> None:
        """Gives the engine the times of epochs if the plan reads them: the saved ones, or the catalog's."""
        if self.is_running or CLOCK not in sources_of(plan):
            return
        if saved is not None and saved.has_source(CLOCK.name):
            self._engine.create_source(CLOCK.name, CLOCK.schema, state=saved)
            self._go_on()
            return
        times = [(first, at) for first, at in self._catalog.times() if first < self._engine.snapshot.upper]
        since = times[0][0] if times and times[0][0] > FIRST_EPOCH else 0
        self._engine.create_source(CLOCK.name, CLOCK.schema, kept=(self._delta(times), since))
        self._is_new = True

    def go_on(self, newest: int) -> None:
        """Continues in an engine that has the times already, after an epoch with time `newest`."""
        self._newest = newest
        if self.is_running:
            self._go_on()

    def _go_on(self) -> None:
        """Continues after the time that the engine shows."""
        words, _ = self._engine.snapshot.rows(CLOCK.name)
        self._shown = int(words[0, -1]) if words.size else None

    def note_reader(self) -> None:
        """Let epochs be due: a view that `start_for` was called for is maintained now."""
        self._is_new = False

    def stop_unless_read(self) -> None:
        """Drops the source of times if no view reads it."""
        if self.is_running and not self._engine.is_read(CLOCK.name):
            self._engine.drop_source(CLOCK.name)
            self._shown = None
            self._due = None

    # Epochs

    def with_time(self, deltas: dict[str, np.ndarray], epoch: int, at: int) -> dict[str, np.ndarray]:
        """The deltas of the epochs from `epoch` on, with the clock's delta for their time `at`."""
        if not self.is_running or at == self._shown:
            return deltas
        return {**deltas, CLOCK.name: _steps([(epoch, at)], self._shown)}

    def showed(self, at: int) -> None:
        """Records that epochs with the time `at` were published."""
        if self.is_running:
            self._shown = at

    def resume(self, newest: int) -> None:
        """Continues after an epoch with this time."""
        self._newest = newest

    def replayed(self) -> dict[str, np.ndarray]:
        """The clock's delta for those epochs of the catalog that the engine does not have yet."""
        if not self.is_running:
            return {}
        upper = self._engine.snapshot.upper
        return {CLOCK.name: self._delta((first, at) for first, at in self._catalog.times(upper))}

    def _delta(self, times: Iterable[tuple[int, int]]) -> np.ndarray:
        """The clock's delta for epochs, given with their times, after what it has shown so far."""
        steps = list(times)
        delta = _steps(steps, self._shown)
        if steps:
            self._shown = steps[-1][1]
        return delta

    def forget(self, before: int) -> None:
        """Merges the epochs before `before`, so that they can no longer be told apart."""
        if self.is_running:
            self._engine.forget(CLOCK.name, before, at_once=False)

    # Time

    def patience(self) -> float | None:
        """Seconds until an epoch is due; 0 if one is due now, None if none ever will be."""
        if not self.is_running or self._is_new or self._stands_still:
            return None
        snapshot = self._engine.snapshot
        if self._due is None or self._due[0] is not snapshot:
            self._due = (snapshot, None if self._shown is None else self._engine.due(self._shown))
        moment = self._tried if self._shown is None else self._due[1]
        if moment is None:
            return None
        earliest = max(self._shown or 0, self._tried) + self._interval
        return min(max(0, max(moment, earliest) - self._time()) / 1_000_000, MOST_PATIENCE)

    def tried(self) -> None:
        """Records that a due epoch was tried. If it failed, the next attempt waits an interval."""
        self._tried = self._time()


def _steps(times: Iterable[tuple[int, int]], shown: int | None) -> np.ndarray:
    """A delta of the clock: at each epoch the last time shown, `shown` at first, gives way to the epoch's."""
    lines: list[tuple[int, int, int]] = []
    for epoch, at in times:
        if at == shown:
            continue
        if shown is not None:
            lines.append((shown, epoch, -1))
        lines.append((at, epoch, 1))
        shown = at
    return np.ascontiguousarray(np.array(lines, np.int64).reshape(-1, 3).T)
