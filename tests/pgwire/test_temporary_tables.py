"""CREATE TEMPORARY TABLE: a session's own tables, which nobody else meets by name and which end with it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, refused
from tests.service.waiting import wait_until


def schemas(door: PostgresDoor) -> list[str]:
    return [name for name in door.runtime.schemas() if name.startswith("pg_temp_")]


def test_it_hides_others_of_its_name_and_ends_with_its_session(door: PostgresDoor) -> None:
    with door.connect() as other:
        other.execute("CREATE TABLE kept (id INT)")
        other.execute("INSERT INTO kept VALUES (1)")
        with door.connect() as connection:
            connection.execute("CREATE TEMP TABLE kept (id INT PRIMARY KEY, note TEXT)")
            connection.execute("INSERT INTO kept VALUES (%s, %s)", (7, "own"))
            assert connection.execute("SELECT * FROM kept").fetchall() == [(7, "own")]
            joined = "SELECT k.id, p.id FROM kept k CROSS JOIN public.kept p"
            assert connection.execute(joined).fetchall() == [(7, 1)]
            assert other.execute("SELECT * FROM kept").fetchall() == [(1,)]
            kinds = "SELECT table_type FROM information_schema.tables WHERE table_name = 'kept' ORDER BY 1"
            assert connection.execute(kinds).fetchall() == [("BASE TABLE",), ("LOCAL TEMPORARY",)]
            persistence = "SELECT relpersistence FROM pg_class WHERE relname = 'kept' ORDER BY 1"
            assert connection.execute(persistence).fetchall() == [("p",), ("t",)]
        wait_until(lambda: not schemas(door))
        assert other.execute("SELECT * FROM kept").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TEMPORARY TABLE own AS SELECT 1 AS id",
        "CREATE LOCAL TEMP TABLE own (id) AS VALUES (1)",
        "CREATE GLOBAL TEMPORARY TABLE IF NOT EXISTS own AS (WITH a AS (SELECT 1 AS id) SELECT * FROM a)",
        "CREATE TEMP TABLE own (id INT DEFAULT 1) ON COMMIT PRESERVE ROWS; INSERT INTO own DEFAULT VALUES",
    ],
)
def test_its_forms(connection: psycopg.Connection, made: str) -> None:
    connection.execute(made)
    connection.execute("ALTER TABLE own ADD COLUMN more INT")
    assert connection.execute("SELECT id FROM own").fetchall() == [(1,)]
    connection.execute("DROP TABLE own")
    with refused("42P01"):
        connection.execute("SELECT * FROM own")


def test_it_can_be_prepared(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TEMP TABLE prepared (id INT)", prepare=True)
    connection.execute("INSERT INTO prepared VALUES (%s)", (1,), prepare=True)
    assert connection.execute("SELECT id FROM prepared", prepare=True).fetchall() == [(1,)]


def test_a_table_may_be_called_temp(door: PostgresDoor, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE temp (id INT)")
    assert not schemas(door) and "temp" in door.runtime.definitions()


def test_a_search_path_is_searched_after_it(connection: psycopg.Connection) -> None:
    connection.execute("CREATE SCHEMA looked; CREATE TABLE looked.both (n INT)")
    connection.execute("SET search_path = looked, public")
    connection.execute("INSERT INTO both VALUES (%s)", (1,))
    connection.execute("CREATE TEMP TABLE both (n INT)")
    connection.execute("INSERT INTO both VALUES (%s)", (2,))
    assert connection.execute("SELECT n FROM both").fetchall() == [(2,)]
    assert connection.execute("SELECT n FROM looked.both").fetchall() == [(1,)]
    connection.execute("CREATE TABLE placed (n INT)")
    assert connection.execute("SELECT count(*) FROM looked.placed").fetchone() == (0,)


@pytest.mark.parametrize("said", ["DISCARD TEMP", "DISCARD ALL"])
def test_it_can_be_discarded(door: PostgresDoor, said: str) -> None:
    with door.connect() as connection:
        connection.execute("CREATE TEMP TABLE going (id INT)")
        assert len(schemas(door)) == 1
        connection.execute(said)
        assert not schemas(door)
        connection.execute("CREATE TEMP TABLE going (id INT)")
        connection.execute("DROP TABLE going")


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("CREATE VIEW seen AS SELECT * FROM brief", "42000"),
        ("CREATE TABLE child (id INT REFERENCES brief (id))", "42000"),
        ("CREATE TEMP TABLE public.brief (id INT)", "0A000"),
        ("CREATE TEMP TABLE brief (id INT)", "42P07"),
        ("CREATE TEMP TABLE other (id INT) ON COMMIT DELETE ROWS", "0A000"),
        ("CREATE TEMP VIEW other AS SELECT 1", "0A000"),
        ("ALTER TABLE brief SET SCHEMA public", "0A000"),
        ("CREATE SCHEMA pg_temp_99", "42602"),
        ("BEGIN READ ONLY; CREATE TEMP TABLE other (id INT)", "25006"),
    ],
)
def test_what_it_cannot_be(connection: psycopg.Connection, sql: str, sqlstate: str) -> None:
    connection.execute("CREATE TEMP TABLE brief (id INT PRIMARY KEY)")
    with refused(sqlstate):
        connection.execute(sql)


def test_what_a_crash_has_left_is_gone_after_the_start(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", query_workers=1)
    with PostgresDoor(settings) as door:
        door.run(door.runtime.objects.create_temporary_schema("pg_temp_7"))
        door.post("/v1/sql", {"sql": "CREATE TABLE pg_temp_7.left_over (id INT)"})
        assert schemas(door) == ["pg_temp_7"]
    with PostgresDoor(settings) as door:
        assert not schemas(door) and not door.runtime.definitions()
