"""Successions: a view gets another plan at an epoch, and its history goes on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from engine.plan.nodes import Node
from engine.plan.successor import Successor
from engine.runtime.engine import Engine
from engine.runtime.forking import forked
from engine.runtime.options import DEFAULTS
from engine.runtime.spill import SavedState
from engine.runtime.succession import Past, Succession, placed
from engine.state.snapshot import RelationSnapshot
from engine.state.store.directory import StateDirectory
from planner import plan_query
from tests.engine.harness import apply, bag, insert
from tests.engine.test_forks import OTHERS, PAIRS, TABLES, change
from tests.seeds import each_seed, few

QUERIES = {
    "joined": "SELECT p.c0 AS a, o.c1 AS b FROM pairs p JOIN others o ON p.c1 = o.c0",
    "counted": "SELECT c0 AS a, count(*) AS b FROM pairs GROUP BY c0",
    "reach": """
        WITH RECURSIVE r(a, b) AS (
            SELECT c0, c1 FROM pairs UNION SELECT r.a, p.c1 FROM r JOIN pairs p ON r.b = p.c0
        ) SELECT a, b FROM r
    """,
    "constant": "SELECT c0 AS a, c1 AS b FROM others UNION ALL SELECT 7, 8",
    "same": "SELECT c0 AS a, c1 AS b FROM pairs",
}
PLANS = {name: plan_query(sql, TABLES).plan for name, sql in QUERIES.items()}
SAME = (0, 1)


def tables(**rows: Counter) -> Engine:
    engine = Engine()
    for it in (PAIRS, OTHERS):
        engine.create_source(it.name, it.schema)
    if rows:
        apply(engine, {name: list(bag.items()) for name, bag in rows.items()})
    return engine


def difference(old: RelationSnapshot, new: RelationSnapshot, places: Sequence[int], epoch: int) -> np.ndarray:
    """What `new` has more than `old`, whose columns take these places."""
    before, counts = old.rows(epoch)
    after, more = new.rows(epoch)
    words = np.concatenate((placed(before, places), after), axis=1)
    return np.vstack((words, np.concatenate((-counts, more))))


def replace_view(engine: Engine, name: str, plan: Node, places: tuple[int, ...] = SAME) -> int:
    """Give a view another plan, at an epoch that is returned."""
    engine.create_view("beside", plan)
    epoch = apply(engine, {})
    old, new = (engine.snapshot.relations[it] for it in (name, "beside"))
    past = Past(old, epoch, places)
    engine.succeed(
        [Succession(name, "beside", epoch, past.layers(), old.since, difference(old, new, places, epoch))]
    )
    return epoch


@dataclass
class Played:
    """A view `v` that was given one plan after the other. `answers` has what it had at each epoch, as an
    engine that begins there answers; `pasts` the plans with the epochs at which they ended."""

    rng: random.Random
    engine: Engine = field(default_factory=tables)
    query: str = "same"
    pasts: list[tuple[Node, int]] = field(default_factory=list)
    answers: dict[int, Counter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.engine.create_view("v", PLANS[self.query])

    @property
    def plan(self) -> Node:
        plan = PLANS[self.query]
        return Successor(plan, self.pasts[-1][1]) if self.pasts else plan

    def go_on(self) -> None:
        change(self.rng, self.engine)
        self.note()

    def replace(self) -> None:
        before, self.query = PLANS[self.query], self.rng.choice(list(PLANS))
        self.pasts.append((before, replace_view(self.engine, "v", PLANS[self.query])))
        self.note()

    def note(self) -> None:
        fresh = tables(**{name: bag(self.engine, name) for name in TABLES})
        fresh.create_view("v", PLANS[self.query])
        self.answers[self.engine.snapshot.upper - 1] = bag(fresh, "v")

    def check(self, engine: Engine) -> None:
        """Each epoch, and each change from an epoch to another."""
        since = engine.snapshot.since("v")
        kept = {epoch: rows for epoch, rows in self.answers.items() if epoch >= since}
        assert {epoch: bag(engine, "v", epoch) for epoch in kept} == kept
        epochs = sorted(kept)
        for before, after in pairwise(epochs):
            words, diffs = engine.snapshot.net_changes("v", before, after)
            changed = dict(zip(map(tuple, words.T.tolist()), diffs.tolist(), strict=True))
            expected = Counter(kept[after])
            expected.subtract(kept[before])
            assert changed == {row: count for row, count in expected.items() if count}

    def built_again(self) -> Engine:
        """An engine with the history of the same tables, which has never had another plan."""
        engine = Engine(first=self.engine.snapshot.upper, dictionary=self.engine.dictionary)
        for it in (PAIRS, OTHERS):
            engine.create_source(it.name, it.schema, kept=self.engine.history_of(it.name))
        building = engine.begin_view("v", self.plan)
        building.compute()
        pasts = []
        for plan, until in self.pasts:
            engine.create_view("before", plan)
            pasts.append(Past(engine.snapshot.relations["before"], until, SAME))
            engine.drop_view("before")
        building.precede(pasts)
        engine.adopt(building)
        return engine


@each_seed(few(10))
def test_every_epoch_has_the_rows_of_its_plan(seed: int) -> None:
    """In the engine that goes on, in one that builds the view again, and after both have forgotten."""
    rng = random.Random(seed)
    played = Played(rng)
    for _ in range(30):
        played.replace() if rng.random() < 0.15 else played.go_on()
    played.check(played.engine)
    again = played.built_again()
    assert again.snapshot.since("v") == played.engine.snapshot.since("v")
    played.check(again)
    at = rng.randrange(2, played.engine.snapshot.upper)
    for engine in (played.engine, again):
        for name in (*TABLES, "v"):
            engine.forget(name, at, at_once=rng.random() < 0.5)
        assert engine.snapshot.since("v") == at
        played.check(engine)
    played.engine = again
    for _ in range(5):
        played.go_on()
    played.check(again)


@each_seed(few(4))
def test_it_is_saved_as_what_it_is(seed: int, tmp_path: Path) -> None:
    """Files have the whole history; those of a view that always had the plan are not its own."""
    rng = random.Random(seed)
    played = Played(rng)
    directory = StateDirectory(tmp_path)

    def resumed(plan: Node) -> Engine | None:
        state = SavedState(played.engine.spill(directory, 2), directory)
        engine = Engine()
        engine.resume(state)
        for it in (PAIRS, OTHERS):
            engine.create_source(it.name, it.schema, state=state)
        return engine if engine.restore_view("v", plan, state) else None

    for _ in range(12):
        played.replace() if rng.random() < 0.3 else played.go_on()
        if rng.random() < 0.3:
            engine = resumed(played.plan)
            assert engine is not None
            played.check(engine)
    if played.pasts:
        assert resumed(PLANS[played.query]) is None


@each_seed(few(4))
def test_a_fork_has_the_newest_plan_at_any_epoch(seed: int) -> None:
    rng = random.Random(seed)
    played = Played(rng)
    for _ in range(10):
        played.go_on()
    played.replace()
    for _ in range(5):
        played.go_on()
    epoch = rng.randrange(1, played.engine.snapshot.upper)
    fork = played.engine.fork(list(TABLES), {"v": played.plan}, epoch)
    engine = forked(fork, 1000, DEFAULTS)
    fresh = tables(**{name: bag(played.engine, name, epoch) for name in TABLES})
    fresh.create_view("v", PLANS[played.query])
    assert bag(engine, "v") == bag(fresh, "v")
    assert engine.snapshot.since("v") == 1000


def test_columns_that_come_and_go() -> None:
    engine = tables()
    engine.create_view("v", PLANS["same"])
    insert(engine, "pairs", (1, 2), (3, 4))
    plan = plan_query("SELECT c1 + 1 AS n, c0 AS a FROM pairs", TABLES).plan
    epoch = replace_view(engine, "v", plan, (-1, 0))
    nothing = np.iinfo(np.int64).min
    assert set(bag(engine, "v", epoch - 1)) == {(nothing, 1), (nothing, 3)}
    assert set(bag(engine, "v")) == {(3, 1), (5, 3)}


def test_errors_of_the_new_plan_are_none_of_the_old_one() -> None:
    engine = tables()
    engine.create_view("v", PLANS["same"])
    insert(engine, "pairs", (1, 0))
    plan = plan_query("SELECT c0 AS a, 6 / c1 AS b FROM pairs", TABLES).plan
    epoch = replace_view(engine, "v", plan)
    assert engine.snapshot.errors("v", epoch - 1) == []
    assert len(engine.snapshot.errors("v")) == 1
    insert(engine, "pairs", (1, 0))
    assert engine.snapshot.errors("v", epoch - 1) == []


def test_a_past_with_errors_is_not_told_again() -> None:
    engine = tables()
    failing = plan_query("SELECT c0 AS a, 6 / c1 AS b FROM pairs", TABLES).plan
    insert(engine, "pairs", (1, 0))
    engine.create_view("before", failing)
    past = engine.snapshot.relations["before"]
    epoch = apply(engine, {})
    building = engine.begin_view("v", Successor(PLANS["same"], epoch))
    building.compute()
    building.precede([Past(past, epoch, SAME)])
    engine.adopt(building)
    assert engine.snapshot.since("v") == epoch


def test_operators_are_those_that_run_already() -> None:
    """Nothing is computed, and only the view's own operators stay."""
    engine = tables()
    insert(engine, "pairs", *((i, i % 7) for i in range(100)))
    engine.create_view("v", PLANS["same"])
    engine.create_view("w", PLANS["counted"])
    running = len(engine.observe("w"))
    replace_view(engine, "v", PLANS["counted"])
    assert len(engine.observe("v")) == running
    assert set(engine.snapshot.relations) == {"pairs", "others", "v", "w"}
    assert bag(engine, "v") == bag(engine, "w")
