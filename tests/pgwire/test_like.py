"""LIKE and its escape in an ad-hoc query, with parameters and in a view, beside PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor
from tests.postgres.server import Server

_TEXTS = ["a_b", "axb", "a\\b", "a%", "ab", "A_B", "", "\\", "a\\xb"]
_PATTERNS = [r"a\_b", r"a\\b", r"a\%", r"a\b", "a_b", "%", r"\\", r"%\\%", "A\\_b", ""]
_TESTS = (
    *("s LIKE p", "s NOT LIKE p", "s ILIKE p", "s LIKE 'a\\_b'", "s ILIKE 'A\\_b'", "s LIKE E'a\\\\_b'"),
    *("s LIKE p ESCAPE '!'", "s LIKE 'a!_b' ESCAPE '!'", "s LIKE 'a%'", "s ~~ 'a\\_%'", "s !~~ p"),
)


def _make(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE liked (id INTEGER PRIMARY KEY, s TEXT, p TEXT)")
    pairs = [(text, pattern) for text in _TEXTS for pattern in _PATTERNS]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO liked VALUES (%s, %s, %s)", [(n, s, p) for n, (s, p) in enumerate(pairs)]
        )


def test_like_escapes_as_in_postgres(door: PostgresDoor, postgres: Server) -> None:
    name = postgres.new_database().split("/")[3].split("?")[0]
    columns = ", ".join(f"{test} AS c{place}" for place, test in enumerate(_TESTS))
    asked = f"SELECT id, {columns} FROM liked ORDER BY id"
    with door.connect() as ours, postgres.connect(name) as theirs:
        _make(ours)
        _make(theirs)
        expected = theirs.execute(asked).fetchall()
        assert ours.execute(asked).fetchall() == expected
        ours.execute(f"CREATE VIEW likes AS SELECT id, {columns} FROM liked")
        assert ours.execute("SELECT * FROM likes ORDER BY id").fetchall() == expected
        for pattern in _PATTERNS:
            found = [
                c.execute("SELECT id FROM liked WHERE s LIKE %s ORDER BY 1", [pattern])
                for c in (ours, theirs)
            ]
            assert found[0].fetchall() == found[1].fetchall()


@pytest.mark.parametrize("sql", ["SELECT 'a' LIKE 'a\\'", "SELECT s LIKE '\\' FROM (VALUES ('a')) AS t (s)"])
def test_a_pattern_cannot_end_with_its_escape(connection: psycopg.Connection, sql: str) -> None:
    with pytest.raises(psycopg.Error, match="must not end with escape character"):
        connection.execute(sql)
