"""What depends on the clock against the oracle, at every epoch and however the history is chopped."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from engine.errors import PlanError
from engine.operators.temporal import TemporalOperator
from engine.plan.clocked import CLOCK, Temporal, Today
from engine.plan.expressions import ColumnRef, Literal
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Filter,
    Function,
    Join,
    LoopBinding,
    Map,
    Node,
    Recursive,
    Reduce,
    Source,
    Threshold,
    Variable,
)
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TIMESTAMP, Column, Schema
from tests.engine.harness import Bag, apply, delta, rows
from tests.engine.histories import Changes, check_history, random_history
from tests.seeds import each_seed

SEEDS = 4
MOMENTS = Schema((Column("a", TIMESTAMP), Column("b", TIMESTAMP), Column("x", BIGINT)))
TABLE = Source("t", MOMENTS)
DAY = 86_400_000_000
EARLY, LATE = Temporal(TABLE, 0, None), Temporal(TABLE, None, 1)
DURING = Temporal(TABLE, 0, 1)


def _loop(body: Node) -> Recursive:
    return Recursive((LoopBinding("v", Threshold(body, Clamp.DISTINCT)),), "v")


def _swapped(node: Node) -> Node:
    """The rows with their moments swapped, and one less in the last column, as long as there is one."""
    turned = Map(node, (ColumnRef(1, TIMESTAMP), ColumnRef(0, TIMESTAMP), ColumnRef(2, BIGINT)), MOMENTS)
    return Join(turned, TABLE, (2,), (2,))


def _first_three(node: Node) -> Node:
    return Map(node, tuple(ColumnRef(i, type) for i, type in enumerate(MOMENTS.types)), MOMENTS)


VARIABLE = Variable("v", MOMENTS)
PLANS = {
    "comes": EARLY,
    "goes": LATE,
    "comes and goes": DURING,
    "one moment": Temporal(TABLE, 0, 0),
    "one after the other": Temporal(EARLY, None, 1),
    "counted": Reduce(DURING, (2,), (AggregateSpec(Function.COUNT, None, BIGINT),)),
    "joined": Join(EARLY, LATE, (2,), (2,)),
    "in a recursion": _loop(Concat((LATE, _first_three(_swapped(VARIABLE))))),
    "of a recursion": _loop(Concat((TABLE, Temporal(_first_three(_swapped(VARIABLE)), 0, 1)))),
    "of a recursion's rows": _loop(Concat((TABLE, _first_three(_swapped(Temporal(VARIABLE, None, 0)))))),
}


def random_times(rng: random.Random, history: list[Changes], states: list[dict[str, Bag]]) -> None:
    """Add a clock that goes on, or stands still, to a history and its states."""
    now = shown = rng.randrange(3)
    for epoch, (changes, state) in enumerate(zip(history, states, strict=True), 1):
        now += rng.choice((0, 0, 1, 1, 2))
        lines = [((shown,), epoch, -1)] if epoch > 1 else []
        changes[CLOCK.name] = [*lines, ((now,), epoch, 1)] if epoch == 1 or now != shown else []
        state[CLOCK.name] = type(state["t"])({(now,): 1})
        shown = now


@pytest.mark.parametrize("name", PLANS)
@each_seed(SEEDS)
def test_rows_come_and_go_by_the_clock(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    history, states = random_history(rng, (TABLE,), 5)
    random_times(rng, history, states)
    assert check_history(PLANS[name], (TABLE, CLOCK), history, states, rng, seed)


TICKS = Source("ticks", Schema((Column("at", TIMESTAMP, nullable=False),)), append_only=True)
NEWEST = Reduce(TICKS, (), (AggregateSpec(Function.MAX, 0, TIMESTAMP),))
WAITING = {
    "comes": Temporal(TABLE, 0, None, NEWEST),
    "comes and goes": Temporal(TABLE, 0, 1, NEWEST),
    "counted first": Temporal(
        Reduce(TABLE, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),)), 0, None, NEWEST
    ),
    "its own rows": Temporal(TICKS, 0, None, NEWEST),
    "in a recursion": _loop(Concat((Temporal(TABLE, None, 1, NEWEST), _first_three(_swapped(VARIABLE))))),
}


@pytest.mark.parametrize("name", WAITING)
@each_seed(SEEDS)
def test_the_greatest_time_of_a_table_is_a_clock(name: str, seed: int) -> None:
    """As long as it has no row, nothing has come; it has several new ones in an epoch, and older ones."""
    rng = random.Random(f"{name} {seed}")
    history, states = random_history(rng, (TABLE,), 5)
    told: Bag = Counter()
    for epoch, (changes, state) in enumerate(zip(history, states, strict=True), 1):
        new = [(rng.randrange(epoch + 1),) for _ in range(rng.choice((0, 0, 1, 2)))]
        told.update(new)
        changes[TICKS.name] = [(row, epoch, 1) for row in new]
        state[TICKS.name] = Counter(told)
    assert check_history(WAITING[name], (TABLE, TICKS), history, states, rng, seed)


@each_seed(SEEDS)
def test_the_date_is_joined(seed: int) -> None:
    rng = random.Random(seed)
    history, states = random_history(rng, (TABLE,), 5)
    random_times(rng, history, states)
    for changes, state in zip(history, states, strict=True):
        changes[CLOCK.name] = [
            ((now * DAY // 3,), epoch, diff) for (now,), epoch, diff in changes[CLOCK.name]
        ]
        state[CLOCK.name] = type(state["t"])({(now * DAY // 3,): 1 for (now,) in state[CLOCK.name]})
    assert check_history(Join(TABLE, Today(), (), ()), (TABLE, CLOCK), history, states, rng, seed)


@each_seed(SEEDS)
@pytest.mark.parametrize("name", PLANS)
def test_who_asks_what_is_due_sees_the_same(name: str, seed: int) -> None:
    """A tick that is known to bring about nothing is passed over; the differences are the same."""
    rng = random.Random(seed)
    history, states = random_history(rng, (TABLE,), 2)
    random_times(rng, history, states)
    asking, other = Engine(), Engine()
    for engine in (asking, other):
        for source in (TABLE, CLOCK):
            engine.create_source(source.name, source.schema)
        engine.create_view("v", PLANS[name])
    for epoch, (changes, state) in enumerate(zip(history, states, strict=True), 1):
        deltas = {source.name: delta(len(source.schema), changes[source.name]) for source in (TABLE, CLOCK)}
        if rng.random() < 0.3:
            asking.stage(deltas, epoch + 1).abort()
        for engine in (asking, other):
            engine.stage(deltas, epoch + 1).publish()
        ((now,),) = state[CLOCK.name]
        for moment in (now, rng.randrange(6)):
            asking.due(moment)
    found, expected = (engine.snapshot.differences("v").tolist() for engine in (asking, other))
    assert found == expected


def test_a_tick_without_events_reads_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []
    tick = TemporalOperator._tick

    def counting(self: TemporalOperator, before: int, *others: object) -> None:
        ticks.append(before)
        tick(self, before, *others)  # type: ignore[arg-type]

    engine = engine_at(10, (5, 20), (30, 40))
    monkeypatch.setattr(TemporalOperator, "_tick", counting)
    shown = 10
    for now in (12, 19, 20, 29, 31, 50, 60):
        engine.due(shown)
        apply(engine, {CLOCK.name: [((shown,), -1), ((now,), 1)]})
        shown = now
    assert ticks == [19, 29, 31]
    assert rows(engine, "v", engine.snapshot.upper - 3) == [(30, 40, 0)]
    assert rows(engine, "v") == []


def engine_at(time: int, *moments: tuple[int, int]) -> Engine:
    """An engine with the view v of the rows of t during their moments."""
    engine = Engine()
    engine.create_source("t", MOMENTS)
    engine.create_source(CLOCK.name, CLOCK.schema)
    engine.create_view("v", DURING)
    apply(engine, {"t": [((a, b, 0), 1) for a, b in moments], CLOCK.name: [((time,), 1)]})
    return engine


def test_the_next_moment_is_the_least_at_which_something_is_to_come_or_go() -> None:
    engine = engine_at(10, (5, 20), (30, 40), (12, 13))
    assert [engine.due(now) for now in (10, 12, 13, 20, 39, 40)] == [12, 13, 20, 30, 40, None]


def test_what_was_taken_away_is_not_due() -> None:
    engine = engine_at(10, (5, 20), (30, 40))
    apply(engine, {"t": [((5, 20, 0), -1)]})
    assert engine.due(10) == 30
    apply(engine, {"t": [((30, 40, 0), -1)]})
    assert engine.due(10) is None


def test_what_is_still_in_two_batches_has_gone() -> None:
    """A few rows are taken away from many, so that both batches stay as they are."""
    moments = [(20 + i, 5_000) for i in range(1_000)]
    engine = engine_at(10, *moments)
    apply(engine, {"t": [((*moment, 0), -1) for moment in moments[:10]]})
    assert engine.due(10) == 30
    apply(engine, {"t": [((*moment, 0), 1) for moment in moments[:1]]})
    assert engine.due(10) == 20


def test_the_date_is_due_at_midnight() -> None:
    engine = Engine()
    engine.create_source(CLOCK.name, CLOCK.schema)
    engine.create_view("v", Today())
    apply(engine, {CLOCK.name: [((DAY + 5,), 1)]})
    assert rows(engine, "v") == [(1,)]
    assert engine.due(DAY + 5) == 2 * DAY
    apply(engine, {CLOCK.name: [((DAY + 5,), -1), ((2 * DAY - 1,), 1)]})
    assert engine.snapshot.changes("v", 1, 2).shape[1] == 0


def test_nothing_is_due_without_a_view_that_asks() -> None:
    engine = engine_at(10, (5, 20))
    engine.drop_view("v")
    assert engine.due(10) is None


def test_a_view_made_later_knows_what_the_clock_showed_before() -> None:
    engine = Engine()
    engine.create_source("t", MOMENTS)
    apply(engine, {"t": [((1, 3, 0), 1)]})
    apply(engine, {"t": []})
    steps = delta(1, [((2,), 1, 1), ((2,), 2, -1), ((4,), 2, 1)])
    engine.create_source(CLOCK.name, CLOCK.schema, kept=(steps, 0))
    engine.create_view("v", DURING)
    assert [rows(engine, "v", epoch) for epoch in (1, 2)] == [[(1, 3, 0)], []]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Temporal(TABLE, None, None),
        lambda: Temporal(TABLE, 2, None),
        lambda: Temporal(TABLE, None, 3),
        lambda: Temporal(Filter(TABLE, Literal(1, BIGINT)), 0, None),
    ],
)
def test_a_node_without_moments_is_no_node(make) -> None:
    with pytest.raises(PlanError):
        make()
