"""LOCK, maintenance and owners: what scripts for PostgreSQL say, and what it means here."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor, refused


@pytest.fixture(scope="module", autouse=True)
def made(door: PostgresDoor) -> Iterator[None]:
    with door.connect() as connection:
        connection.execute("CREATE TABLE kept (id BIGINT PRIMARY KEY, owner TEXT)")
        connection.execute("CREATE VIEW owners AS SELECT owner, count(*) AS n FROM kept GROUP BY owner")
        connection.execute("CREATE SCHEMA stored")
        connection.execute("CREATE TYPE mood AS ENUM ('good')")
    yield


@pytest.mark.parametrize(
    "sql",
    [
        "ANALYZE",
        "ANALYZE VERBOSE kept (id), owners",
        "ANALYZE (SKIP_LOCKED) pg_class, pg_catalog.pg_type",
        "VACUUM",
        "VACUUM FULL VERBOSE public.kept",
        "VACUUM (ANALYZE, VERBOSE) kept (id, owner)",
        "REINDEX TABLE CONCURRENTLY kept",
        "REINDEX (VERBOSE) DATABASE freshet",
        "CLUSTER kept USING kept_pkey",
        "CHECKPOINT",
    ],
)
def test_maintenance_does_nothing_and_says_so(connection: psycopg.Connection, sql: str) -> None:
    told: list[str] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    assert connection.execute(sql).statusmessage == sql.split()[0]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("ANALYZE nope", "42P01"),
        ("VACUUM kept, nope", "42P01"),
        ("REINDEX TABLE nope", "42P01"),
        ("VACUUM kept nope", "42601"),
        ("REINDEX", "42601"),
        ("CHECKPOINT now", "42601"),
        ("LOCK TABLE kept", "25P01"),
        ("ALTER TABLE nope OWNER TO me", "42P01"),
        ("ALTER SCHEMA nope OWNER TO me", "3F000"),
        ("ALTER TABLE kept OWNER TO 'me'", "42601"),
    ],
)
def test_mistakes_have_sqlstates(connection: psycopg.Connection, sql: str, sqlstate: str) -> None:
    with refused(sqlstate):
        connection.execute(sql)


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("VACUUM kept", "25001"),
        ("REINDEX DATABASE freshet", "25001"),
        ("LOCK nope", "42P01"),
        ("LOCK kept IN NOPE MODE", "42601"),
    ],
)
def test_mistakes_in_a_block_have_sqlstates(door: PostgresDoor, sql: str, sqlstate: str) -> None:
    with door.connect() as connection:
        connection.execute("BEGIN")
        with refused(sqlstate):
            connection.execute(sql)


@pytest.mark.parametrize(
    ("mode", "pins"),
    [
        ("", True),
        ("IN SHARE MODE", True),
        ("IN SHARE ROW EXCLUSIVE MODE", True),
        ("IN EXCLUSIVE MODE NOWAIT", True),
        ("IN ACCESS EXCLUSIVE MODE", True),
        ("IN ACCESS SHARE MODE", False),
        ("IN ROW SHARE MODE", False),
        ("IN ROW EXCLUSIVE MODE", False),
        ("IN SHARE UPDATE EXCLUSIVE MODE", False),
    ],
)
def test_a_locked_block_sees_one_state(door: PostgresDoor, mode: str, pins: bool) -> None:
    """What it reads cannot change before its COMMIT succeeds, if the mode keeps others from writing."""
    with door.connect() as first, door.connect() as second:
        second.execute("DELETE FROM kept")
        first.execute("BEGIN")
        assert first.execute(f"LOCK TABLE kept, ONLY owners {mode}").statusmessage == "LOCK TABLE"
        assert first.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        second.execute("INSERT INTO kept VALUES (1, 'ann')")
        assert first.execute("SELECT count(*) FROM kept").fetchone() == (0 if pins else 1,)
        first.execute("INSERT INTO kept VALUES (2, 'bob')")
        if pins:
            with refused("40001"):
                first.execute("COMMIT")
        else:
            first.execute("COMMIT")


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE ONLY public.kept OWNER TO postgres",
        "ALTER TABLE IF EXISTS nope OWNER TO postgres",
        "ALTER VIEW owners OWNER TO CURRENT_USER",
        "ALTER MATERIALIZED VIEW owners OWNER TO postgres",
        'ALTER SCHEMA stored OWNER TO "Somebody"',
        "ALTER TYPE mood OWNER TO postgres",
    ],
)
def test_an_owner_is_taken_with_a_notice(connection: psycopg.Connection, sql: str) -> None:
    told: list[str] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    connection.execute(sql)
    assert told == ["there are no owners: GRANT and roles say who may do what"]


def test_a_column_may_be_called_owner(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE things (id INT, owner TEXT)")
    connection.execute("ALTER TABLE things RENAME owner TO holder")
    assert connection.execute("SELECT holder FROM things").fetchall() == []
