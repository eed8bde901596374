"""Estimating: what views cost is foretold from few of their rows, and nothing of the engine is touched."""

from __future__ import annotations

import threading
from dataclasses import astuple

import numpy as np
import pytest

from engine.costs.estimating import ALLOWANCE, EstimateLimits, view_cost
from engine.costs.view_cost import ViewCost
from engine.errors import BuildCancelled
from engine.operators.allowance import Allowance, Spending
from engine.plan.expressions import ColumnRef, Foreign
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    LoopBinding,
    Map,
    Node,
    Recursive,
    Reduce,
    Threshold,
    Variable,
    project,
)
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, Column, Schema
from tests.engine.harness import apply, insert, source

ORDERS, LINES = source("orders", 3), source("lines", 3)
"""(id, customer, amount) and (id, order, part)."""
EDGES, STARTS = source("edges", 2), source("starts", 1)
JOINED = Join(LINES, ORDERS, (1,), (0,))
BY_CUSTOMER = Reduce(JOINED, (4,), (AggregateSpec(Function.COUNT, None, BIGINT),))
BY_PART = Reduce(JOINED, (2,), (AggregateSpec(Function.SUM, 5, BIGINT),))
STEP = project(Join(Variable("v", STARTS.schema), EDGES, (0,), (0,)), (2,))
REACHED = Recursive((LoopBinding("v", Threshold(Concat((STARTS, STEP)), Clamp.DISTINCT)),), "v")
FEW = EstimateLimits(rows=4_000, rows_here=1_000_000_000)
ALL = EstimateLimits(rows_here=1_000_000_000)

UNINDEXED = 0.12
"""The part of a small view that its indexes take: what came in one small epoch has none yet."""


def engine_over(**rows: np.ndarray) -> Engine:
    """An engine with sources of these rows, int64[n, W]."""
    engine, deltas = Engine(), {}
    for name, its in rows.items():
        engine.create_source(name, source(name, its.shape[1]).schema)
        ones = np.ones((2, len(its)), np.int64)
        deltas[name] = np.ascontiguousarray(np.concatenate([its.T, ones]))
    engine.stage(deltas, 2).publish()
    return engine


