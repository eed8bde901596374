"""Draws: small sources are whole, large ones are drawn by what they meet in, and shares are nested."""

from __future__ import annotations

import numpy as np

from engine.costs.draws import Draws, draws_of
from engine.plan.nodes import Join, Node
from engine.runtime.engine import Engine
from tests.engine.harness import delta, source

FACTS, DETAILS, FEW = source("facts", 3), source("details", 2), source("few", 2)
JOINED = Join(Join(FACTS, DETAILS, (0,), (0,)), FEW, (1,), (0,))


def engine_with(facts: np.ndarray, details: np.ndarray) -> Engine:
    engine = Engine()
    rows = {"facts": facts, "details": details, "few": np.array([[n, n] for n in range(10)])}
    for node in (FACTS, DETAILS, FEW):
        engine.create_source(node.name, node.schema)
    engine.stage({name: _delta(its) for name, its in rows.items()}, 2).publish()
    return engine


def _delta(rows: np.ndarray) -> np.ndarray:
    ones = np.ones((2, len(rows)), np.int64)
    return np.ascontiguousarray(np.concatenate([rows.T, ones]))


def even() -> Engine:
    n = np.arange(20_000)
    return engine_with(np.stack([n // 4, n % 10, n], axis=1), np.stack([np.arange(5_000)] * 2, axis=1))


def drawn(plan: Node, engine: Engine, most: int) -> Draws:
    return draws_of(plan, engine.snapshot, most)


def test_what_meets_is_drawn_together() -> None:
    draws = drawn(JOINED, even(), 2_500)
    assert set(draws.large) == {"facts", "details"}
    assert set(draws.whole) == {"few"}
    rows = draws.rows(draws.share)
    keys = [set(rows[name][0].tolist()) for name in ("facts", "details")]
    assert keys[0] == keys[1]
    assert 1_900 < rows["facts"].shape[1] < 2_100 + 400
    assert rows["few"].shape[1] == 10


def test_a_lesser_share_is_part_of_a_greater_one() -> None:
    draws = drawn(JOINED, even(), 2_500)
    one, other = (draws.rows(share)["facts"] for share in (draws.share / 4, draws.share))
    assert set(map(tuple, one.T.tolist())) < set(map(tuple, other.T.tolist()))


def test_what_fits_is_whole() -> None:
    draws = drawn(JOINED, even(), 100_000)
    assert not draws.large
    assert draws.share == 1.0
    assert draws.rows(1.0)["facts"].shape[1] == 20_000


def test_a_heavy_value_is_drawn_row_by_row() -> None:
    n = np.arange(20_000)
    facts = np.stack([np.where(n % 2 == 0, 7, n), n % 10, n], axis=1)
    draws = drawn(JOINED, engine_with(facts, np.stack([n, n], axis=1)[:5_000]), 2_500)
    rows = draws.rows(draws.share)
    heavy = (rows["facts"][0] == 7).sum() / rows["facts"].shape[1]
    assert 0.4 < heavy < 0.6, "half of the rows have the value, and half of those that are drawn"
    assert (rows["details"][0] == 7).sum() == 1, "and the one that they meet is drawn"


def test_a_heavy_value_of_a_small_batch() -> None:
    """Small batches are matrices, which are read in another way."""
    n = np.arange(3_000)
    facts = np.stack([np.where(n % 2 == 0, 7, n), n % 10, n], axis=1)
    rows = drawn(JOINED, engine_with(facts, np.stack([n, n], axis=1)), 600)
    drawn_facts = rows.rows(rows.share)["facts"][0]
    assert 0.3 < (drawn_facts == 7).mean() < 0.7


def test_history_is_drawn_with_its_rows() -> None:
    engine = even()
    changes = [((n // 4, n % 10, n), 2, -1) for n in range(0, 20_000, 2)]
    engine.stage({"facts": delta(3, changes)}, 3).publish()
    rows = drawn(JOINED, engine, 2_500).rows(0.1)["facts"]
    came = {tuple(row) for row in rows[:3, rows[-1] == 1].T.tolist()}
    went = {tuple(row) for row in rows[:3, rows[-1] == -1].T.tolist()}
    assert went == {row for row in came if row[2] % 2 == 0}


def test_nothing_is_drawn_of_nothing() -> None:
    engine = Engine()
    for node in (FACTS, DETAILS, FEW):
        engine.create_source(node.name, node.schema)
    draws = drawn(JOINED, engine, 100)
    assert {name: rows.shape for name, rows in draws.rows(draws.share).items()} == {
        "facts": (5, 0),
        "details": (4, 0),
        "few": (4, 0),
    }
