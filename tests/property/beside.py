"""Views that are built beside an engine while its epochs go on, each step at another time."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.operators.allowance import UNLIMITED, Spending
from engine.plan.nodes import Node
from engine.processes.job_process import outcome_of
from engine.runtime.building import Building
from engine.runtime.engine import Engine
from engine.runtime.execution import ExecutorJob, Outcome
from engine.state.store.directory import StateDirectory
from tests.property.mismatch import departure
from tests.property.unread import unread_words_differ
from tests.property.views import View


class Alike:
    """An executor that does here what a job's process does."""

    def __init__(self, directory: StateDirectory, shards: int) -> None:
        self.directory = directory
        self.shards = shards

    def run(self, job: ExecutorJob) -> Outcome:
        directory = self.directory.prefixed(job.prefix)
        return outcome_of(job, directory, self.shards, lambda operators: Spending(UNLIMITED))


class Beside:
    """Chance decides when each view is computed, by what, and when it catches up and is adopted."""

    def __init__(self, engine: Engine, rng: random.Random) -> None:
        self._engine = engine
        self._rng = rng
        self._begun: list[Building] = []
        self._computed: list[Building] = []
        # An engine of supersteps has files in a directory of its own.
        self._share = 0.7 if type(engine) is Engine else 1.0
        self._scratch = tempfile.TemporaryDirectory()
        self._executor = Alike(StateDirectory(Path(self._scratch.name)), rng.choice((1, 3)))

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *error: object) -> None:
        self._scratch.cleanup()

    def begin(self, views: Sequence[View], plans: Mapping[str, Node]) -> None:
        for view in views:
            with departure("crash", view.name, self._engine.snapshot.upper - 1):
                self._begun.append(self._engine.begin_view(view.name, plans[view.name]))

    def go_on(self) -> None:
        """Do some of what is to be done."""
        for building in [it for it in self._begun if self._rng.random() < 0.7]:
            self._compute(building)
        for building in [it for it in self._computed if self._rng.random() < 0.3]:
            with departure("crash", building.name, building.epoch):
                building.catch_up(self._engine.snapshot)
        for building in [it for it in self._computed if self._rng.random() < 0.6]:
            self._adopt(building)

    def end(self) -> None:
        """Do all that is left."""
        for building in list(self._begun):
            self._compute(building)
        for building in list(self._computed):
            self._adopt(building)

    def _compute(self, building: Building) -> None:
        with departure("crash", building.name, building.epoch), unread_words_differ():
            if self._rng.random() < self._share or not building.compute_on(self._executor):
                building.compute()
        self._begun.remove(building)
        self._computed.append(building)

    def _adopt(self, building: Building) -> None:
        with departure("crash", building.name, building.epoch):
            self._engine.adopt(building)
        self._computed.remove(building)
