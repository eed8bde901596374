"""Specifications of epochs over the sample tables, for tests of their parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node, Source
from engine.runtime.execution import ExecutorJob, JobTable
from engine.supersteps.spec import Spec
from planner import plan_query
from tests.planner import samples


def planned(sql: str) -> Node:
    return plan_query(sql, samples.catalog()).plan


def spec(tables: Mapping[str, tuple[int, ...] | None], *views: Node, directory: Path = Path()) -> Spec:
    """An epoch in which the tables, given with their keys, change; two shards and no state."""
    job = ExecutorJob(
        name="test",
        tables=tuple(JobTable(Source(name, samples.SCHEMAS[name]), key) for name, key in tables.items()),
        views=tuple((f"v{number}", plan) for number, plan in enumerate(views)),
        epoch=1,
        since=1,
        state={},
        texts=(),
        exceptions=(),
        max_rounds=100,
        rebuild=Rebuild.AUTO,
    )
    return Spec(job, directory / "state", directory / "scratch", shards=2)
