"""An engine whose epochs Spark computes while its processes are killed, with two references.

One reference computes the same epochs in this process; the other counts the tables' rows in plain Python.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nodes import Node, Source
from engine.runtime.engine import Engine
from engine.runtime.spill import SavedState
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor, Transport
from engine.supersteps.spec import SuperstepLimits
from planner import plan_query
from planner.relation import Relation

TABLES = {
    "edges": Schema((Column("a", BIGINT), Column("b", BIGINT))),
    "nodes": Schema((Column("id", BIGINT), Column("name", TEXT))),
}
VIEWS = {
    "named": "SELECT e.a, n.name FROM edges e JOIN nodes n ON e.b = n.id",
    "degrees": "SELECT a, count(*) AS n, max(b) AS most FROM edges GROUP BY a",
    "names": "SELECT upper(name) AS name, count(*) AS n FROM nodes GROUP BY upper(name)",
    "reach": """
        WITH RECURSIVE reach (a, b) AS (
            SELECT a, b FROM edges WHERE a < 100
            UNION SELECT reach.a, edges.b FROM reach JOIN edges ON reach.b = edges.a
        )
        SELECT a, b FROM reach
    """,
}
LAYERS, WIDTH = 3, 100
"""Edges go from one layer to the next, so the recursion takes as many rounds as there are layers."""
LARGE = 10_000
"""Rows of a large epoch: enough for shards to keep their part in files."""

Row = tuple[object, ...]
Changes = Mapping[str, list[tuple[Row, int]]]


class History:
    """Random epochs, and the contents of the tables after them."""

    def __init__(self, rng: random.Random) -> None:
        self.held: dict[str, Counter[Row]] = {name: Counter() for name in TABLES}
        self._rng = rng

    def epoch(self) -> Changes:
        """Inserts into both tables, and deletes a tenth of their rows."""
        rng = self._rng
        rows = {"edges": 60, "nodes": LARGE if rng.random() < 0.3 else 40}
        changes: dict[str, list[tuple[Row, int]]] = {}
        for name, count in rows.items():
            held = sorted(self.held[name].elements(), key=repr)
            gone = rng.sample(held, len(held) // 10)
            new = [self._row(name) for _ in range(count)]
            self.held[name].subtract(gone)
            self.held[name].update(new)
            self.held[name] = +self.held[name]
            changes[name] = [(row, -1) for row in gone] + [(row, 1) for row in new]
        return changes

    def _row(self, name: str) -> Row:
        rng = self._rng
        if name == "edges":
            layer = rng.randrange(LAYERS)
            return WIDTH * layer + rng.randrange(WIDTH), WIDTH * (layer + 1) + rng.randrange(WIDTH)
        return rng.randrange(WIDTH * (LAYERS + 1)), f"node {rng.randrange(3 * LARGE)}"


@dataclass
class Trial:
    """The engine and its two references, and the files of the engine."""

    directory: Path
    transport: Transport
    rng: random.Random
    shards: int = 2

    def __post_init__(self) -> None:
        self.state = StateDirectory(self.directory / "state")
        self.scratch = self.directory / "scratch"
        limits = SuperstepLimits(solo=0)
        self.executor = SuperstepExecutor(self.state, self.scratch, self.transport, self.shards, limits)
        self.history = History(self.rng)
        self.plans = dict(_plans())
        self.engine, self.other = self._made(), self._made()

    def _made(self) -> Engine:
        engine = Engine()
        for name, schema in TABLES.items():
            engine.create_source(name, schema)
        for name, plan in self.plans.items():
            engine.create_view(name, plan)
        return engine

    def run(self, faults: AbstractContextManager[None]) -> None:
        """Computes one more epoch on Spark, with faults."""
        changes = self.history.epoch()
        self.advance(self.other, changes, None)
        with faults:
            self.advance(self.engine, changes, self.executor)
        self.compare()
        assert not list(self.scratch.glob("*"))

    def advance(self, engine: Engine, changes: Changes, executor: SuperstepExecutor | None) -> None:
        upper = engine.snapshot.upper
        deltas = {name: _delta(engine, name, lines, upper) for name, lines in changes.items()}
        stage = engine.stage(deltas, upper + 1, executor)
        assert not stage.failed
        assert (stage.manifest is None) == (executor is None), stage.declined
        stage.publish()

    def holds(self) -> tuple[object, ...]:
        """Everything that can be read from the engine."""
        snapshot = self.engine.snapshot
        names = (*TABLES, *VIEWS)
        return snapshot.upper, [snapshot.changes(name, 0, snapshot.upper - 1).tolist() for name in names]

    def compare(self, engine: Engine | None = None) -> None:
        """Raises AssertionError if a table or a view is wrong."""
        engine = engine or self.engine
        upper = self.other.snapshot.upper
        assert engine.snapshot.upper == upper
        for name, schema in TABLES.items():
            words, counts = engine.snapshot.rows(name)
            rows = decode_rows(words, schema, engine.dictionary)
            assert dict(zip(map(tuple, rows), counts.tolist(), strict=True)) == self.history.held[name], name
        for name in (*TABLES, *VIEWS):
            expected = self.other.snapshot.changes(name, 0, upper - 1)
            assert np.array_equal(engine.snapshot.changes(name, 0, upper - 1), expected), (name, upper)

    def end(self) -> int:
        """Sweeps files of lost attempts and checks that the rest is the state. Returns the number swept."""
        manifest = self.engine.spill(self.state, self.shards)
        swept = self.state.sweep(set(manifest.names()))
        assert not list(self.scratch.glob("*"))
        assert {path.name for path in self.state.path.iterdir()} == set(manifest.names())
        saved = SavedState(manifest, self.state)
        again = Engine()
        again.resume(saved)
        for name, schema in TABLES.items():
            again.create_source(name, schema, state=saved)
        for name, plan in self.plans.items():
            assert again.restore_view(name, plan, saved), name
        self.compare(again)
        return swept


def _plans() -> Iterator[tuple[str, Node]]:
    catalog = {name: Relation(name, schema, Source(name, schema), None) for name, schema in TABLES.items()}
    for name, sql in VIEWS.items():
        yield name, plan_query(sql, catalog).plan


def _delta(engine: Engine, name: str, lines: list[tuple[Row, int]], epoch: int) -> np.ndarray:
    words = encode_rows([row for row, _ in lines], TABLES[name], engine.dictionary)
    times = np.array([[epoch] * len(lines), [diff for _, diff in lines]], np.int64)
    return np.ascontiguousarray(np.concatenate((words, times)))
