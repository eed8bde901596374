"""INSERTs that are not planned again: the rows are those of the usual way, and so are the refusals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from service.postgres.inserts_of_values import InsertOfValues
from tests.pgwire.door import PostgresDoor, refused

VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False, None],
    "SMALLINT": [-3, None],
    "BIGINT": [2**62, 1],
    "DOUBLE PRECISION": [1.5, -2e300, 3],
    "REAL": [0.5],
    "NUMERIC(12, 3)": [Decimal("1.5"), Decimal("-0.001"), Decimal("1e3"), 7],
    "TEXT": ["", "it's", "\\N", None],
    "DATE": [date(2024, 2, 29)],
    "TIME": [time(1, 2, 3)],
    "TIMESTAMP": [datetime(2024, 1, 2, 3, 4, 5, 600)],
    "UUID": [UUID(int=7)],
    "BYTEA": [b"\x00\xff"],
    "INT[]": [[1, None]],
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The numbers of rows of the INSERTs that were not planned."""
    found: list[int] = []
    run = InsertOfValues.run

    async def noting(insert: InsertOfValues, *parts: Any) -> int | None:
        count = await run(insert, *parts)
        found.extend([] if count is None else [count])
        return count

    monkeypatch.setattr(InsertOfValues, "run", noting)
    yield found


@pytest.mark.parametrize("kind", VALUES)
def test_rows_are_those_of_the_usual_way(
    connection: psycopg.Connection, counts: list[int], kind: str
) -> None:
    name = "of_" + "".join(filter(str.isalpha, kind)).lower()
    for table in (name, f"{name}_usual"):
        connection.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, v {kind}, d TEXT DEFAULT 'd')")
    given = [(id, value) for id, value in enumerate(VALUES[kind] * 2)]
    for row in given:
        connection.execute(f"INSERT INTO {name} (id, v) VALUES (%s, %s)", row, prepare=True)
        connection.execute(f"INSERT INTO {name}_usual (id, v) VALUES (%s, %s)", row, prepare=False)
    rows = connection.execute(f"SELECT * FROM {name} ORDER BY id").fetchall()
    assert rows == connection.execute(f"SELECT * FROM {name}_usual ORDER BY id").fetchall()
    assert len(rows) == len(given) and {row[2] for row in rows} == {"d"}
    if kind not in ("REAL", "BYTEA", "INT[]"):
        assert counts


def test_rows_and_literals_and_what_they_are_told(connection: psycopg.Connection, counts: list[int]) -> None:
    connection.execute("CREATE TABLE several (id INT PRIMARY KEY, n INT CHECK (n > 0), s TEXT NOT NULL)")
    sql = "INSERT INTO several VALUES (%s, 1, 'x'), (%s, %s, NULL)"
    with refused("23502"):
        connection.execute(sql, (1, 2, 3), prepare=True)
    sql = "INSERT INTO several VALUES (%s, 1, 'x'), (%s, %s, 'y')"
    for first in (1, 3, 5):
        assert connection.execute(sql, (first, first + 1, first), prepare=True).rowcount == 2
    assert counts == [2, 2]
    for row, sqlstate in (((1, 9, 1), "23505"), ((7, 8, -1), "23514")):
        with refused(sqlstate):
            connection.execute(sql, row, prepare=True)
    assert len(connection.execute("SELECT * FROM several").fetchall()) == 6


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {} VALUES (%s, %s) ON CONFLICT DO NOTHING",
        "INSERT INTO {} VALUES (%s, %s) RETURNING id",
        "INSERT INTO {} VALUES (%s, upper(%s))",
        "INSERT INTO {} SELECT %s, %s",
    ],
)
def test_others_are_planned(
    connection: psycopg.Connection, request: pytest.FixtureRequest, counts: list[int], sql: str
) -> None:
    name = "".join(filter(str.isalpha, request.node.callspec.id))[:40].lower()
    connection.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, s TEXT)")
    for id in range(3):
        assert connection.execute(sql.format(name), (id, "A"), prepare=True).rowcount == 1
    assert connection.execute(f"SELECT * FROM {name} ORDER BY id").fetchall() == [(i, "A") for i in range(3)]
    assert not counts


def test_a_table_that_has_changed_counts(door: PostgresDoor, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE altered (id INT PRIMARY KEY)")
    sql = "INSERT INTO altered (id) VALUES (%s)"
    for id in (1, 2, 3):
        connection.execute(sql, (id,), prepare=True)
    connection.execute("ALTER TABLE altered ADD COLUMN s TEXT DEFAULT 'new'")
    connection.execute(sql, (4,), prepare=True)
    connection.execute("CREATE TEMPORARY TABLE altered (id INT)")
    connection.execute(sql, (5,), prepare=True)
    assert connection.execute("SELECT * FROM altered").fetchall() == [(5,)]
    connection.execute("DROP TABLE altered")
    with connection.transaction(force_rollback=True):
        connection.execute(sql, (6,), prepare=True)
    assert door.rows("altered", order_by="id") == [(1, "new"), (2, "new"), (3, "new"), (4, "new")]
