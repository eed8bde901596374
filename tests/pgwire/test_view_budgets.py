"""EXPLAIN COST and budgets over PostgreSQL's protocol."""

from __future__ import annotations

import psycopg
import pytest

PAIRS = "SELECT a.id, b.id AS other FROM costly a, costly b"


@pytest.fixture
def filled(connection: psycopg.Connection) -> psycopg.Connection:
    connection.autocommit = True
    connection.execute("CREATE TABLE IF NOT EXISTS costly (id BIGINT PRIMARY KEY)")
    connection.execute(
        "INSERT INTO costly SELECT n FROM generate_series(1, 300) AS g(n) ON CONFLICT DO NOTHING"
    )
    return connection


def test_a_session_asks_what_a_view_costs(filled: psycopg.Connection) -> None:
    lines = [row[0] for row in filled.execute(f"EXPLAIN COST {PAIRS}")]
    assert lines[0] == "rows: 90,000"
    assert any("add a condition" in line for line in lines)


def test_a_view_over_its_budget_is_refused(filled: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as refused:
        filled.execute(f"CREATE VIEW pairs WITH (budget_memory = '10 kB') AS {PAIRS}")
    assert refused.value.sqlstate == "53400"
    assert "bytes of memory, and may have 10,000" in str(refused.value)


def test_a_block_does_not_estimate(filled: psycopg.Connection) -> None:
    with filled.transaction(), pytest.raises(psycopg.Error, match="EXPLAIN COST in a block"):
        filled.execute("INSERT INTO costly VALUES (1000)")
        filled.execute(f"EXPLAIN COST {PAIRS}")
