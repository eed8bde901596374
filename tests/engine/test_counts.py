"""Counts and sums of 64 bits: a view that needs more fails, and says so; no other view has a wrong answer.

The referee of the random programs is the oracle, whose counts are Python's.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.errors import CountTooLarge
from engine.kernels.magnitudes import MOST
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Constant,
    Function,
    Join,
    LoopBinding,
    Negate,
    Node,
    OnLimit,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
    project,
)
from engine.runtime.engine import Engine
from engine.schema import BIGINT, DOUBLE, Column, Schema
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor
from engine.supersteps.spec import SuperstepLimits
from tests.engine.harness import Bag, apply, bag, delta, source
from tests.engine.histories import random_history
from tests.engine.plans import SOURCES, PlanMaker
from tests.engine.supersteps.mixed import Here
from tests.oracle.interpreter import Oracle, OracleError
from tests.seeds import each_seed

S, T = source("s", 1), source("t", 1)
SCALES = (1, 1, 2**12, 2**20, 2**31, 2**40, 2**57)


def times(left: Node, right: Node) -> Node:
    """The rows of `left`, as often as there are pairs with rows of `right`."""
    return project(Join(left, right, (), ()), (0,))


def engine_of(*views: tuple[str, Node]) -> Engine:
    engine = Engine()
    for each in (S, T):
        engine.create_source(each.name, each.schema)
    for name, plan in views:
        engine.create_view(name, plan)
    return engine


def failed_by(engine: Engine, **changes: list[tuple[tuple[int, ...], int]]) -> dict[str, str]:
    """The views that changes make fail; they are published."""
    epoch = engine.snapshot.upper
    stage = engine.stage(
        {name: delta(1, [(row, epoch, n) for row, n in rows]) for name, rows in changes.items()}, epoch + 1
    )
    failed = dict(stage.failed)
    stage.publish()
    return failed


def test_a_product_fails_its_own_view_only() -> None:
    engine = engine_of(("product", times(S, T)), ("other", S))
    apply(engine, {"s": [((1,), 2**31)]})
    failed = failed_by(engine, t=[((2,), 2**31)])
    assert list(failed) == ["product"] and "the view's Join" in failed["product"]
    assert bag(engine, "other") == {(1,): 2**31}


def test_counts_add_up_over_epochs_until_one_is_too_large() -> None:
    engine = engine_of(("product", times(S, T)))
    apply(engine, {"t": [((2,), 2**60)]})
    for count in (1, 2, 3):
        apply(engine, {"s": [((1,), 1)]})
        assert bag(engine, "product") == {(1,): count * 2**60}
    assert list(failed_by(engine, s=[((1,), 1)])) == ["product"]


def test_counts_that_come_and_go_do_not_add_up() -> None:
    engine = engine_of(("product", times(S, T)), ("distinct", Threshold(times(S, T), Clamp.DISTINCT)))
    apply(engine, {"t": [((2,), 2**61)]})
    for epoch in range(20):
        apply(engine, {"s": [((1,), -1 if epoch % 2 else 1)]})
    assert bag(engine, "product") == {} and bag(engine, "product", engine.snapshot.upper - 2) == {(1,): 2**61}


def test_many_light_changes_are_looked_at_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(("product", times(S, T)))
    apply(engine, {"t": [((2,), 2**39)]})
    history = next(op for op in engine._dataflow.operators.values() if getattr(op, "name", "") == "product")
    history._light = float(MOST)  # type: ignore[attr-defined]
    apply(engine, {"s": [((1,), 1)]})
    monkeypatch.setattr("engine.operators.counts.MOST", 2**39)
    assert list(failed_by(engine, s=[((1,), 1)])) == ["product"]


def test_a_source_refuses_what_it_cannot_count() -> None:
    engine = engine_of()
    apply(engine, {"s": [((1,), 2**61)]})
    with pytest.raises(CountTooLarge, match="the source"):
        failed_by(engine, s=[((1,), 2**61)])
    assert bag(engine, "s") == {(1,): 2**61}


def test_a_bag_that_doubles_in_each_round_fails() -> None:
    r, two = Variable("r", S.schema), Constant(((1,), (2,)), S.schema)
    doubling = Recursive((LoopBinding("r", Concat((S, times(r, two)))),), "r")
    engine = engine_of(("doubling", doubling))
    failed = failed_by(engine, s=[((1,), 1)])
    assert "the recursion r" in failed["doubling"] and "2^62 times" in failed["doubling"]
    with pytest.raises(CountTooLarge):
        engine.create_view("again", doubling)


@pytest.mark.parametrize("word", [-1, 5, -(2**33), 2**50 + 1])
@pytest.mark.parametrize("copies", [2**10, 2**33, 2**45])
def test_sums_over_many_copies(word: int, copies: int) -> None:
    """A sum is right, an error of its group, or fails its view; it never wraps around."""
    functions = (Function.COUNT, Function.SUM, Function.AVG)
    types = (BIGINT, BIGINT, DOUBLE)
    specs = tuple(AggregateSpec(f, 0, type) for f, type in zip(functions, types, strict=True))
    engine = engine_of(("count", Reduce(S, (), specs[:1])), ("sum", Reduce(S, (), specs[:2])))
    for step in range(1, 5):
        failed = failed_by(engine, s=[((word,), copies)])
        assert bag(engine, "count") == {(step * copies,): 1}
        if failed:
            assert list(failed) == ["sum"] and abs(word * copies) >= 2**62
            return
        total = step * copies * word
        assert bag(engine, "sum") == ({(step * copies, total): 1} if abs(total) < 2**63 else {})


def test_sums_of_floats_over_many_copies() -> None:
    floats = Source("f", Schema((Column("x", DOUBLE, nullable=False),)))
    engine = Engine()
    engine.create_source("f", floats.schema)
    engine.create_view("sum", Reduce(floats, (), (AggregateSpec(Function.SUM, 0, DOUBLE),)))
    engine.create_view("var", Reduce(floats, (), (AggregateSpec(Function.COMOMENT, 0, DOUBLE, other=0),)))
    word = int(np.array(0.1).view(np.int64))
    for step in range(1, 4):
        assert not failed_by(engine, f=[((word,), 2**25)])
        ((found,),) = bag(engine, "sum")
        assert np.array(found).view(np.float64) == step * 2**25 * 0.1
    assert failed_by(engine, f=[((word,), 2**40)]).keys() == {"sum", "var"}


@dataclass
class LargeCounts(PlanMaker):
    """Plans whose operators count and add up; bags in loops too, with a limit of rounds."""

    def plan(self, width: int, budget: int, variables: tuple[Variable, ...] = (), depth: int = 0) -> Node:
        if budget <= 0 or self.rng.random() < 0.1:
            return self._leaf(width, variables)
        makers = [self._join, self._join, self._multijoin, self._concat, self._difference, self._few]
        makers += [self._reduce] * (width == 2) + [self._loop] * (depth < 2)
        return self.rng.choice(makers)(width, budget, variables, depth)

    def _few(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        input = self.plan(width, budget - 1, variables, depth)
        return TopK(input, tuple(range(self.rng.randint(0, width))), (), self.rng.choice((1, 2, 3)), 0)

    def _loop(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        bound = self._variable(width)
        body = self.plan(width, budget - 1, (*variables, bound, bound), depth + 1)
        limit = self.rng.choice((1, 2, 3))
        initial = self.plan(width, budget - 2, variables, depth)
        return Recursive((LoopBinding(bound.name, body, initial),), bound.name, limit, OnLimit.RETURN)

    def _difference(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        left, right = (self.plan(width, budget - 1, variables, depth) for _ in range(2))
        return Threshold(Concat((left, Negate(right))), self.rng.choice(list(Clamp)))


class Watching(Oracle):
    """An oracle that notes the largest count it has met."""

    largest = 0

    def _compute(self, node, variables):  # type: ignore[no-untyped-def]
        found = super()._compute(node, variables)
        self.largest = max(self.largest, *map(abs, found.values()), 0)
        return found


@each_seed(3)
def test_random_programs_with_large_counts(seed: int) -> None:
    outcomes: Counter[str] = Counter()
    for case in range(60):
        outcomes += outcomes_of(random.Random(1000 * seed + case), f"{seed}, {case}")
    assert outcomes.keys() == {"right", "large and right", "failed"}, outcomes


def outcomes_of(rng: random.Random, case: str) -> Counter[str]:
    """What comes of a random view's epochs; no answer may be wrong."""
    plan = LargeCounts(rng).plan(rng.choice((1, 2)), 4)
    history, states = random_history(rng, SOURCES)
    scale = {each.name: rng.choice(SCALES) for each in SOURCES}
    engine = Engine()
    for each in SOURCES:
        engine.create_source(each.name, each.schema)
    engine.create_view("view", plan)
    outcomes: Counter[str] = Counter()
    before = {name: Bag() for name in scale}
    for epoch, (changes, state) in enumerate(zip(history, states, strict=True), 1):
        deltas = {
            each.name: delta(
                len(each.schema), [(*line, scale[each.name] * n) for *line, n in changes[each.name]]
            )  # type: ignore[misc]
            for each in SOURCES
        }
        after = {name: Bag({row: scale[name] * n for row, n in rows.items()}) for name, rows in state.items()}
        stage = engine.stage(deltas, epoch + 1)
        oracle = Watching(after)
        try:
            expected = oracle.rows(plan)
        except OracleError:
            break
        if stage.failed:
            assert "2^62" in stage.failed["view"], case
            # Changes of several inputs meet each other, before and after: up to four of them in one join.
            assert largest_of(plan, before, after) >= 2**15, case
            return outcomes + Counter(failed=1)
        stage.publish()
        before = after
        if not oracle.errors:
            assert bag(engine, "view") == expected, (case, epoch, plan)
            outcomes["large and right" if oracle.largest >= 2**40 else "right"] += 1
    return outcomes


