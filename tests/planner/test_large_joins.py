"""Joins whose pairs would fill the memory are refused before it is gone."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import JoinTooLarge
from engine.kernels.join import MOST_PAIRS
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, Column, Schema
from planner import plan_query
from planner.relation import Relation

SCHEMA = Schema((Column("k", BIGINT, False), Column("x", BIGINT, False)))
ROWS = 6000


def engine_with(keys: int) -> Engine:
    """An engine with two sources of ROWS rows each, that have so many different keys."""
    engine = Engine()
    numbers = np.arange(ROWS)
    upper, ones = engine.snapshot.upper, np.ones(ROWS, np.int64)
    delta = np.stack([numbers % keys, numbers, upper * ones, ones])
    for name in ("t", "u"):
        engine.create_source(name, SCHEMA)
    engine.stage({"t": delta, "u": delta}, upper + 1).publish()
    return engine


def define(engine: Engine, sql: str) -> None:
    catalog = {name: Relation(name, SCHEMA, Source(name, SCHEMA)) for name in ("t", "u")}
    engine.create_view("v", plan_query(sql, catalog, "duckdb").plan)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.x, u.x AS y FROM t ASOF LEFT JOIN u ON t.k = u.k AND t.x > u.x AND t.x <> u.x + 7",
        "SELECT t.x, u.x AS y FROM t JOIN u ON t.k = u.k",
        "SELECT t.x, u.x AS y FROM t CROSS JOIN u",
        "SELECT t.x, u.x AS y FROM t JOIN u ON t.x < u.x",
    ],
)
def test_a_join_of_too_many_pairs_says_how_many(sql: str) -> None:
    with pytest.raises(
        JoinTooLarge, match=rf"{ROWS * ROWS} pairs of rows at once; .* is {MOST_PAIRS}"
    ) as refused:
        define(engine_with(keys=1), sql)
    assert "ASOF JOIN" in refused.value.hint


def test_the_nearest_rows_need_no_pairs() -> None:
    engine = engine_with(keys=1)
    define(engine, "SELECT t.x, u.x AS y FROM t ASOF LEFT JOIN u ON t.k = u.k AND t.x > u.x")
    words, counts = engine.snapshot.rows("v")
    assert counts.sum() == ROWS
    assert (words[0] - words[1] == 1).sum() == ROWS - 1


def test_smaller_keys_are_the_way_out() -> None:
    engine = engine_with(keys=600)
    define(engine, "SELECT t.x, u.x AS y FROM t ASOF JOIN u ON t.k = u.k AND t.x >= u.x AND t.x <> u.x + 7")
    words, counts = engine.snapshot.rows("v")
    assert counts.sum() == ROWS
    assert (words[0] == words[1]).all()
