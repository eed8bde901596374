"""A small step in compiled code gives the differences that Python's gives, and traces hold the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from math import log2
from types import ModuleType

import numpy as np
import pytest

from engine.operators import compiled_step, running_dataflow
from engine.operators.allowance import UNLIMITED, Allowance
from engine.operators.arrangement import Arrangement
from engine.operators.compiled_step import CompiledStep
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Consolidate,
    Filter,
    Function,
    Join,
    LoopBinding,
    Map,
    Negate,
    Node,
    Ordering,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Variable,
    project,
)
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT, BOOLEAN
from engine.state import nurseries
from tests.engine.harness import Change, apply, bag, delta, insert, source
from tests.seeds import SEED, each_seed, few

S, T = source("s", 2), source("t", 2)
EPOCHS = 120


def degrees() -> Node:
    """Reduces in a row: how many keys have each number of rows."""
    counted = Reduce(S, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))
    return Reduce(counted, (1,), (AggregateSpec(Function.COUNT, None, BIGINT),))


def revenue() -> Node:
    """A map between joins and sums."""
    met = Join(S, T, (0,), (0,))
    product = Call(Op.MUL, (ColumnRef(1, BIGINT), ColumnRef(3, BIGINT)), BIGINT)
    mapped = Map(met, (ColumnRef(0, BIGINT), product), S.schema)
    return Reduce(mapped, (0,), (AggregateSpec(Function.SUM, 1, BIGINT),))


def both() -> Node:
    """A join of a table with itself, and a filter whose rows fail now and then."""
    much = Literal(2**63 - 6, BIGINT)
    small = Call(Op.LT, (Call(Op.ADD, (ColumnRef(1, BIGINT), much), BIGINT), much), BOOLEAN)
    return Join(S, Consolidate(Filter(S, small)), (1,), (0,))


def fewest() -> Node:
    """First rows, what is not there, and distinct rows."""
    first = TopK(S, (0,), (Ordering(1),), 2, 1)
    return Threshold(Concat((first, Negate(T))), Clamp.POSITIVE)


def reached() -> Node:
    """A loop, which is Python's in this scope, and reads arrangements."""
    pairs = Variable("pairs", S.schema)
    step = project(Join(pairs, T, (1,), (0,)), (0, 3))
    return Recursive((LoopBinding("pairs", Threshold(Concat((S, step)), Clamp.DISTINCT)),), "pairs")


def met() -> Node:
    """A join, of which compiled code runs all."""
    return project(Join(S, T, (0,), (0,)), (1, 3))


def least() -> Node:
    return Reduce(Concat((S, T)), (0,), (AggregateSpec(Function.MIN, 1, BIGINT),))


PLANS: dict[str, Callable[[], Node]] = {
    plan.__name__: plan for plan in (degrees, revenue, both, met, fewest, reached, least)
}


def engine_of(*names: str, allowance: Allowance = UNLIMITED) -> Engine:
    engine = Engine(Options(max_rounds=100, allowance=allowance))
    for node in (S, T):
        engine.create_source(node.name, node.schema)
    for name in names:
        engine.create_view(name, PLANS[name]())
    return engine


