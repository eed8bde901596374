"""What the client says of a view's cost, and budgets that refuse it."""

from __future__ import annotations

import asyncio

import pytest

import freshet
from freshet import Connection
from tests.service.client import Process

PAIRS = "SELECT a.id AS x, b.id AS y FROM {0} a, {0} b"


@pytest.fixture
def table(db: Connection, name: str) -> str:
    db.sql(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY)")
    db.sql(f"INSERT INTO {name} SELECT n FROM generate_series(1, 300) AS g(n)")
    return name


def test_an_estimate_is_a_dictionary(db: Connection, table: str) -> None:
    found = db.estimate_view(f"{table}_v", PAIRS.format(table), budget={"memory_bytes": 10_000})
    assert (found["rows"], len(found["over_budget"])) == (90_000, 1)
    assert not any(view.name == f"{table}_v" for view in db.views())


def test_both_connections_say_the_same(service: Process, db: Connection, table: str) -> None:
    async def rows() -> int:
        async with freshet.connect_async(service.url) as connection:
            return (await connection.estimate_view("v", PAIRS.format(table)))["rows"]

    assert asyncio.run(rows()) == db.estimate_view("v", PAIRS.format(table))["rows"]


@pytest.mark.parametrize("or_replace", [False, True])
def test_a_budget_refuses_a_view(db: Connection, table: str, or_replace: bool) -> None:
    sql, view = PAIRS.format(table), f"{table}_v"
    with pytest.raises(freshet.Error) as refused:
        db.create_view(view, sql, or_replace=or_replace, budget={"memory_bytes": 10_000})
    assert refused.value.code == "over_view_budget"
    budget = {"memory_bytes": 1e9, "build_seconds": 600, "change_milliseconds": 10_000}
    db.create_view(view, sql, or_replace=or_replace, budget=budget)
    assert len(db.view(view).rows(limit=5).tuples()) == 5
