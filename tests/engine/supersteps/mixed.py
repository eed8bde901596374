"""An engine that computes some of its advances and views in supersteps, by chance."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from engine.plan.nodes import Node
from engine.runtime.engine import Engine, Stage
from engine.runtime.execution import ExecutorJob, Outcome
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor, SuperstepTask, Transport
from engine.supersteps.local import run_here
from engine.supersteps.messages import Message
from engine.supersteps.spec import SuperstepLimits
from engine.supersteps.worker import worker_of

SHARDS = (1, 2, 4, 7)


class Mixed(Engine):
    """`share` of what it computes is computed by `executor`."""

    def __init__(self, executor: SuperstepExecutor, rng: random.Random, share: float) -> None:
        super().__init__()
        self._executor = executor
        self._rng = rng
        self._share = share

    def _chosen(self) -> SuperstepExecutor | None:
        return self._executor if self._rng.random() < self._share else None

    def stage(self, deltas: Mapping[str, np.ndarray], upper: int) -> Stage:  # type: ignore[override]
        return super().stage(deltas, upper, self._chosen())

    def create_view(self, name: str, plan: Node) -> None:  # type: ignore[override]
        super().create_view(name, plan, self._chosen())


class Counting(SuperstepExecutor):
    """Counts what it has computed."""

    done = 0

    def run(self, job: ExecutorJob) -> Outcome:
        outcome = super().run(job)
        self.done += 1
        return outcome


class Here:
    """Carries messages within the process, in an order of its own."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def run(self, task: SuperstepTask) -> list[Message]:
        return run_here(worker_of(task.spec), task.shards, self._seed)


def executor_for(seed: int, path: Path, transport: Transport) -> tuple[Counting, random.Random]:
    """An executor whose shards and limits a seed says, and a generator for what else is random."""
    rng = random.Random(f"mixed {seed}")
    limits = SuperstepLimits(solo=rng.choice((0, 0, 3, 1000)), rounds=rng.choice((3, 12)))
    shards = rng.choice(SHARDS)
    return Counting(StateDirectory(path / "state"), path / "scratch", transport, shards, limits), rng
