"""The engine as a workload drives it: sources that keep no history, views planned from SQL."""

from __future__ import annotations

import time

import numpy as np

from bench.binary import binary
from bench.workloads.base import Deltas, Workload
from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Source
from engine.runtime.engine import Engine, Options
from engine.runtime.execution import Executor
from planner import plan_query
from planner.relation import Relation


class Failed(Exception):
    """A view failed."""


class Subject:
    """An engine with the workload's sources and views. `epoch` is the epoch of the next change."""

    def __init__(self, workload: Workload, rebuild: Rebuild = Rebuild.AUTO) -> None:
        self._engine = Engine(Options(rebuild=rebuild))
        self.epoch = self._engine.snapshot.upper
        catalog = {}
        for name, schema in workload.schemas.items():
            self._engine.create_source(name, schema, keep=False)
            catalog[name] = Relation(name, schema, Source(name, schema))
        for view in workload.views:
            if view.plan is not None:
                self._engine.create_view(view.name, view.plan)
                continue
            planned = plan_query(view.sql, catalog)
            plan = binary(planned.plan) if view.binary else planned.plan
            self._engine.create_view(view.name, plan)
            catalog[view.name] = Relation(view.name, planned.schema, plan, is_view=True)

    def advance(self, deltas: Deltas, executor: Executor | None = None) -> int:
        """Apply the deltas as one epoch, visible on return; returns the nanoseconds. An executor computes it,
        or this process. Raises Failed."""
        start = time.perf_counter_ns()
        stage = self._engine.stage(deltas, self.epoch + 1, executor)
        stage.publish()
        took = time.perf_counter_ns() - start
        if stage.failed:
            raise Failed(", ".join(f"{name}: {reason}" for name, reason in stage.failed.items()))
        self.epoch += 1
        return took

    @property
    def rebuilds(self) -> int:
        """How often a recursion of the views was rebuilt."""
        return sum(loop.rebuilt for loop in self._engine.statistics())

    def rows(self, view: str) -> np.ndarray:
        """The view's rows now, int64[columns, rows]; a row with count n comes n times."""
        words, counts = self._engine.snapshot.rows(view)
        return np.repeat(words, counts, axis=1)
