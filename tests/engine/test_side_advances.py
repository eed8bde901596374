"""Side advances: a large change that is computed beside joins as if it had come then."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EpochError
from engine.runtime.engine import Engine, Stage
from engine.runtime.side_advance import Outdated, SideAdvance
from engine.runtime.side_files import SideFiles
from engine.runtime.spill import SavedState
from engine.state.store.directory import StateDirectory
from planner import plan_query
from planner.relation import Relation
from tests.engine.harness import apply, bag, delete, delta, insert, source

PAIRS, OTHERS = source("pairs", 2), source("others", 2)
TABLES = {it.name: Relation(it.name, it.schema, it, None) for it in (PAIRS, OTHERS)}
QUERIES = {
    "joined": "SELECT p.c0, o.c1 FROM pairs p JOIN others o ON p.c1 = o.c0",
    "counted": "SELECT c0, count(*) AS n, max(c1) AS most FROM pairs GROUP BY c0",
    "failing": "SELECT sum(6 / (c1 - 5)) AS s FROM pairs WHERE c0 > 3",
    "reach": """
        WITH RECURSIVE r(a, b) AS (
            SELECT c0, c1 FROM pairs UNION SELECT r.a, p.c1 FROM r JOIN pairs p ON r.b = p.c0
        ) SELECT a, count(*) AS n FROM r GROUP BY a
    """,
    "untouched": "SELECT c1, count(*) AS n FROM others GROUP BY c1",
}
PLANS = {name: plan_query(sql, TABLES).plan for name, sql in QUERIES.items()}
LARGE = [((i % 10, i % 7), 1) for i in range(500)]


@pytest.fixture
def directory(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


@pytest.fixture
def engine() -> Engine:
    return started()


def started() -> Engine:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_source("others", OTHERS.schema)
    for name, plan in PLANS.items():
        engine.create_view(name, plan)
    insert(engine, "pairs", (1, 1), (2, 1))
    insert(engine, "others", (1, 5))
    return engine


def computed(engine: Engine, changes: list = LARGE) -> SideAdvance:
    aside = engine.begin_aside("pairs")
    aside.compute({"pairs": delta(2, [(row, 0, diff) for row, diff in changes])})
    return aside


def staged(engine: Engine, aside: SideAdvance, directory: StateDirectory, ahead: int = 0) -> Stage:
    files = SideFiles(aside, directory, 2)
    files.write(engine.snapshot.upper + ahead)
    return engine.join(aside, files)


def everything(engine: Engine) -> dict[tuple[str, int], tuple[Counter, list]]:
    """The rows and errors of every relation at every epoch."""
    return {
        (name, epoch): (bag(engine, name, epoch), engine.snapshot.errors(name, epoch))
        for name in ("pairs", "others", *PLANS)
        for epoch in range(1, engine.snapshot.upper)
    }


def meanwhile(engine: Engine) -> None:
    insert(engine, "pairs", (1, 6), (9, 9), (8, 5))
    apply(engine, {"others": [((1, 5), -1), ((6, 6), 1)], "pairs": [((2, 1), -1)]})


def test_it_comes_after_what_came_meanwhile(engine: Engine, directory: StateDirectory) -> None:
    expected = started()
    aside = computed(engine)
    for each in (engine, expected):
        meanwhile(each)
    staged(engine, aside, directory).publish()
    engine.discard(aside)
    apply(expected, {"pairs": LARGE})
    for each in (engine, expected):
        insert(each, "others", (3, 3))
        delete(each, "pairs", (1, 1), (0, 0))
    assert everything(engine) == everything(expected)
    for name in PLANS:
        changes = [each.snapshot.changes(name, 0, 99) for each in (engine, expected)]
        assert np.array_equal(*changes)


def test_it_comes_at_an_epoch_ahead(engine: Engine, directory: StateDirectory) -> None:
    """The epochs before it are made too, without changes."""
    aside, upper = computed(engine), engine.snapshot.upper
    before = bag(engine, "joined")
    staged(engine, aside, directory, ahead=3).publish()
    assert engine.snapshot.upper == upper + 4
    assert bag(engine, "joined", upper + 2) == before
    assert bag(engine, "joined") != before


def test_an_epoch_that_has_passed(engine: Engine, directory: StateDirectory) -> None:
    aside = computed(engine)
    files = SideFiles(aside, directory, 2)
    files.write(engine.snapshot.upper)
    meanwhile(engine)
    with pytest.raises(EpochError):
        engine.join(aside, files)
    aside.catch_up(engine.snapshot)
    files.write(engine.snapshot.upper)
    engine.join(aside, files).publish()
    assert sum(bag(engine, "pairs").values()) == 4 + len(LARGE)


def test_two_at_a_time(engine: Engine, directory: StateDirectory) -> None:
    """To each, what the other makes is a change like any."""
    expected = started()
    first = computed(engine)
    meanwhile(engine)
    second = computed(engine, LARGE[:100])
    for aside in (second, first):
        staged(engine, aside, directory).publish()
        engine.discard(aside)
    meanwhile(expected)
    apply(expected, {"pairs": LARGE[:100]})
    apply(expected, {"pairs": LARGE})
    assert everything(engine) == everything(expected)


def test_an_aborted_join_changes_nothing(engine: Engine, directory: StateDirectory) -> None:
    aside = computed(engine)
    meanwhile(engine)
    before = everything(engine)
    staged(engine, aside, directory).abort()
    engine.discard(aside)
    assert everything(engine) == before
    expected = started()
    meanwhile(expected)
    for each in (engine, expected):
        apply(each, {"pairs": [((7, 6), 1)]})
    assert everything(engine) == everything(expected)


def test_its_manifest_is_the_state(engine: Engine, directory: StateDirectory) -> None:
    aside = computed(engine)
    meanwhile(engine)
    stage = staged(engine, aside, directory)
    manifest = stage.manifest
    stage.publish()
    engine.discard(aside)
    assert manifest is not None
    again = Engine()
    state = SavedState(manifest, directory)
    again.resume(state)
    for it in (PAIRS, OTHERS):
        again.create_source(it.name, it.schema, state=state)
    assert all(again.restore_view(name, plan, state) for name, plan in PLANS.items())
    for each in (engine, again):
        insert(each, "others", (3, 3))
        delete(each, "pairs", (1, 1), (0, 0))
    assert everything(engine) == everything(again)


def test_history_is_kept_apart_while_it_is_computed(engine: Engine, directory: StateDirectory) -> None:
    aside = computed(engine)
    meanwhile(engine)
    engine.forget("joined", engine.snapshot.upper - 1)
    assert engine.snapshot.since("joined") <= aside.epoch
    staged(engine, aside, directory).publish()
    engine.discard(aside)
    engine.forget("joined", engine.snapshot.upper - 1)
    assert engine.snapshot.since("joined") == engine.snapshot.upper - 1


@pytest.mark.parametrize("change", ["create", "again", "table"])
def test_a_relation_that_is_another_by_now(engine: Engine, directory: StateDirectory, change: str) -> None:
    aside = computed(engine)
    if change == "create":
        engine.create_view("new", plan_query("SELECT DISTINCT c1 FROM pairs", TABLES).plan)
    elif change == "again":
        engine.drop_view("counted")
        engine.create_view("counted", PLANS["counted"])
    else:
        for name in ("joined", "untouched"):
            engine.drop_view(name)
        engine.drop_source("others")
    before = bag(engine, "pairs")
    with pytest.raises(Outdated):
        staged(engine, aside, directory)
    assert bag(engine, "pairs") == before


def test_a_view_that_was_dropped_does_not_matter(engine: Engine, directory: StateDirectory) -> None:
    aside = computed(engine)
    engine.drop_view("joined")
    staged(engine, aside, directory).publish()
    assert bag(engine, "counted")[1, 51, 6] == 1
    insert(engine, "others", (1, 1))
    insert(engine, "pairs", (1, 1))
    assert bag(engine, "counted")[1, 52, 6] == 1