def in_python(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act without compiled steps."""
    with monkeypatch.context() as patch:
        patch.setattr(running_dataflow, "FEW", -1)
        act()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """How many steps compiled code has run, and how many it has left to Python."""
    counter: Counter[bool] = Counter()
    run = CompiledStep.run

    def counting(self: CompiledStep, *args) -> bool:  # type: ignore[no-untyped-def]
        done = run(self, *args)
        counter[done] += 1
        return done

    monkeypatch.setattr(CompiledStep, "run", counting)
    return counter


def changes(rng: random.Random, most: int) -> list[dict[str, list[Change]]]:
    """Changes of a few rows, or now and then of many, with retractions."""
    rows: dict[str, list[tuple[int, ...]]] = {"s": [], "t": []}
    found = []
    for _ in range(EPOCHS):
        change: dict[str, list[Change]] = {}
        for name in rng.choice((["s"], ["t"], ["s", "t"])):
            held = rows[name]
            lines = change[name] = []
            for _ in range(rng.choice((1, 2, 3, most))):
                if held and rng.random() < 0.4:
                    lines.append((held.pop(rng.randrange(len(held))), -1))
                else:
                    held.append((rng.randrange(30), rng.randrange(9)))
                    lines.append((held[-1], 1))
        found.append(change)
    return found


def check(rng: random.Random, monkeypatch: pytest.MonkeyPatch, most: int = 12) -> None:
    """Compare all plans, compiled and not, over the same changes. Some are staged and aborted first, some are
    Python's on both sides; snapshots that are kept stay as they were."""
    compiled, plain = engine_of(*PLANS), engine_of(*PLANS)
    kept = []
    for change in changes(rng, most):
        epoch = compiled.snapshot.upper
        if rng.random() < 0.2:
            lines = [(row, epoch, diff) for row, diff in change.get("s", [])]
            compiled.stage({"s": delta(2, lines)}, epoch + 1).abort()
        if rng.random() < 0.1:
            in_python(monkeypatch, lambda change=change: apply(compiled, change))  # type: ignore[misc]
        else:
            apply(compiled, change)
        in_python(monkeypatch, lambda change=change: apply(plain, change))  # type: ignore[misc]
        if rng.random() < 0.1:
            kept.append((compiled.snapshot, plain.snapshot))
        if rng.random() < 0.05:
            compiled.drop_view("least")
            compiled.create_view("least", least())
    for one, other in [*kept, (compiled.snapshot, plain.snapshot)]:
        last = other.upper - 1
        for name in PLANS.keys() - {"least"}:
            expected = other.changes(name, 0, last)
            assert one.changes(name, 0, last).tolist() == expected.tolist(), name
            assert one.errors(name, last) == other.errors(name, last), name
        assert str(one.rows("least")) == str(other.rows("least"))
    assert compiled.differences() >= sum(len(bag(compiled, name)) for name in PLANS)


@pytest.mark.parametrize("name", PLANS)
def test_small_steps_are_compiled(name: str, calls: Counter[bool]) -> None:
    engine = engine_of(name)
    insert(engine, "s", (0, 1), (1, 2))
    insert(engine, "t", (0, 1))
    assert calls[True] >= 2
    assert not calls[False]


@each_seed(few(4))
def test_the_differences_do_not_depend_on_who_runs_steps(
    seed: int, monkeypatch: pytest.MonkeyPatch, calls: Counter[bool]
) -> None:
    check(random.Random(seed), monkeypatch)
    assert calls[True] > EPOCHS / 2


@each_seed(few(3))
@pytest.mark.parametrize(
    "module, name, words",
    [
        (compiled_step, "_ARENA_WORDS", 1 << 9),
        (nurseries, "WORDS", 1 << 11),
        (compiled_step, "_MOST_WAITING", 1),
    ],
)
def test_steps_without_room_are_pythons(
    seed: int,
    module: ModuleType,
    name: str,
    words: int,
    monkeypatch: pytest.MonkeyPatch,
    calls: Counter[bool],
) -> None:
    monkeypatch.setattr(module, name, words)
    check(random.Random(seed), monkeypatch)
    assert calls[True] > 5
    assert module is nurseries or calls[False] > 5


@each_seed(few(2))
def test_steps_of_some_hundred_rows(seed: int, monkeypatch: pytest.MonkeyPatch, calls: Counter[bool]) -> None:
    """The most that is tried: both tables change by so many rows at once."""
    check(random.Random(seed), monkeypatch, 250)
    assert calls[True]


def test_an_epoch_of_many_rows_is_one_step(calls: Counter[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows at many epochs are divided into steps, which are Python's."""
    compiled, plain = engine_of("revenue"), engine_of("revenue")
    most, answers = running_dataflow.FEW, []
    for engine in (compiled, plain):
        insert(engine, "t", *((key, 1) for key in range(30)))
        calls.clear()
        epoch = engine.snapshot.upper
        with monkeypatch.context() as patch:
            patch.setattr(running_dataflow, "FEW", most if engine is compiled else -1)
            apply(engine, {"s": [((i % 30, i), 1) for i in range(most)]})
            assert calls == ({True: 1} if engine is compiled else {})
            lines = [((i % 30, i), epoch + 1 + i // 1_000, -1) for i in range(most)]
            engine.stage({"s": delta(2, lines)}, epoch + 4).publish()
        assert calls[True] <= 1
        answers.append(engine.snapshot.changes("revenue", 0, epoch + 3).tolist())
        assert not bag(engine, "revenue")
    assert answers[0] == answers[1]


def test_lookups_see_a_logarithmic_number_of_batches() -> None:
    rng = np.random.default_rng(SEED)
    engine = engine_of("degrees")
    inserted = 0
    for _ in range(900):
        size = int(rng.choice((1, 2, 60)))
        insert(engine, "s", *map(tuple, rng.integers(0, 10**6, (size, 2)).tolist()))
        inserted += size
        for operator in engine._dataflow.operators.values():
            if isinstance(operator, Arrangement):
                assert operator.trace.count <= 2 + log2(inserted)
    assert sum(bag(engine, "s").values()) == inserted


def test_rows_of_figures_count_what_compiled_steps_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly: which differences cancel before a join reads them, merges of batches decide."""
    compiled, plain = engine_of(*PLANS), engine_of(*PLANS)
    for change in changes(random.Random(SEED), 5):
        apply(compiled, change)
        in_python(monkeypatch, lambda change=change: apply(plain, change))  # type: ignore[misc]
    for name in PLANS:
        for one, other in zip(compiled.observe(name), plain.observe(name), strict=True):
            assert (one.kind, one.figures.rows > 0) == (other.kind, other.figures.rows > 0)
            assert one.figures.rows_in == pytest.approx(other.figures.rows_in, rel=0.1, abs=4)
            assert one.figures.rows_out == pytest.approx(other.figures.rows_out, rel=0.1, abs=4)
    assert compiled.upkeep().keys() == plain.upkeep().keys()
    assert compiled.upkeep()["degrees"].changes == plain.upkeep()["degrees"].changes


def test_an_operator_that_makes_too_much_is_named_by_python(calls: Counter[bool]) -> None:
    engine = engine_of("met", "degrees", allowance=Allowance(rows=50))
    apply(engine, {"t": [((1, i), 1) for i in range(100)]})
    apply(engine, {"t": [((1, i), 1) for i in range(100, 200)]})
    calls.clear()
    epoch = engine.snapshot.upper
    stage = engine.stage({"s": delta(2, [((1, 1), epoch, 1)])}, epoch + 1)
    assert stage.over_budget == {"met"}
    assert calls[False] == 1
    stage.publish()
    assert bag(engine, "degrees") == {(1, 1): 1}


@pytest.mark.parametrize("count", [2**45, 2**61])
def test_counts_that_are_not_small_are_looked_at(count: int, calls: Counter[bool]) -> None:
    engine = engine_of("least")
    calls.clear()
    epoch = engine.snapshot.upper
    stage = engine.stage({"s": delta(2, [((0, 1), epoch, count)])}, epoch + 1)
    assert calls[False] >= 1 and not calls[True]
    stage.publish()
    assert bag(engine, "least") == {(0, 1): 1}
