"""SUBSCRIBE: every change once, in order, over cursors and COPY, and again from an epoch on."""

from __future__ import annotations

from decimal import Decimal
from itertools import count

import psycopg
import pytest

from tests.pgwire.door import PostgresDoor, refused
from tests.service.waiting import when

_NUMBERS = count()


@pytest.fixture
def watched(connection: psycopg.Connection) -> str:
    """A table with one row."""
    name = f"watched_{next(_NUMBERS)}"
    connection.execute(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, name TEXT)")
    connection.execute(f"INSERT INTO {name} VALUES (1, 'a')")
    return name


def fetched(connection: psycopg.Connection, sql: str = "FETCH ALL c WITH (timeout = '10s')") -> list[tuple]:
    return connection.execute(sql).fetchall()


def test_changes_come_after_the_rows(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    epoch = door.runtime.snapshot.upper - 1
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE TO {watched}")
        cursor = follower.execute("FETCH 5 c")
        assert [column.name for column in cursor.description or ()] == [
            "mz_timestamp",
            "mz_diff",
            "id",
            "name",
        ]
        assert cursor.fetchall() == [(Decimal(epoch), 1, 1, "a")]
        assert fetched(follower, "FETCH ALL c WITH (timeout = '0s')") == []
        connection.execute(f"UPDATE {watched} SET name = 'b'")
        assert sorted(fetched(follower)) == [(epoch + 1, -1, 1, "a"), (epoch + 1, 1, 1, "b")]
        connection.execute(f"INSERT INTO {watched} (id) VALUES (2), (3), (4)")
        assert len(fetched(follower, "FETCH 2 c")) == 2 and len(fetched(follower, "FETCH 2 c")) == 1
        follower.execute("COMMIT")
        assert door.app.state.feeds.open == 0


def test_a_view_is_followed_as_a_table_is(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    connection.execute(f"CREATE VIEW v_{watched} AS SELECT count(*) AS c FROM {watched}")
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE v_{watched} WITH (SNAPSHOT = false)")
        connection.execute(f"DELETE FROM {watched}")
        assert sorted(row[1:] for row in fetched(follower)) == [(-1, 1), (1, 0)]


def test_nothing_is_missed_or_repeated_over_a_reconnect(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    start = door.runtime.snapshot.upper - 1
    for number in range(10, 20):
        connection.execute(f"INSERT INTO {watched} (id) VALUES ({number})")
    seen: list[int] = []
    since = start
    while len(seen) < 10:
        with door.connect() as follower:
            follower.execute("BEGIN")
            follower.execute(
                f"DECLARE c CURSOR FOR SUBSCRIBE {watched} WITH (SNAPSHOT = false) AS OF {since}"
            )
            for epoch, diff, id, _ in fetched(follower, "FETCH 3 c"):
                assert diff == 1 and epoch == since + 1
                since = int(epoch)
                seen.append(id)
    assert seen == list(range(10, 20))


def test_progress_says_what_is_complete(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE {watched} WITH (PROGRESS)")
        rows = fetched(follower)
        epoch = rows[0][0]
        assert rows == [(epoch, False, 1, 1, "a"), (epoch + 1, True, None, None, None)]
        connection.execute("CREATE TABLE IF NOT EXISTS other (id INT)")
        connection.execute("INSERT INTO other VALUES (1)")
        (row,) = fetched(follower)
        assert row[1] is True and row[0] > epoch + 1


def test_a_subscription_ends_before_up_to(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    epoch = door.runtime.snapshot.upper - 1
    with (
        door.connect() as follower,
        follower.cursor().copy(f"COPY (SUBSCRIBE {watched} UP TO {epoch + 2}) TO STDOUT") as copy,
    ):
        assert bytes(copy.read()) == b"%d\t1\t1\ta\n" % epoch
        connection.execute(f"INSERT INTO {watched} (id) VALUES (5)")
        assert [bytes(part) for part in copy] == [b"%d\t1\t5\t\\N\n" % (epoch + 1)]


def test_a_subscription_can_be_cancelled(door: PostgresDoor, watched: str) -> None:
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE {watched} WITH (SNAPSHOT = false)")
        cancelling = when(lambda: bool(door.runtime.pulse._waiters), follower.cancel_safe)
        with refused("57014"):
            fetched(follower, "FETCH c")
        cancelling.join()
        follower.execute("ROLLBACK")
        assert door.app.state.feeds.open == 0
        assert follower.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("SUBSCRIBE nope", "42P01"),
        ("SUBSCRIBE (SELECT nope FROM {})", "42703"),
        ("SUBSCRIBE (SELECT random() FROM {})", "0A000"),
        ("SUBSCRIBE (SELECT * FROM nope)", "42P01"),
        ("SUBSCRIBE (DELETE FROM {})", "0A000"),
        ("SUBSCRIBE ()", "42601"),
        ("SUBSCRIBE (SELECT id FROM {}", "42601"),
        ("SUBSCRIBE nope.{}", "42P01"),
        ("SUBSCRIBE {} WITH (NOPE)", "42601"),
    ],
)
def test_wrong_subscriptions_are_refused(
    connection: psycopg.Connection, watched: str, sql: str, sqlstate: str
) -> None:
    connection.execute("BEGIN")
    with refused(sqlstate):
        connection.execute(f"DECLARE c CURSOR FOR {sql.format(watched)}")
    connection.execute("ROLLBACK")


def test_a_relation_that_is_dropped_ends_its_subscriptions(
    door: PostgresDoor, connection: psycopg.Connection, watched: str
) -> None:
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE {watched}")
        fetched(follower)
        connection.execute(f"DROP TABLE {watched}")
        with refused("42P01"):
            fetched(follower)
