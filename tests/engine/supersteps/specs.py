"""Specifications of epochs over the sample tables, for tests of their parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node, Source
from engine.runtime.execution import JobTable
from engine.supersteps.spec import Spec, SuperstepLimits
from planner import plan_query
from tests.planner import samples


def planned(sql: str) -> Node:
    return plan_query(sql, samples.catalog()).plan


def spec(tables: Mapping[str, tuple[int, ...] | None], *views: Node, directory: Path = Path()) -> Spec:
    """An epoch in which the tables, given with their keys, change; two shards and no state."""
    return Spec(
        tables=tuple(JobTable(Source(name, samples.SCHEMAS[name]), key) for name, key in tables.items()),
        views=tuple((f"v{number}", plan) for number, plan in enumerate(views)),
        stored={},
        scanned={},
        epoch=1,
        since=1,
        fresh=False,
        state={},
        texts=(),
        exceptions=(),
        directory=directory / "state",
        scratch=directory / "scratch",
        shards=2,
        max_rounds=100,
        rebuild=Rebuild.AUTO,
        limits=SuperstepLimits(),
    )
