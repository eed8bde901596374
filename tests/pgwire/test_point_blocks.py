"""Point reads in blocks and along search paths: they see what the block sees, and what its names mean."""

from __future__ import annotations

import psycopg
import pytest

from service.sql import sight
from tests.pgwire.door import PostgresDoor
from tests.pgwire.test_sessions import rows
from tests.service.test_point_reads import counted

READ = "SELECT n FROM p WHERE id = %s"


@pytest.fixture
def filled(door: PostgresDoor) -> PostgresDoor:
    """Table p with view q over it, at ten rows; and a.p, which b does not have."""
    with door.connect() as connection:
        for statement in (
            "DROP SCHEMA IF EXISTS a CASCADE",
            "DROP SCHEMA IF EXISTS b CASCADE",
            "DROP TABLE IF EXISTS p CASCADE",
            "CREATE TABLE p (id BIGINT PRIMARY KEY, n BIGINT)",
            "CREATE VIEW q AS SELECT id, n + 1 AS n FROM p",
            "CREATE SCHEMA a",
            "CREATE SCHEMA b",
            "CREATE TABLE a.p (id BIGINT PRIMARY KEY, n BIGINT)",
            "INSERT INTO p SELECT i, i FROM generate_series(1, 10) AS g (i)",
            "INSERT INTO a.p VALUES (3, 300)",
        ):
            connection.execute(statement)
    return door


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE, READ ONLY"])
def test_a_block_reads_points_of_what_it_has_not_changed(filled: PostgresDoor, isolation: str) -> None:
    with filled.connect() as one, filled.connect() as other, counted() as answered:
        one.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        assert rows(one, READ, 3) == [(3,)]
        other.execute("UPDATE p SET n = 30 WHERE id = 3")
        assert rows(one, READ, 3) == [(30 if isolation == "READ COMMITTED" else 3,)]
        assert rows(one, "SELECT n FROM q WHERE id = %s", 3) == [
            (31 if isolation == "READ COMMITTED" else 4,)
        ]
        one.execute("COMMIT")
    assert answered == [True] * 3


def test_a_block_sees_its_own_changes(filled: PostgresDoor) -> None:
    with filled.connect() as connection, counted() as answered:
        connection.execute("BEGIN")
        assert rows(connection, READ, 3) == [(3,)] and answered == [True]
        connection.execute("UPDATE p SET n = 30 WHERE id = 3")
        connection.execute("SAVEPOINT s")
        connection.execute("DELETE FROM p WHERE id = 4")
        assert [rows(connection, READ, key) for key in (3, 4, 5)] == [[(30,)], [], [(5,)]]
        assert rows(connection, "SELECT n FROM a.p WHERE id = 3") == [(300,)]
        assert answered == [True, True]
        with pytest.raises(psycopg.errors.DatabaseError, match="before COMMIT"):
            rows(connection, "SELECT n FROM q WHERE id = 3")
        connection.execute("ROLLBACK TO s")
        assert [rows(connection, READ, key) for key in (3, 4)] == [[(30,)], [(4,)]]
        connection.execute("ROLLBACK")
        assert rows(connection, READ, 3) == [(3,)]
        assert answered == [True] * 3


@pytest.mark.parametrize("other_row", [True, False])
def test_what_a_point_read_saw_is_held_against_the_commit(filled: PostgresDoor, other_row: bool) -> None:
    """The block is computed again if the row that it has read has changed, and only then."""
    with filled.connect() as one, filled.connect() as other:
        one.execute("BEGIN")
        one.execute("INSERT INTO a.p VALUES (9, 9)")
        with counted() as answered:
            assert rows(one, READ, 3) == [(3,)]
            other.execute(f"UPDATE p SET n = 0 WHERE id = {4 if other_row else 3}")
            if other_row:
                one.execute("COMMIT")
                return
            with pytest.raises(psycopg.errors.SerializationFailure):
                one.execute("COMMIT")
        assert answered == [True, True]
        assert rows(one, "SELECT * FROM a.p WHERE id = 9") == []


def test_a_block_is_computed_again_with_its_point_reads(filled: PostgresDoor) -> None:
    with filled.connect() as one, filled.connect() as other, counted() as answered:
        one.execute("BEGIN")
        one.execute("UPDATE a.p SET n = n + 1 WHERE id = 3")
        assert rows(one, READ, 3) == [(3,)]
        other.execute("UPDATE a.p SET n = 1 WHERE id = 8 OR id = 3; INSERT INTO a.p VALUES (8, 8)")
        one.execute("COMMIT")
        assert answered == [True, True]
        assert rows(one, "SELECT n FROM a.p WHERE id = 3") == [(2,)]


def test_drivers_blocks_need_no_worker(filled: PostgresDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Psycopg without autocommit, and pipelined statements, which are implicit blocks."""

    def no_worker(*args: object) -> None:
        raise AssertionError("a table was given to DuckDB")

    monkeypatch.setattr(sight, "arrow_table", no_worker)
    with filled.connect(autocommit=False) as connection:
        assert rows(connection, READ, 3) == [(3,)] and rows(connection, READ, 4) == [(4,)]
        with connection.pipeline():
            found = [connection.execute(READ, (key,)) for key in (5, 6, 70)]
            assert [cursor.fetchall() for cursor in found] == [[(5,)], [(6,)], []]


def test_names_mean_what_the_search_path_says(filled: PostgresDoor) -> None:
    with filled.connect() as connection, counted() as answered:
        for path, found in [
            ("public", 3),
            ("a", 300),
            ("a, public", 300),
            ("b, public", 3),
            ("public, a", 3),
            ("nowhere, a", 300),
        ]:
            connection.execute(f"SET search_path = {path}")
            for _ in range(2):
                assert rows(connection, READ, 3) == [(found,)], path
        assert answered == [True] * 12
        connection.execute("SET search_path = b, public")
        connection.execute("CREATE TABLE b.p (id BIGINT PRIMARY KEY, n BIGINT)")
        assert rows(connection, READ, 3) == []
        connection.execute("BEGIN")
        connection.execute("INSERT INTO p VALUES (3, 3000)")
        assert rows(connection, READ, 3) == [(3000,)]
        connection.execute("COMMIT")
        assert rows(connection, READ, 3) == [(3000,)]
        connection.execute("DROP TABLE b.p")
        assert rows(connection, READ, 3) == [(3,)]
        assert answered == [True] * 15


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT n FROM a.p WHERE id = %s", [(300,)]),
        ("SELECT p.n FROM a.p WHERE p.id = %s", [(300,)]),
        ("SELECT a.p.n FROM a.p WHERE a.p.id = %s", [(300,)]),
        ("SELECT x.* FROM a.p AS x WHERE x.id = %s", [(3, 300)]),
        ("SELECT n FROM freshet.a.p WHERE id = %s", [(300,)]),
        ("SELECT n + 1 AS m FROM freshet.public.p WHERE p.id = %s", [(4,)]),
        ("SELECT public.p.n FROM public.p WHERE id = %s", [(3,)]),
    ],
)
def test_names_may_have_a_schema_and_the_database(filled: PostgresDoor, query: str, found: list) -> None:
    with filled.connect() as connection, counted() as answered:
        assert [rows(connection, query, 3) for _ in range(2)] == [found] * 2
        assert answered == [True] * 2


def test_another_database_has_other_tables(filled: PostgresDoor) -> None:
    with filled.connect() as connection:
        with pytest.raises(psycopg.errors.UndefinedTable, match=r"other\.public"):
            rows(connection, "SELECT n FROM other.public.p WHERE id = 3")
        assert rows(connection, "SELECT n FROM freshet.public.p WHERE id = 3")
