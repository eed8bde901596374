"""Random dataflows with nested loops against the definition, at every epoch, however history is chopped.

The oracle evaluates a plan from scratch at each epoch. The engine gets the same history one
epoch at a time, in random pieces before and after the view is created, and must answer with
the same rows at every epoch and the same differences. FRESHET_DATAFLOWS sets the number of cases.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from engine.plan import Node
from engine.runtime import Engine, Options
from tests.engine.harness import Bag, bag, delta
from tests.engine.plans import SOURCES, PlanMaker
from tests.oracle.interpreter import Oracle, OracleError

CASES = int(os.environ.get("FRESHET_DATAFLOWS", "2000"))
GROUP = 100
EPOCHS = 7
VALUES = 4

Changes = dict[str, list[tuple[tuple[int, ...], int, int]]]


def random_history(rng: random.Random) -> tuple[list[Changes], list[dict[str, Bag]]]:
    """The changes of each epoch, and the sources after it."""
    tables: dict[str, Bag] = {source.name: Counter() for source in SOURCES}
    history: list[Changes] = []
    states: list[dict[str, Bag]] = []
    for epoch in range(1, EPOCHS + 1):
        changes: Changes = {}
        for source in SOURCES:
            rows = tables[source.name]
            lines = changes[source.name] = []
            for _ in range(rng.choice((0, 0, 1, 2, 3))):
                if rows and rng.random() < 0.45:
                    row, diff = rng.choice(sorted(rows)), -1
                else:
                    row, diff = tuple(rng.randrange(VALUES) for _ in source.schema.columns), 1
                rows[row] += diff
                if not rows[row]:
                    del rows[row]
                lines.append((row, epoch, diff))
        history.append(changes)
        states.append({name: Counter(rows) for name, rows in tables.items()})
    return history, states


def run(plan: Node, history: list[Changes], pieces: list[int], created_after: int) -> Engine | None:
    """An engine that gets the history in pieces of so many epochs; None if the view fails."""
    engine = Engine(Options(max_rounds=300))
    for source in SOURCES:
        engine.create_source(source.name, source.schema)
    done = 0
    for index, size in enumerate([*pieces, 0]):
        if index == created_after:
            engine.create_view("view", plan)
        epochs = history[done : done + size]
        done += size
        deltas = {
            source.name: delta(
                len(source.schema), [line for changes in epochs for line in changes[source.name]]
            )
            for source in SOURCES
        }
        stage = engine.stage(deltas, done + 1)
        if stage.failed:
            stage.abort()
            return None
        stage.publish()
    return engine


def check(seed: int) -> None:
    rng = random.Random(seed)
    plan = PlanMaker(rng).plan(rng.choice((1, 2)), 5)
    history, states = random_history(rng)
    try:
        expected = [Oracle(state).rows(plan) for state in states]
    except OracleError:
        return  # no fixed point: nothing to compare
    every = [1] * EPOCHS
    chopped: list[int] = []
    while sum(chopped) < EPOCHS:
        chopped.append(rng.randint(1, EPOCHS - sum(chopped)))
    runs = [(every, 0), (chopped, 0), (chopped, rng.randint(0, len(chopped))), ([EPOCHS], 1)]
    changes = []
    for pieces, created_after in runs:
        engine = run(plan, history, pieces, created_after)
        assert engine is not None, (seed, plan)
        for epoch, rows in enumerate(expected, 1):
            assert bag(engine, "view", epoch) == rows, (seed, pieces, created_after, epoch, plan)
        changes.append(engine.snapshot.changes("view", 0, EPOCHS).tolist())
    assert all(same == changes[0] for same in changes), (seed, plan)


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_random_dataflows(first: int) -> None:
    for seed in range(first, min(first + GROUP, CASES)):
        check(seed)