def shop(orders: int = 10_000) -> Engine:
    id, line = np.arange(orders), np.arange(4 * orders)
    return engine_over(
        orders=np.stack([id, id % 1_000, id * 7], axis=1),
        lines=np.stack([line, line // 4, line * 31 % 500], axis=1),
    )


def chains(count: int, length: int) -> Engine:
    """Chains of edges, and their first nodes."""
    node = np.arange(count * length)
    edges = np.stack([node, node + 1], axis=1)[node % length != length - 1]
    return engine_over(edges=edges, starts=(np.arange(count) * length)[:, np.newaxis])


def estimated(engine: Engine, plan: Node, limits: EstimateLimits = ALL) -> ViewCost:
    spending = Spending(ALLOWANCE)
    return view_cost(plan, engine.snapshot, engine.dictionary, 100_000, engine.sharing, spending, limits)


def held(engine: Engine) -> int:
    held = engine.held()
    return held.history + held.traces + held.mapped


def built(engine: Engine, plan: Node) -> tuple[int, int]:
    """The rows of the view and the bytes that it adds."""
    before = held(engine)
    engine.create_view("built", plan)
    added = held(engine) - before
    rows = engine.observe("built")[-1].figures.rows
    engine.drop_view("built")
    return rows, added


@pytest.mark.parametrize("plan", [JOINED, BY_CUSTOMER, BY_PART])
def test_what_is_small_is_measured(plan: Node) -> None:
    engine = shop(100)
    cost = estimated(engine, plan)
    rows, added = built(engine, plan)
    assert (cost.rows, cost.memory) == (rows, pytest.approx(added, rel=UNINDEXED))
    assert set(cost.parts.values()) == {1.0}
    assert not cost.is_least


@pytest.mark.parametrize("plan", [JOINED, BY_CUSTOMER, BY_PART])
def test_what_is_large_is_foretold(plan: Node) -> None:
    engine = shop()
    cost = estimated(engine, plan, FEW)
    rows, added = built(engine, plan)
    assert cost.rows == pytest.approx(rows, rel=0.25)
    assert cost.memory == pytest.approx(added, rel=0.25)
    assert max(cost.parts.values()) < 0.1


def test_a_change_reaches_what_it_meets() -> None:
    cost = estimated(shop(), JOINED, FEW)
    lines, orders = cost.changes["lines"], cost.changes["orders"]
    assert (lines.median_rows, lines.bad_rows) == (3, 3), "its arrangement, a pair, the view"
    assert (orders.median_rows, orders.bad_rows) == (9, 9), "its arrangement, four pairs, the view's four"
    assert 0 < lines.median_milliseconds <= lines.bad_milliseconds < 1_000


def test_the_heaviest_key_makes_a_bad_day() -> None:
    """Half of the lines are of one of 10,000 orders, which no change at random finds."""
    id, line = np.arange(10_000), np.arange(40_000)
    engine = engine_over(
        orders=np.stack([id, id % 1_000, id], axis=1),
        lines=np.stack([line, np.where(line % 2 == 0, 77, line // 4), line % 500], axis=1),
    )
    orders = estimated(engine, JOINED, FEW).changes["orders"]
    assert orders.median_rows < 20
    assert orders.bad_rows == pytest.approx(40_000, rel=0.3)
    assert orders.bad_milliseconds > 5 * orders.median_milliseconds


def test_what_a_view_has_already_takes_nothing() -> None:
    engine = shop(100)
    alone = estimated(engine, BY_PART)
    assert alone.shared == ()
    engine.create_view("by_customer", BY_CUSTOMER)
    beside = estimated(engine, BY_PART)
    assert beside.shared == ("by_customer",)
    shared = [each for each in beside.operators if each.operator.shared]
    assert {each.operator.kind for each in shared} >= {"Join", "Arrangement"}
    assert all(each.memory == 0 for each in shared)
    assert beside.memory == pytest.approx(built(engine, BY_PART)[1], rel=UNINDEXED)
    assert beside.changes["lines"].median_rows < alone.changes["lines"].median_rows
    again = estimated(engine, BY_CUSTOMER)
    assert [each.operator.kind for each in again.operators if each.memory] == ["History"]


def test_empty_sources_cost_nothing() -> None:
    nothing = np.empty((0, 3), np.int64)
    cost = estimated(engine_over(orders=nothing, lines=nothing), BY_PART)
    assert (cost.rows, cost.memory) == (0, 0)
    assert cost.changes == {}
    assert not cost.is_least


def test_what_was_deleted_is_not_changed() -> None:
    engine = shop(10)
    rows = engine.snapshot.rows("orders")[0].T.tolist()
    apply(engine, {"orders": [(tuple(row), -1) for row in rows]})
    cost = estimated(engine, JOINED)
    assert set(cost.changes) == {"lines"}
    assert cost.rows == 0
    assert cost.operators[-1].kept == built(engine, JOINED)[0], "its history has the rows that were there"


def test_a_small_recursion_is_measured() -> None:
    engine = chains(20, 10)
    cost = estimated(engine, REACHED)
    assert (cost.rows, cost.memory) == (200, pytest.approx(built(engine, REACHED)[1], rel=UNINDEXED))
    assert not cost.is_least


def test_a_large_recursion_is_tried_from_some_beginnings() -> None:
    engine = chains(2_000, 10)
    cost = estimated(engine, REACHED)
    rows, added = built(engine, REACHED)
    assert cost.rows == pytest.approx(rows, rel=0.1)
    assert cost.memory == pytest.approx(added, rel=0.3)
    assert cost.changes["edges"].bad_rows > 0


def test_a_recursion_over_too_much_gives_a_least() -> None:
    cost = estimated(chains(2_000, 10), REACHED, EstimateLimits(4_000, 10_000, 1_000_000_000))
    assert cost.is_least


def test_what_takes_too_long_gives_a_least() -> None:
    engine = chains(2_000, 10)
    spending = Spending(Allowance(rows=5_000))
    cost = view_cost(REACHED, engine.snapshot, engine.dictionary, 1_000, engine.sharing, spending, ALL)
    assert cost.is_least
    assert cost.rows <= 20_000


def test_a_product_is_not_computed() -> None:
    """All pairs of 40,000 and 10,000 rows are 400 million."""
    cost = estimated(shop(), Join(LINES, ORDERS, (), ()))
    assert cost.rows == pytest.approx(4e8, rel=0.2)


def test_nothing_is_touched() -> None:
    engine = shop(100)
    engine.create_view("by_customer", BY_CUSTOMER)

    def state() -> object:
        figures = [astuple(operator.figures) for operator in engine.observe("by_customer")]
        return figures, engine.held(), engine.differences(), len(engine.dictionary)

    before, snapshot = state(), engine.snapshot
    estimated(engine, BY_PART)
    estimated(engine, BY_CUSTOMER)
    assert state() == before
    assert engine.snapshot is snapshot
    insert(engine, "lines", (9_999, 1, 2))
    assert engine.snapshot.failure("by_customer") is None


def test_several_at_once_say_the_same() -> None:
    engine = shop(200)
    found: list[ViewCost] = []
    threads = [threading.Thread(target=lambda: found.append(estimated(engine, BY_PART))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        insert(engine, "lines", (100_000 + number, number, 1))
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(800 <= cost.operators[0].rows + cost.operators[2].rows <= 1_100 for cost in found)


def test_it_can_be_stopped() -> None:
    engine, spending = shop(100), Spending(ALLOWANCE)
    spending.stop()
    with pytest.raises(BuildCancelled):
        view_cost(JOINED, engine.snapshot, engine.dictionary, 10, engine.sharing, spending, ALL)


def test_a_process_adds_its_start() -> None:
    engine = shop(100)
    here = estimated(engine, BY_PART).build
    there = estimated(engine, BY_PART, EstimateLimits(rows_here=10)).build
    assert (here.process, here.writing) == (0, 0)
    assert there.process > 0
    assert there.total > here.total


def test_long_texts_are_made_of_few_rows_and_do_not_stay() -> None:
    engine = engine_over(numbers=np.arange(100, 400)[:, np.newaxis])
    before, bytes_before = len(engine.dictionary), engine.dictionary.bytes
    long = Foreign("repeat(CAST({0} AS VARCHAR), 100000)", (ColumnRef(0, BIGINT),), TEXT)
    plan = Map(source("numbers", 1), (long,), Schema((Column("t", TEXT),)))
    cost = estimated(engine, plan)
    assert cost.parts["numbers"] < 0.5
    assert cost.memory == pytest.approx(300 * 300_000, rel=0.9)
    assert (len(engine.dictionary), engine.dictionary.bytes) == (before, bytes_before)
