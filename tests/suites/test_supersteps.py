"""The suites' views with every advance computed in supersteps, as in Spark's tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bench.suite.maintained import Maintained
from bench.suite.nexmark import queries as nexmark
from bench.suite.nexmark import schema as events_schema
from bench.suite.nexmark.events import Events
from bench.suite.tpch.queries import QUERIES
from bench.suite.tpch.schema import RELATIONS
from bench.suite.tpch.tables import Business, generate
from engine.runtime.engine import Engine, Stage
from engine.state.store.directory import StateDirectory
from engine.supersteps.spec import SuperstepLimits
from tests.engine.supersteps.mixed import Counting, Here
from tests.seeds import SEED, half


def half_of(queries: Mapping[str, str]) -> dict[str, str]:
    return dict(half(tuple(queries.items())))


class Elsewhere(Engine):
    """An engine that computes all advances in supersteps, over three shards."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        limits = SuperstepLimits(solo=0)
        self.executor = Counting(StateDirectory(path / "state"), path / "scratch", Here(1), 3, limits)

    def stage(self, deltas: Mapping[str, np.ndarray], upper: int) -> Stage:  # type: ignore[override]
        return super().stage(deltas, upper, self.executor)


def test_nexmark(tmp_path: Path) -> None:
    engine, events = Elsewhere(tmp_path), Events(SEED)
    maintained = Maintained(events_schema.RELATIONS, half_of(nexmark.QUERIES), engine)
    maintained.advance(events.side_input(60))
    maintained.advance(events.happen(400))
    maintained.advance(events.alter("bid", 9))
    maintained.advance(events.remove("bid", 9))
    maintained.advance(events.alter("auction", 4))
    maintained.compare(events)
    assert engine.executor.done == 5
    events.close()


def test_tpch(tmp_path: Path) -> None:
    generate(0.002, tmp_path)
    engine, business = Elsewhere(tmp_path), Business(SEED)
    maintained = Maintained(RELATIONS, half_of(QUERIES), engine)
    maintained.advance(business.load(tmp_path))
    maintained.advance(business.place(20))
    maintained.advance(business.cancel(20))
    maintained.advance(business.alter("part", 3))
    maintained.compare(business)
    assert engine.executor.done == 4
    business.close()
