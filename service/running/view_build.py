"""One view that is being built: where it is computed, how far it is, and whether it is still wanted."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from engine.errors import BuildCancelled, OverBudget
from engine.operators.allowance import Allowance, Spending
from engine.processes.process_executor import ProcessExecutor, Progress
from engine.runtime.building import Building
from engine.runtime.engine import Engine
from engine.runtime.execution import Executor
from engine.state.store.directory import StateDirectory
from service.definitions.intended_view import IntendedView
from service.settings.settings import Settings

_HERE = Allowance(seconds=0.5, rows=2_000_000, bytes=256 << 20)
"""What a view may use that is built by a thread of the service."""
_LITTLE = 1_000
"""Differences that the writer may read itself when it adopts a view."""
_PASSES = 20
"""Times that a view catches up before the writer takes over, however much is left."""


@dataclass(eq=False)
class EngineBuild:
    """A relation of the engine that is being built. `spark` computes it if it is large and Spark takes it."""

    building: Building
    spark: Executor | None
    settings: Settings
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: ProcessExecutor | Spending | None = None
    _cancelled: bool = False

    @property
    def progress(self) -> Progress:
        """How far the computation is."""
        running = self._running
        return running.progress if isinstance(running, ProcessExecutor) else Progress()

    @property
    def is_wanted(self) -> bool:
        """Whether the view is not dropped while it is built."""
        return not self._cancelled

    def cancel(self) -> None:
        """End the building soon, with BuildCancelled. Any thread may call it."""
        with self._lock:
            self._cancelled = True
            running = self._running
        if isinstance(running, ProcessExecutor):
            running.cancel()
        elif running is not None:
            running.stop()

    def check_wanted(self) -> None:
        """Raise BuildCancelled if nobody wants the view any more."""
        if self._cancelled:
            raise BuildCancelled(f"view {self.building.name} was dropped while it was built")

    # Computing: on a thread of the builds

    def compute(self, directory: StateDirectory, prefix: str, turns: threading.Semaphore) -> None:
        """Compute the view: here if it is small, else by Spark or in a process, when it is its turn.

        The names of new files in the directory begin with the prefix, which the caller has reserved.
        """
        building, settings = self.building, self.settings
        if self.spark is not None and building.compute_on(self.spark, prefix):
            return
        is_small = self.spark is None and building.ground.rows <= settings.build_rows_here
        if is_small and self._compute_here():
            return
        with turns:
            process = ProcessExecutor(
                directory, settings.shards, settings.build_limits, settings.build_seconds
            )
            self._run(process)
            building.compute_on(process, prefix)

    def _compute_here(self) -> bool:
        """Compute the view on this thread; false if it turns out not to be small."""
        spending = Spending(_HERE)
        self._run(spending)
        try:
            self.building.compute(spending)
            return True
        except OverBudget:
            self.building.start_over()
            return False

    def catch_up(self, engine: Engine) -> None:
        """Bring the view to the newest epoch, or so near to it that the writer can do the rest."""
        for _ in range(_PASSES):
            self.check_wanted()
            spending = Spending(self.settings.build_allowance)
            self._run(spending)
            if self.building.catch_up(engine.snapshot, spending) <= _LITTLE:
                return

    def _run(self, running: ProcessExecutor | Spending) -> None:
        with self._lock:
            self._running = running
        self.check_wanted()


@dataclass(eq=False)
class ViewBuild(EngineBuild):
    """A view that is being built."""

    intended: IntendedView = field(kw_only=True)