def largest_of(plan: Node, before: dict[str, Bag], after: dict[str, Bag]) -> int:
    """The largest count of a part of the plan before, after, or with the rows of both."""
    found = 0
    for state in (before, after, {name: before[name] | after[name] for name in after}):
        oracle = Watching(state)
        with suppress(OracleError):
            oracle.rows(plan)
        found = max(found, oracle.largest)
    return found


@pytest.mark.parametrize("shards", [1, 3])
def test_supersteps_refuse_what_they_cannot_count(shards: int, tmp_path: Path) -> None:
    """The product of counts, their sum over shards and epochs, and a sum of words."""
    state = StateDirectory(tmp_path / "state")
    executor = SuperstepExecutor(state, tmp_path / "scratch", Here(7), shards, SuperstepLimits(solo=0))
    engine = engine_of(
        ("product", times(S, T)),
        ("total", Reduce(S, (), (AggregateSpec(Function.SUM, 0, BIGINT),))),
        ("other", S),
    )
    apply(engine, {"t": [((2,), 2**60)]})

    def failed(*rows: tuple[tuple[int, ...], int]) -> dict[str, str]:
        epoch = engine.snapshot.upper
        changes = delta(1, [(row, epoch, n) for row, n in rows])
        stage = engine.stage({"s": changes}, epoch + 1, executor)
        stage.publish()
        return stage.failed

    assert not failed(((1,), 3))
    assert bag(engine, "product") == {(1,): 3 * 2**60}
    assert list(failed(((1,), 1))) == ["product"]
    assert list(failed(((2**40,), 2**60))) == ["total"]
    assert bag(engine, "other") == {(1,): 4, (2**40,): 2**60}
