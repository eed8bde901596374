"""Collections whose rows hold during periods: at every epoch and moment, a plan over them has the rows that
it has over what holds at that moment, and the engine computes that however history is chopped."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from engine.kernels.words import NULL
from engine.plan.nodes import AggregateSpec, Function, Node, Reduce, Source
from engine.plan.periods import at_one_moment, during
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT, Column, Schema
from tests.engine.harness import Bag, apply, bag, schema
from tests.engine.histories import EPOCHS, VALUES, Changes, check_history
from tests.engine.plans import SOURCES, PlanMaker
from tests.oracle.interpreter import Oracle, OracleError
from tests.seeds import seeds

CASES = int(os.environ.get("FRESHET_PERIODS", "15"))
GROUP = 15
MOMENTS = 6
SINCE_EVER = -1
"""A moment before the first one that a period names."""


def timed(name: str, width: int) -> Source:
    moments = (Column("since", BIGINT), Column("until", BIGINT))
    return Source(name, Schema((*schema(width).columns, *moments)))


TIMED = (timed("t0", 1), timed("t1", 2))


def random_periods(rng: random.Random) -> tuple[list[Changes], list[dict[str, Bag]]]:
    """The changes of each epoch, and the sources after it; some rows hold at all times, some overlap."""
    sources = (*SOURCES, *TIMED)
    tables: dict[str, Bag] = {source.name: Counter() for source in sources}
    history: list[Changes] = []
    states: list[dict[str, Bag]] = []
    for epoch in range(1, EPOCHS + 1):
        changes: Changes = {}
        for source in sources:
            rows, lines = tables[source.name], changes.setdefault(source.name, [])
            for _ in range(rng.choice((0, 1, 2, 3))):
                if rows and rng.random() < 0.4:
                    row, diff = rng.choice(sorted(rows)), -1
                else:
                    row, diff = _row(rng, source), 1
                rows[row] += diff
                if not rows[row]:
                    del rows[row]
                lines.append((row, epoch, diff))
        history.append(changes)
        states.append({name: Counter(rows) for name, rows in tables.items()})
    return history, states


def _row(rng: random.Random, source: Source) -> tuple[int, ...]:
    if source not in TIMED:
        return tuple(rng.randrange(VALUES) for _ in source.schema.columns)
    values = tuple(rng.randrange(VALUES) for _ in source.schema.columns[2:])
    since, until = sorted(rng.sample(range(1, MOMENTS), 2))
    return (*values, rng.choice((since, since, since, NULL)), rng.choice((until, until, NULL)))


def _holds(since: object, until: object, moment: int) -> bool:
    return (since is None or since <= moment) and (until is None or moment < until)  # type: ignore[operator]


def at(rows: Bag, moment: int) -> Bag:
    """The rows that hold at a moment, without their periods."""
    result: Bag = Counter()
    for (*row, since, until), count in rows.items():
        if _holds(since, until, moment):
            result[tuple(row)] += count
    return result


def _known(rows: Bag) -> Bag:
    """The rows with None for NULL."""
    return Counter({tuple(None if w == NULL else w for w in row): count for row, count in rows.items()})


def _values(state: dict[str, Bag]) -> dict[str, Bag]:
    return {name: _known(rows) for name, rows in state.items()}


def _plans(seed: int) -> tuple[Node, Node]:
    """A plan over what holds at one moment, and the plan that has its rows with their periods."""
    rng = random.Random(seed)
    plain = tuple(Source(t.name, Schema(t.schema.columns[:-2])) for t in TIMED)
    inside = tuple(at_one_moment(f"at.{t.name}", t) for t in TIMED)
    width = rng.choice((1, 2))
    body = PlanMaker(random.Random(seed)).plan(width, 4, inside)  # type: ignore[arg-type]
    snapshot = PlanMaker(random.Random(seed)).plan(width, 4, plain)  # type: ignore[arg-type]
    return snapshot, during(body, {f"at.{t.name}": t for t in TIMED}, ("since", "until"))


def _are_apart(rows: Bag) -> bool:
    """Whether no period of a row begins where another one of it ends."""
    ends = {(row[:-2], row[-1]) for row in rows if row[-1] is not None}
    return not any((row[:-2], row[-2]) in ends for row in rows)


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_rows_hold_when_they_do(first: int) -> None:
    compared = 0
    for seed in seeds(GROUP, first):
        snapshot, plan = _plans(seed)
        rng = random.Random(seed)
        history, states = random_periods(rng)
        try:
            for state in map(_values, states):
                rows = Oracle(state).rows(plan)
                assert _are_apart(rows), (seed, rows)
                for moment in range(SINCE_EVER, MOMENTS + 1):
                    now = {t.name: at(state[t.name], moment) for t in TIMED}
                    assert at(rows, moment) == Oracle({**state, **now}).rows(snapshot), (seed, moment)
        except OracleError:
            continue
        compared += check_history(plan, (*SOURCES, *TIMED), history, states, rng, seed)
    assert compared > 0.7 * GROUP


def test_peers_that_have_gone_are_passed() -> None:
    """A window whose first peers enter and leave at earlier rounds still sees the change of a later one."""
    rows = TIMED[1]
    counted = Windowed(WindowFunction.COUNT, 1, BIGINT, peers=True)
    body = Window(at_one_moment("rows", rows), (), (), 0, (counted,))
    engine = Engine()
    engine.create_source(rows.name, rows.schema)
    engine.create_view("view", during(body, {"rows": rows}, ("since", "until")))
    lines = [((3, 0, 1, 4), 1), ((3, 3, 3, NULL), 1), ((1, 0, 2, 4), 1)]
    apply(engine, {rows.name: lines})
    assert at(_known(bag(engine, "view")), 4) == Counter({(3, 3, 1): 1})
    apply(engine, {rows.name: [(row, -diff) for row, diff in lines]})
    assert not bag(engine, "view")


@pytest.mark.parametrize("round", [1, 1 << 40, (1 << 62) + 5])
def test_rounds_are_whole_words(round: int) -> None:
    rows = TIMED[0]
    engine = Engine(Options(max_rounds=3))
    engine.create_source(rows.name, rows.schema)
    total = Reduce(at_one_moment("rows", rows), (), (AggregateSpec(Function.SUM, 0, BIGINT),))
    engine.create_view("view", during(total, {"rows": rows}, ("since", "until")))
    apply(engine, {rows.name: [((n, round + n, round + 10), 1) for n in range(1, 8)]})
    sums = {(n * (n + 1) // 2, round + n, round + (n + 1 if n < 7 else 10)): 1 for n in range(1, 8)}
    assert bag(engine, "view") == sums


def test_a_difference_outside_of_all_loops_is_at_round_0() -> None:
    rows = TIMED[0]
    engine = Engine()
    engine.create_source("s0", SOURCES[0].schema)
    engine.create_source(rows.name, rows.schema)
    engine.create_view("view", during(SOURCES[0], {"rows": rows}, ("since", "until")))
    apply(engine, {"s0": [((7,), 2)], rows.name: [((1, 2, 3), 1)]})
    assert bag(engine, "view") == {(7, NULL, NULL): 2}
    apply(engine, {"s0": [((7,), -1)]})
    assert bag(engine, "view") == {(7, NULL, NULL): 1}
