"""Random dataflows at times of several coordinates against the definition.

At every time t the output is what the plan gives, from scratch, for the sum of the inputs' differences
at times s ≤ t: whether changes come all at once or by any sequence of frontiers, with a view made
before or in the middle. FRESHET_DATAFLOWS sets the number of cases.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter

import pytest

from engine.errors import LimitExceeded
from engine.kernels.words import NULL
from engine.plan.nodes import Node
from engine.runtime.engine import Engine, Options
from engine.state.packed_times import Frontier, Order
from tests.engine.harness import Bag, delta
from tests.engine.plans import SOURCES, PlanMaker
from tests.oracle.interpreter import Oracle, OracleError
from tests.seeds import seeds

CASES = int(os.environ.get("FRESHET_DATAFLOWS", "200"))
GROUP = 100
SIDE = 3
VALUES = 4

Change = tuple[tuple[int, ...], tuple[int, ...], int]
"""A row, its time, and the diff."""


def random_changes(rng: random.Random, order: Order) -> dict[str, list[Change]]:
    """Rows that come at any time, some of which go at a later one."""
    changes: dict[str, list[Change]] = {}
    for source in SOURCES:
        lines = changes[source.name] = []
        for _ in range(rng.randint(2, 7)):
            row = tuple(rng.randrange(VALUES) for _ in source.schema.columns)
            came = tuple(rng.randrange(SIDE) for _ in order.names)
            lines.append((row, came, 1))
            if rng.random() < 0.5:
                lines.append((row, tuple(rng.randrange(c, SIDE) for c in came), -1))
    return changes


def state(changes: list[Change], time: tuple[int, ...]) -> Bag:
    bag: Bag = Counter()
    for row, at, diff in changes:
        if all(a <= t for a, t in zip(at, time, strict=True)):
            bag[row] += diff
    return Counter({row: count for row, count in bag.items() if count})


def random_frontiers(rng: random.Random, order: Order, steps: int) -> list[Frontier]:
    """Frontiers by which more and more times are complete, in the end all."""
    grid = list(itertools.product(range(SIDE + 1), repeat=len(order.names)))
    inside = list(itertools.product(range(SIDE), repeat=len(order.names)))
    complete: set[tuple[int, ...]] = set()
    found: list[Frontier] = []
    for step in range(steps):
        for time in inside if step == steps - 1 else rng.sample(inside, rng.randint(1, 3)):
            complete |= {below for below in inside if all(b <= t for b, t in zip(below, time, strict=True))}
        words = order.frontier(order.pack(time) for time in grid if time not in complete)
        found.append(Frontier(order, words))
    return found


def run(
    plan: Node, order: Order, changes: dict[str, list[Change]], frontiers: list[Frontier], created: int
) -> Engine | None:
    engine = Engine(Options(max_rounds=300), order, first=0)
    for source in SOURCES:
        engine.create_source(source.name, source.schema)
    for index, upper in enumerate(frontiers):
        if index == created:
            engine.create_view("view", plan)
        lower = engine.frontier
        deltas = {}
        for source in SOURCES:
            words = [(row, order.pack(at), diff) for row, at, diff in changes[source.name]]
            now = [w for w in words if upper.is_complete(w[1]) and not lower.is_complete(w[1])]
            deltas[source.name] = delta(len(source.schema), now)
        stage = engine.stage(deltas, upper)
        if stage.failed:
            stage.abort()
            return None
        stage.publish()
    return engine


def check(seed: int) -> bool:
    """False if there was nothing to compare, for a loop of the plan has no fixed point."""
    rng = random.Random(seed)
    order = Order(("version", "epoch", "third")[: rng.choice((2, 2, 3))])
    plan = PlanMaker(rng).plan(rng.choice((1, 2)), 4)
    changes = random_changes(rng, order)
    times = list(itertools.product(range(SIDE), repeat=len(order.names)))
    try:
        expected = {
            time: Oracle({name: state(lines, time) for name, lines in changes.items()}).rows(plan)
            for time in times
        }
    except OracleError:
        return False
    found = []
    for steps in (1, rng.randint(2, 5)):
        frontiers = random_frontiers(rng, order, steps)
        created = rng.randrange(steps)
        try:
            engine = run(plan, order, changes, frontiers, created)
        except LimitExceeded:
            if created == 0:
                raise
            return False  # what has come of a time that is not complete yet may have no fixed point
        assert engine is not None, (seed, plan)
        for time, rows in expected.items():
            words, counts = engine.snapshot.rows("view", order.pack(time))
            lines = [tuple(None if word == NULL else word for word in row) for row in words.T.tolist()]
            bag = Counter(dict(zip(lines, counts.tolist(), strict=True)))
            assert bag == rows, (seed, time, [str(f) for f in frontiers], plan)
        found.append(sorted(engine.snapshot.differences("view").T.tolist()))
    assert found[0] == found[1], (seed, plan)
    return True


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_random_dataflows_at_any_times(first: int) -> None:
    assert sum(check(seed) for seed in seeds(GROUP, first)) > 0.8 * GROUP
