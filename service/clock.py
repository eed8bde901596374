"""The clock of views that ask for the time: which time each epoch has, and when the next one is due.

An epoch's time is that of its commit, in the catalog as long as the epoch can be read. The engine has it as a
source while a view reads it, made from the catalog's times when the first such view comes, or when the
service starts; so nothing of it is in the log. Without such views there is no source and nothing to wait for.

An epoch is due when a view changes by time alone, and no sooner than the setting's interval after the last.
It belongs to the writer's thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from engine.plan.clocked import CLOCK
from engine.plan.nodes import Node, sources_of
from engine.runtime.engine import FIRST_EPOCH, Engine, Snapshot
from engine.runtime.spill import SavedState
from service.catalog.catalog import Catalog

Time = Callable[[], int]
"""Microseconds since 1970, UTC."""


def system_time() -> int:
    """Microseconds since 1970, UTC, as this machine has it."""
    return time.time_ns() // 1000


MOST_PATIENCE = 86_400.0
"""Seconds to wait at most before looking again."""


class Clock:
    def __init__(self, engine: Engine, catalog: Catalog, interval: int, time: Time = system_time) -> None:
        """`interval`: microseconds from one epoch to the next, at least, if time alone makes it."""
        self._engine = engine
        self._catalog = catalog
        self._interval = interval
        self._time = time
        self._newest = 0
        self._shown: int | None = None
        self._tried = 0
        self._due: tuple[Snapshot, int | None] | None = None

    def now(self) -> int:
        """The time, never less than before."""
        self._newest = max(self._time(), self._newest)
        return self._newest

    @property
    def is_running(self) -> bool:
        """Whether a view may ask for the time."""
        return CLOCK.name in self._engine.snapshot.relations

    # Views

    def start_for(self, plan: Node, saved: SavedState | None = None) -> None:
        """Let the engine have the times of epochs, if the plan reads them: those saved, or the catalog's."""
        if self.is_running or CLOCK not in sources_of(plan):
            return
        if saved is not None and saved.has_source(CLOCK.name):
            self._engine.create_source(CLOCK.name, CLOCK.schema, state=saved)
            words, _ = self._engine.snapshot.rows(CLOCK.name)
            self._shown = int(words[0, -1]) if words.size else None
            return
        times = [(first, at) for first, at in self._catalog.times() if first < self._engine.snapshot.upper]
        self._engine.create_source(CLOCK.name, CLOCK.schema, past=self._delta(times))
        if times and times[0][0] > FIRST_EPOCH:
            self._engine.forget(CLOCK.name, times[0][0])

    def stop_unless_read(self) -> None:
        """Let go of the times where no view asks for them."""
        if self.is_running and not self._engine.is_read(CLOCK.name):
            self._engine.drop_source(CLOCK.name)
            self._shown = None

    # Epochs

    def with_time(self, deltas: dict[str, np.ndarray], epoch: int, at: int) -> dict[str, np.ndarray]:
        """The deltas of epochs from `epoch` on, of which `at` is the time, with the clock's."""
        if not self.is_running or at == self._shown:
            return deltas
        return {**deltas, CLOCK.name: _steps([(epoch, at)], self._shown)}

    def showed(self, at: int) -> None:
        """Epochs of the time `at` have been published."""
        if self.is_running:
            self._shown = at

    def resume(self, newest: int) -> None:
        """Go on after an epoch of this time."""
        self._newest = newest

    def replayed(self) -> dict[str, np.ndarray]:
        """The clock's delta for the epochs of the catalog that the engine does not have yet."""
        if not self.is_running:
            return {}
        upper = self._engine.snapshot.upper
        return {CLOCK.name: self._delta((first, at) for first, at in self._catalog.times() if first >= upper)}

    def _delta(self, times: Iterable[tuple[int, int]]) -> np.ndarray:
        """What the clock shows at epochs, each given with its time, after what it has shown so far."""
        steps = list(times)
        delta = _steps(steps, self._shown)
        if steps:
            self._shown = steps[-1][1]
        return delta

    def forget(self, before: int) -> None:
        """No longer tell the epochs before `before` apart."""
        if self.is_running:
            self._engine.forget(CLOCK.name, before, at_once=False)

    # Time

    def patience(self) -> float | None:
        """Seconds until an epoch is due; 0 if one is, None if none will be."""
        if not self.is_running:
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
        """An epoch was due and has been tried: if it failed, the next attempt has time."""
        self._tried = self._time()


def _steps(times: Iterable[tuple[int, int]], shown: int | None) -> np.ndarray:
    """A delta of the clock for times that follow `shown`, at their epochs."""
    lines: list[tuple[int, int, int]] = []
    for epoch, at in times:
        if at == shown:
            continue
        if shown is not None:
            lines.append((shown, epoch, -1))
        lines.append((at, epoch, 1))
        shown = at
    return np.ascontiguousarray(np.array(lines, np.int64).reshape(-1, 3).T)
