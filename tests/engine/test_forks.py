"""Forks: engines that go on from one state, each by itself, without copies."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from engine.errors import EpochError
from engine.runtime.engine import Engine
from engine.runtime.fork import Fork
from engine.runtime.forking import forked
from engine.runtime.options import DEFAULTS, Options
from engine.schema import BIGINT, TEXT, Column, Schema
from planner import plan_query
from planner.relation import Relation
from tests.engine.harness import apply, bag, delete, delta, insert, source
from tests.seeds import each_seed, few

PAIRS, OTHERS = source("pairs", 2), source("others", 2)
TABLES = {it.name: Relation(it.name, it.schema, it, None) for it in (PAIRS, OTHERS)}
QUERIES = {
    "joined": "SELECT p.c0, o.c1 FROM pairs p JOIN others o ON p.c1 = o.c0",
    "counted": "SELECT c0, count(*) AS n, max(c1) AS most FROM pairs GROUP BY c0",
    "averaged": "SELECT c0, avg(c1) AS middle FROM pairs GROUP BY c0",
    "failing": "SELECT sum(6 / (c1 - 5)) AS s FROM pairs WHERE c0 > 3",
    "reach": """
        WITH RECURSIVE r(a, b) AS (
            SELECT c0, c1 FROM pairs UNION SELECT r.a, p.c1 FROM r JOIN pairs p ON r.b = p.c0
        ) SELECT a, count(*) AS n FROM r GROUP BY a
    """,
    "first": "SELECT c0, c1, row_number() OVER (PARTITION BY c0 ORDER BY c1) AS place FROM others",
    "constant": "SELECT c0 FROM others UNION ALL SELECT 7",
}
PLANS = {name: plan_query(sql, TABLES).plan for name, sql in QUERIES.items()}
FAR = 10**12


def started(**rows: Counter) -> Engine:
    """An engine whose tables have these rows."""
    engine = Engine()
    for it in (PAIRS, OTHERS):
        engine.create_source(it.name, it.schema)
    for name, plan in PLANS.items():
        engine.create_view(name, plan)
    apply(engine, {name: list(bag.items()) for name, bag in rows.items()})
    return engine


def taken(engine: Engine, epoch: int | None = None, beginning: int = FAR) -> tuple[Fork, Engine]:
    fork = engine.fork(list(TABLES), PLANS, epoch)
    return fork, forked(fork, beginning, DEFAULTS)


def everything(engine: Engine, epoch: int | None = None) -> dict[str, tuple[Counter, list]]:
    """The rows and errors of every relation."""
    names = (*TABLES, *PLANS)
    return {name: (bag(engine, name, epoch), engine.snapshot.errors(name, epoch)) for name in names}


def from_scratch(engine: Engine) -> Engine:
    """A new engine over the rows that the tables of an engine have now."""
    return started(**{name: bag(engine, name) for name in TABLES})


def change(rng: random.Random, engine: Engine) -> None:
    """An epoch of random changes: no row is deleted that is not there."""
    changes: dict[str, list] = {}
    for name in rng.sample(list(TABLES), rng.randrange(1, 3)):
        there = list(bag(engine, name).elements())
        gone = rng.sample(there, min(len(there), rng.randrange(4)))
        if rng.random() < 0.1:
            gone = there
        new = [(rng.randrange(6), rng.randrange(7)) for _ in range(rng.randrange(5))]
        changes[name] = [(row, -1) for row in gone] + [(row, 1) for row in new]
    apply(engine, changes)


@each_seed(few(12))
def test_each_is_as_from_scratch(seed: int) -> None:
    """Whoever changes, and from whatever epoch an engine goes on, also from that of a fork."""
    rng = random.Random(seed)
    engines = [started()]
    histories = [{1: everything(engines[0])}]
    for _ in range(30):
        at = rng.randrange(len(engines))
        engine, history = engines[at], histories[at]
        if rng.random() < 0.25 and len(engines) < 6:
            epoch = rng.choice(list(history))
            beginning = (len(engines) + 1) * FAR
            _, other = taken(engine, epoch, beginning)
            assert everything(other) == history[epoch]
            engines.append(other)
            histories.append({beginning: history[epoch]})
            continue
        change(rng, engine)
        history[engine.snapshot.upper - 1] = everything(engine)
    for engine, history in zip(engines, histories, strict=True):
        assert everything(engine) == everything(from_scratch(engine))
        assert {epoch: everything(engine, epoch) for epoch in history} == history


def test_nothing_is_copied() -> None:
    engine = started(pairs=Counter({(i, i % 5): 1 for i in range(20_000)}))
    fork, other = taken(engine)
    assert other.departed(fork) == 0
    insert(other, "pairs", (-1, -1))
    assert 0 < other.departed(fork) < 20_000
    shared = {id(layer) for layer in engine.snapshot.relations["pairs"].layers}
    assert shared < {id(layer) for layer in other.snapshot.relations["pairs"].layers}


def test_an_earlier_epoch_costs_what_has_changed_since() -> None:
    engine = started(pairs=Counter({(i, i % 5): 1 for i in range(20_000)}))
    before = everything(engine)
    insert(engine, "pairs", (-1, -1))
    fork, other = taken(engine, engine.snapshot.upper - 2)
    assert everything(other) == before
    assert 0 < other.departed(fork) < 20_000


def test_its_epochs_are_its_own() -> None:
    engine = started(pairs=Counter({(1, 1): 1}))
    _, other = taken(engine)
    assert other.snapshot.upper == FAR + 1
    for epoch in (1, FAR - 1, FAR + 1):
        with pytest.raises(EpochError):
            bag(other, "pairs", epoch)
    insert(other, "pairs", (2, 2))
    assert bag(other, "pairs", FAR) == {(1, 1): 1}
    words, diffs = other.snapshot.net_changes("pairs", FAR, FAR + 1)
    assert (words.T.tolist(), diffs.tolist()) == ([[2, 2]], [1])
    with pytest.raises(EpochError):
        forked(engine.fork(list(TABLES), PLANS), 1, DEFAULTS)


def test_the_engine_keeps_the_epochs_until_the_end() -> None:
    engine = started(pairs=Counter({(1, 1): 1}))
    insert(engine, "pairs", (2, 2))
    fork, _ = taken(engine, 1)
    insert(engine, "pairs", (3, 3))
    engine.forget("pairs", 3)
    assert bag(engine, "pairs", 1) == {(1, 1): 1}
    engine.discard(fork)
    engine.forget("pairs", 3)
    with pytest.raises(EpochError):
        bag(engine, "pairs", 1)
    with pytest.raises(EpochError, match="is not kept"):
        engine.fork(list(TABLES), PLANS, 1)


def test_what_it_was_taken_from_may_go() -> None:
    engine = started(pairs=Counter({(1, 1): 1, (1, 2): 1}))
    _, other = taken(engine)
    for view in PLANS:
        engine.drop_view(view)
    delete(engine, "pairs", (1, 1))
    engine.drop_source("pairs")
    insert(other, "pairs", (2, 1))
    assert everything(other) == everything(from_scratch(other))


def test_a_view_that_has_failed() -> None:
    """One that had failed before stays so; one that failed later is there again at the earlier epoch."""
    engine = Engine(Options(max_rounds=10))
    engine.create_source("pairs", PAIRS.schema)
    query = (
        "WITH RECURSIVE n(i) AS (SELECT c0 FROM pairs UNION SELECT i + 1 FROM n WHERE i < 99) SELECT i FROM n"
    )
    plan = plan_query(query, TABLES).plan
    engine.create_view("counting", plan)
    good = insert(engine, "pairs", (98, 1))
    epoch = engine.snapshot.upper
    stage = engine.stage({"pairs": delta(2, [((1, 1), epoch, 1)])}, epoch + 1)
    assert set(stage.failed) == {"counting"}
    stage.publish()
    failed = forked(engine.fork(["pairs"], {"counting": plan}), FAR, Options(max_rounds=10))
    assert failed.snapshot.failure("counting")
    insert(failed, "pairs", (2, 2))
    back = forked(engine.fork(["pairs"], {"counting": plan}, good), FAR, Options(max_rounds=10))
    assert bag(back, "counting") == {(98,): 1, (99,): 1}
    insert(back, "pairs", (97, 2))
    assert bag(back, "counting") == {(97,): 1, (98,): 1, (99,): 1}


def test_texts_stay_as_long_as_a_fork_has_them() -> None:
    schema = Schema((Column("id", BIGINT, nullable=False), Column("name", TEXT, nullable=False)))
    engine = Engine()
    engine.create_source("named", schema)
    words = engine.dictionary.intern([f"text {i}" for i in range(1 << 15)])
    rows = np.vstack((np.arange(len(words)), words, np.ones_like(words), np.ones_like(words)))
    engine.stage({"named": rows}, 2).publish()
    fork = engine.fork(["named"], {})
    other = forked(fork, FAR, DEFAULTS)
    gone = rows.copy()
    gone[-2], gone[-1] = 2, -1
    engine.stage({"named": gone}, 3).publish()
    engine.forget("named", 2)
    assert engine.dictionary.collection(engine.differences()) is None
    assert other.dictionary.text(int(other.snapshot.rows("named")[0][1, 0])).startswith("text ")
    engine.discard(fork)
    del fork
    assert engine.dictionary.collection(engine.differences()) is not None
