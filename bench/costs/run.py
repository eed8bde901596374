"""Views are estimated, built as the service builds them, measured, and dropped; one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.costs.subjects import Subject
from engine.costs.estimating import ALLOWANCE, EstimateLimits, view_cost
from engine.costs.view_cost import ViewCost
from engine.errors import EngineError
from engine.kernels.parallel import threads
from engine.operators.allowance import Spending
from engine.plan.nodes import Node
from engine.state.store.directory import StateDirectory
from planner import plan_query
from planner.errors import PlannerError
from service.running.view_build import EngineBuild
from service.settings.settings import Settings

_FACTOR = 2.0
_LEAST_BYTES, _LEAST_SECONDS = 4_096, 0.005
"""What is less than this counts as this much: nobody asks for a view whether it takes one page or two."""


@dataclass(frozen=True)
class Foretold:
    """A view: what it was estimated to cost, what it cost, and the seconds that the estimate took. `refusal`
    is the reason of one that cannot be built."""

    suite: str
    name: str
    seconds: float = 0.0
    bytes: float = 0.0
    rows: float = 0.0
    true_seconds: float = 0.0
    true_bytes: float = 0.0
    true_rows: float = 0.0
    took: float = 0.0
    is_least: bool = False
    refusal: str = ""

    @property
    def time_ratio(self) -> float:
        return max(self.seconds, _LEAST_SECONDS) / max(self.true_seconds, _LEAST_SECONDS)

    @property
    def memory_ratio(self) -> float:
        return max(self.bytes, _LEAST_BYTES) / max(self.true_bytes, _LEAST_BYTES)


def is_near(ratio: float) -> bool:
    """Whether an estimate is within a factor of two."""
    return 1 / _FACTOR <= ratio <= _FACTOR


def run(subject: Subject, shown: Callable[[Foretold], None]) -> list[Foretold]:
    """Estimate and build every query of a suite. Tables lie in files, as after a checkpoint."""
    found = []
    with TemporaryDirectory(prefix="freshet-costs-") as place:
        settings = Settings(data=Path(place), spark="never")
        threads.use(settings.kernel_threads)
        directory = StateDirectory(Path(place) / "state")
        subject.engine.spill(directory, settings.shards)
        for one in _each(subject, settings, directory):
            shown(one)
            found.append(one)
    return found


def _each(subject: Subject, settings: Settings, directory: StateDirectory) -> Iterator[Foretold]:
    for name, sql in subject.queries.items():
        try:
            plan = plan_query(sql, subject.relations, subject.dialect).plan
            start = time.perf_counter()
            cost = _estimated(subject, plan, settings)
            took = time.perf_counter() - start
            yield _built(subject, name, plan, settings, directory, cost, took)
        except (PlannerError, EngineError) as error:
            yield Foretold(subject.name, name, refusal=error.message)


def _estimated(subject: Subject, plan: Node, settings: Settings) -> ViewCost:
    engine = subject.engine
    limits = EstimateLimits(rows_here=settings.build_rows_here)
    parts = engine.snapshot, engine.dictionary, settings.max_rounds, engine.sharing
    return view_cost(plan, *parts, Spending(ALLOWANCE), limits)


def _built(
    subject: Subject,
    name: str,
    plan: Node,
    settings: Settings,
    directory: StateDirectory,
    cost: ViewCost,
    took: float,
) -> Foretold:
    engine = subject.engine
    before, start = _bytes(subject), time.perf_counter()
    building = engine.begin_view(name, plan)
    with directory.reserving(building.files()) as prefix:
        EngineBuild(building, None, settings).compute(directory, prefix, threading.Semaphore())
        engine.adopt(building)
    seconds = time.perf_counter() - start
    bytes, rows = _bytes(subject) - before, engine.snapshot.relations[name].size
    engine.drop_view(name)
    directory.sweep(engine.files())
    return Foretold(
        subject.name,
        name,
        cost.build.total,
        cost.memory,
        cost.rows,
        seconds,
        bytes,
        rows,
        took,
        cost.is_least,
    )


def _bytes(subject: Subject) -> int:
    held = subject.engine.held()
    return held.history + held.traces + held.mapped
