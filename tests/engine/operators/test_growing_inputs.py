"""Inputs that only grow: rows that can never come first again are forgotten, and no answer changes."""

from __future__ import annotations

import random
from collections import Counter
from unittest.mock import patch

import pytest

from engine.operators import topk
from engine.operators.topk import OrderedArrangement
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    Negate,
    Node,
    Ordering,
    Reduce,
    Source,
    Threshold,
    TopK,
    project,
)
from engine.plan.nodes import antijoin as without
from engine.runtime.engine import Engine
from engine.runtime.forking import forked
from engine.runtime.options import DEFAULTS
from engine.schema import BIGINT
from tests.engine.harness import Bag, apply, bag, insert, schema
from tests.engine.histories import EPOCHS, VALUES, Changes, check_history
from tests.seeds import each_seed, few

GROWN = Source("grown", schema(3), append_only=True)
OTHER = Source("other", schema(2), append_only=True)
FREE = Source("free", schema(2))


def best(input: Node, function: Function = Function.MIN, keys: tuple[int, ...] = (0,)) -> Reduce:
    return Reduce(
        input, keys, (AggregateSpec(function, 1, BIGINT), AggregateSpec(Function.COUNT, None, BIGINT))
    )


PLANS = {
    "least": best(GROWN),
    "greatest of all": best(GROWN, Function.MAX, ()),
    "first two": TopK(GROWN, (0,), (Ordering(2), Ordering(1, descending=True)), 2),
    "third and fourth": TopK(GROWN, (), (Ordering(1),), 2, offset=2),
    "behind the first": TopK(GROWN, (0,), (Ordering(1),), None, offset=1),
    "of a join": best(project(Join(GROWN, OTHER, (0,), (0,)), (1, 4))),
    "of a union of distinct rows": TopK(
        Concat((Threshold(project(GROWN, (0, 1)), Clamp.DISTINCT), OTHER)), (0,), (Ordering(1),), 1
    ),
    "first of the least": TopK(best(GROWN), (), (Ordering(1),), 2),
}


def grown(rng: random.Random) -> tuple[list[Changes], list[dict[str, Bag]]]:
    """Random new rows of both sources, and the sources after each epoch."""
    tables: dict[str, Bag] = {GROWN.name: Counter(), OTHER.name: Counter()}
    history: list[Changes] = []
    states: list[dict[str, Bag]] = []
    for epoch in range(1, EPOCHS + 1):
        changes: Changes = {}
        for it in (GROWN, OTHER):
            rows = [tuple(rng.randrange(VALUES) for _ in it.schema.columns) for _ in range(rng.randrange(5))]
            tables[it.name].update(rows)
            changes[it.name] = [(row, epoch, 1) for row in rows]
        history.append(changes)
        states.append({name: Counter(rows) for name, rows in tables.items()})
    return history, states


@pytest.mark.parametrize("name", PLANS)
@each_seed(few(6))
def test_answers_do_not_change(name: str, seed: int) -> None:
    rng = random.Random(seed)
    with patch.object(topk, "AT_ONCE", 0):
        assert check_history(PLANS[name], (GROWN, OTHER), *grown(rng), rng, seed)


def held(engine: Engine) -> list[int]:
    """The rows of each trace in order."""
    operators = engine._dataflow.operators.values()
    return [operator.trace.rows for operator in operators if isinstance(operator, OrderedArrangement)]


@pytest.mark.parametrize("size", [1, 40, 3000])
def test_few_rows_are_kept(size: int) -> None:
    rng = random.Random(size)
    engine = Engine()
    engine.create_source(GROWN.name, GROWN.schema)
    for name in ("least", "first two"):
        engine.create_view(name, PLANS[name])
    for _ in range(3000 // size):
        insert(engine, GROWN.name, *((rng.randrange(4), rng.randrange(10**6), 0) for _ in range(size)))
    assert len(bag(engine, GROWN.name)) > 2900
    assert all(kept <= 2 * 8 + topk.AT_ONCE for kept in held(engine))
    least = {row[0]: row[1] for row in bag(engine, "least")}
    assert least == {key: min(b for a, b, _ in bag(engine, GROWN.name) if a == key) for key in range(4)}


def test_inputs_that_lose_rows_keep_all() -> None:
    held_back = [
        best(FREE),
        best(project(Join(GROWN, FREE, (0,), (0,)), (0, 1))),
        best(without(project(GROWN, (0, 1)), project(OTHER, (0,)), (0,))),
        TopK(Concat((OTHER, Negate(OTHER))), (), (Ordering(0),), 1),
        TopK(best(GROWN), (), (Ordering(1),), 2),
    ]
    assert [node.kept for node in held_back] == [None] * len(held_back)
    assert [node.kept for node in PLANS.values()] == [1, 1, 2, 4, 1, 1, 1, None]


@each_seed(few(5))
def test_forks_of_earlier_epochs_know_what_was_first_then(seed: int) -> None:
    rng = random.Random(seed)
    engine = Engine()
    engine.create_source(GROWN.name, GROWN.schema)
    plans = {name: PLANS[name] for name in ("least", "first two", "third and fourth")}
    for name, plan in plans.items():
        engine.create_view(name, plan)
    for _ in range(40):
        rows = [(rng.randrange(4), rng.randrange(100), rng.randrange(3)) for _ in range(10)]
        apply(engine, {GROWN.name: [(row, 1) for row in rows]})
    newest = engine.snapshot.upper - 1
    for epoch in (newest, newest - 1, newest - 20):
        copy = forked(engine.fork([GROWN.name], plans, epoch), 10**12, DEFAULTS)
        assert all(bag(copy, name) == bag(engine, name, epoch) for name in (GROWN.name, *plans))
        insert(copy, GROWN.name, (0, -1, 0), (3, 50, 1))
        again = Engine()
        again.create_source(GROWN.name, GROWN.schema)
        for name, plan in plans.items():
            again.create_view(name, plan)
        apply(again, {GROWN.name: list(bag(copy, GROWN.name).items())})
        assert all(bag(copy, name) == bag(again, name) for name in plans)
