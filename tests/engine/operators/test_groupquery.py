"""Groups answered by queries: how they are asked about, and what is said of those without an answer.

That differences are right, at all times and however history is chopped, is part of the random dataflows.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.errors import PlanError
from engine.kernels.words import NULL
from engine.plan.group_queries import GroupQuery
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.scalar import questions
from engine.schema import BIGINT, INTEGER, TEXT, Column, Schema
from tests.engine.harness import apply, bag, insert
from tests.engine.supersteps.mixed import Mixed, executor_for
from tests.engine.supersteps.test_random_views import Here
from tests.seeds import SEED, each_seed

SOURCE = Source("s", Schema((Column("k", BIGINT), Column("n", BIGINT), Column("t", TEXT))))
LISTED = GroupQuery(
    SOURCE,
    (0,),
    "SELECT g, string_agg(c1, ' ' ORDER BY c1), count(*) FROM groups GROUP BY g",
    Schema((Column("all", TEXT), Column("rows", BIGINT))),
)
NARROW = GroupQuery(
    SOURCE, (0,), "SELECT g, sum(c0) FROM groups GROUP BY g", Schema((Column("sum", INTEGER),))
)


def engine(node: GroupQuery, make: Callable[[], Engine] = Engine) -> Engine:
    made = make()
    made.create_source("s", SOURCE.schema)
    made.create_view("v", node)
    return made


def errors_of(running: Engine) -> dict[str, int]:
    return dict(running.snapshot.errors("v"))


def test_rows_come_as_often_as_they_count() -> None:
    running = engine(LISTED)
    a, b = (running.dictionary.word(text) for text in ("a", "b"))
    apply(running, {"s": [((1, 5, a), 3), ((1, NULL, b), 1), ((2, 0, NULL), 1)]})
    word = running.dictionary.word
    assert bag(running, "v") == Counter([(1, word("a a a b"), 4), (2, NULL, 1)])
    apply(running, {"s": [((1, 5, a), -2), ((2, 0, NULL), -1)]})
    assert bag(running, "v") == Counter([(1, word("a b"), 2)])
    apply(running, {"s": [((1, 5, a), -1), ((1, NULL, b), -1)]})
    assert bag(running, "v") == Counter()


def test_a_group_that_fails_is_an_error_of_its_own() -> None:
    running = engine(NARROW)
    insert(running, "s", (1, 2**31 - 1, NULL), (2, 7, NULL), (3, 2**33, NULL), (4, NULL, NULL))
    assert bag(running, "v") == Counter([(1, 2**31 - 1), (2, 7), (4, NULL)])
    messages = errors_of(running)
    assert list(messages.values()) == [1] and "INT32" in next(iter(messages))
    insert(running, "s", (3, -(2**33), NULL))
    assert bag(running, "v") == Counter([(1, 2**31 - 1), (2, 7), (3, 0), (4, NULL)])
    assert not errors_of(running)


def test_groups_are_asked_about_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(SEED)
    rows = [(rng.randrange(9), rng.randrange(2**30), NULL) for _ in range(200)]
    whole = engine(NARROW)
    insert(whole, "s", *rows)
    monkeypatch.setattr(questions, "TOGETHER", 30)
    parted = engine(NARROW)
    insert(parted, "s", *rows)
    assert bag(parted, "v") == bag(whole, "v")
    assert errors_of(parted) == errors_of(whole) and errors_of(whole)
    monkeypatch.setattr(questions, "TOGETHER", 1)
    monkeypatch.setattr(questions, "MOST", 1)
    insert(parted, "s", *rows[:1])
    assert any("at most 1 are allowed" in message for message in errors_of(parted))


def test_a_query_that_duckdb_refuses_is_refused() -> None:
    unknown = GroupQuery(SOURCE, (0,), "SELECT g, middle(c0) FROM groups GROUP BY g", NARROW.results)
    with pytest.raises(PlanError, match="middle"):
        engine(unknown)


@each_seed(3)
def test_in_supersteps(seed: int, tmp_path: Path) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    mixed, plain = engine(LISTED, lambda: Mixed(executor, rng, 0.7)), engine(LISTED)
    words = [[running.dictionary.word(f"t{i}") for i in range(9)] for running in (mixed, plain)]
    held: list[tuple[int, int, int]] = []
    for _ in range(6):
        gone = [held.pop(rng.randrange(len(held))) for _ in range(min(3, len(held)))]
        come = [(rng.randrange(5), rng.randrange(4), rng.randrange(9)) for _ in range(6)]
        held += come
        for running, texts in ((mixed, words[0]), (plain, words[1])):
            lines = [((k, n, texts[t]), -1) for k, n, t in gone] + [((k, n, texts[t]), 1) for k, n, t in come]
            apply(running, {"s": lines})
        assert bag(mixed, "v") == bag(plain, "v")
    assert executor.done
    assert np.array_equal(mixed.snapshot.changes("v", 0, 6), plain.snapshot.changes("v", 0, 6))
