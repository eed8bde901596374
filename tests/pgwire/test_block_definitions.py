"""Definitions in blocks, as tools send them: some wait for COMMIT, and one view takes the name of another."""

from __future__ import annotations

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor, refused


def comment(door: PostgresDoor, name: str, column: str = "") -> str | None:
    return door.runtime.definition(name).details.comments.get(column)


def indexes(door: PostgresDoor, name: str) -> list[str]:
    return [index.name for index in door.runtime.definition(name).details.indexes]


LATE = "COMMENT ON COLUMN late.n IS 'a number'; CREATE INDEX late_n ON late (n)"


@pytest.fixture
def late(door: PostgresDoor) -> str:
    with door.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS late; CREATE TABLE late (id INT PRIMARY KEY, n INT)")
    return "late"


def test_comments_and_indexes_wait_for_the_rows_of_their_block(door: PostgresDoor, late: str) -> None:
    with door.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO late VALUES (1, 2)")
        for statement in LATE.split(";"):
            connection.execute(statement)
        assert comment(door, late, "n") is None and not indexes(door, late)
        before = door.runtime.snapshot.upper
        connection.execute("COMMIT")
        assert comment(door, late, "n") == "a number" and indexes(door, late) == ["late_n"]
        assert door.rows(late) == [(1, 2)] and door.runtime.snapshot.upper > before


@pytest.mark.parametrize("end", ["ROLLBACK", "ROLLBACK TO kept; COMMIT"])
def test_they_go_with_what_is_undone(door: PostgresDoor, late: str, end: str) -> None:
    with door.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO late VALUES (1, 2); SAVEPOINT kept")
        for statement in (*LATE.split(";"), *end.split(";")):
            connection.execute(statement)
    assert comment(door, late, "n") is None and not indexes(door, late)
    assert len(door.rows(late)) == ("COMMIT" in end)


def test_one_that_fails_in_the_end_is_told_and_the_rows_are_there(door: PostgresDoor, late: str) -> None:
    with door.connect() as connection, door.connect() as other:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        connection.execute("BEGIN")
        connection.execute("INSERT INTO late VALUES (1, 2)")
        connection.execute("CREATE INDEX late_n ON late (n)")
        other.execute("CREATE INDEX late_n ON late (n)")
        connection.execute("COMMIT")
        assert "the rows of the block are stored" in notices[-1] and door.rows(late) == [(1, 2)]


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("COMMENT ON TABLE nowhere IS 'x'", "42P01"),
        ("CREATE INDEX ON nowhere (n)", "42P01"),
        ("COMMENT ON VIEW late IS 'x'", "42809"),
    ],
)
def test_what_does_not_exist_fails_at_once(door: PostgresDoor, late: str, sql: str, sqlstate: str) -> None:
    with door.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO late VALUES (1, 2)")
        with refused(sqlstate):
            connection.execute(sql)


def test_rights_follow_changes(door: PostgresDoor, late: str) -> None:
    with door.connect() as connection:
        connection.execute("CREATE ROLE lately")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO late VALUES (1, 2)")
        connection.execute("GRANT SELECT ON late TO lately")
        connection.execute("COMMIT")
        assert door.rows(late) == [(1, 2)]


def test_a_view_takes_the_place_of_another(connection: psycopg.Connection) -> None:
    """As PostgreSQL does it: readers follow the old view to its new name, and go with it."""
    connection.execute("CREATE TABLE swapped (n INT); INSERT INTO swapped VALUES (1)")
    connection.execute("CREATE VIEW model AS SELECT n FROM swapped")
    connection.execute("CREATE VIEW reader AS SELECT n FROM model")
    connection.execute("BEGIN")
    connection.execute('CREATE VIEW "freshet"."public"."model__tmp" AS (SELECT n + 1 AS n FROM swapped)')
    connection.execute('ALTER TABLE "freshet"."public"."model" RENAME TO "model__backup"')
    connection.execute('ALTER TABLE "freshet"."public"."model__tmp" RENAME TO "model"')
    connection.execute("COMMIT")
    assert connection.execute("SELECT * FROM model").fetchall() == [(2,)]
    assert connection.execute("SELECT * FROM reader").fetchall() == [(1,)]
    connection.execute('DROP MATERIALIZED VIEW IF EXISTS "freshet"."public"."model__backup" CASCADE')
    with refused("42P01"):
        connection.execute("SELECT * FROM reader")
    connection.execute("INSERT INTO swapped VALUES (5)")
    assert connection.execute("SELECT * FROM model ORDER BY 1").fetchall() == [(2,), (6,)]


def test_refreshing_finds_a_view_up_to_date(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE flowing (n INT); CREATE VIEW fresh AS SELECT n FROM flowing")
    connection.execute("INSERT INTO flowing VALUES (1)")
    for sql in ("REFRESH MATERIALIZED VIEW fresh", "REFRESH MATERIALIZED VIEW CONCURRENTLY public.fresh"):
        assert connection.execute(sql).statusmessage == "REFRESH MATERIALIZED VIEW"
    with refused("42809"):
        connection.execute("REFRESH MATERIALIZED VIEW flowing")
    with refused("42P01"):
        connection.execute("REFRESH MATERIALIZED VIEW nowhere")
    with refused("42601"):
        connection.execute("REFRESH MATERIALIZED VIEW fresh WITH NO DATA")
