"""SUBSCRIBE to a query: maintained like a view while somebody follows it, and shared by equal ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest

from service.definitions.maintained_queries import is_query_name
from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, refused
from tests.service.waiting import wait_until

_NUMBERS = count()
_DECLARE = "DECLARE c CURSOR FOR SUBSCRIBE TO ({}) {}"


@pytest.fixture
def sold(connection: psycopg.Connection) -> str:
    """A table of two rows."""
    name = f"sold_{next(_NUMBERS)}"
    connection.execute(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, of TEXT, price NUMERIC(10, 2))")
    connection.execute(f"INSERT INTO {name} VALUES (1, 'a', 5), (2, 'b', 7)")
    return name


def maintained(door: PostgresDoor) -> list[str]:
    """The names of the queries that the engine maintains."""
    return [name for name in door.runtime.snapshot.relations if is_query_name(name)]


def sums(table: str) -> str:
    return f"SELECT of, sum(price) AS total FROM {table} GROUP BY of"


@contextmanager
def following(door: PostgresDoor, query: str, options: str = "") -> Iterator[Callable[[str], list[tuple]]]:
    """Follows a query in a block of its own; gives what fetches its rows without their epochs."""
    with door.connect() as follower:
        follower.execute("BEGIN")
        follower.execute(_DECLARE.format(query, options))

        def fetched(sql: str = "FETCH ALL c WITH (timeout = '60s')") -> list[tuple]:
            return sorted(row[1:] for row in follower.execute(sql).fetchall())

        yield fetched


def test_the_changes_of_a_query_follow_its_rows(
    door: PostgresDoor, connection: psycopg.Connection, sold: str
) -> None:
    with following(door, sums(sold)) as fetched:
        assert fetched("FETCH ALL c") == [(1, "a", 5), (1, "b", 7)]
        connection.execute(f"INSERT INTO {sold} VALUES (3, 'a', 2)")
        assert fetched("FETCH ALL c") == [(-1, "a", 5), (1, "a", 7)]
        connection.execute(f"DELETE FROM {sold} WHERE of = 'b'")
        assert fetched("FETCH ALL c") == [(-1, "b", 7)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM {0} WHERE price > 5",
        "SELECT a.id FROM {0} a JOIN {0} b ON a.id = b.id + 1",
        "SELECT of, max(price) OVER (PARTITION BY of) AS most FROM {0}",
        "SELECT id FROM {0} ORDER BY price DESC LIMIT 1",
        "WITH RECURSIVE r AS (SELECT id FROM {0} UNION SELECT id + 1 FROM r WHERE id < 9) SELECT * FROM r",
        "SELECT id FROM {0} WHERE id IN (SELECT id FROM {0} WHERE of = 'a') OR of = 'c'",
        "VALUES (1, 'x'), (2, 'y')",
    ],
)
def test_the_changes_add_up_to_the_answer(
    door: PostgresDoor, connection: psycopg.Connection, sold: str, query: str
) -> None:
    query = query.format(sold)
    with following(door, query) as fetched:
        held: dict[tuple, int] = {}
        for change in (
            f"INSERT INTO {sold} VALUES (3, 'c', 9), (4, 'a', 1)",
            f"UPDATE {sold} SET price = price + 5 WHERE id < 3",
            f"DELETE FROM {sold} WHERE id = 3",
        ):
            for diff, *row in fetched("FETCH ALL c WITH (timeout = '0s')"):
                held[tuple(row)] = held.get(tuple(row), 0) + diff
            connection.execute(change)
        rows = sorted(connection.execute(query).fetchall())

        def complete() -> bool:
            for diff, *row in fetched("FETCH ALL c WITH (timeout = '0s')"):
                held[tuple(row)] = held.get(tuple(row), 0) + diff
            return sorted(row for row, number in held.items() for _ in range(number)) == rows

        wait_until(complete)


def test_equal_queries_share_one_view_which_goes_with_the_last(door: PostgresDoor, sold: str) -> None:
    with following(door, sums(sold)) as first:
        with following(door, f"select OF, sum(price) total from {sold} group by OF") as second:
            assert len(maintained(door)) == 1
            assert first("FETCH ALL c") == second("FETCH ALL c")
        with following(door, f"SELECT id FROM {sold}"):
            assert len(maintained(door)) == 2
        wait_until(lambda: len(maintained(door)) == 1)
    wait_until(lambda: not maintained(door))
    assert door.runtime.queries.number == 0 and door.app.state.feeds.open == 0


def test_a_connection_that_dies_leaves_nothing(door: PostgresDoor, sold: str) -> None:
    raw = door.raw()
    raw.start()
    raw.query("BEGIN")
    raw.query(_DECLARE.format(sums(sold), ""))
    assert len(maintained(door)) == 1
    raw.close()
    wait_until(lambda: not maintained(door))


def test_a_query_is_on_no_list(door: PostgresDoor, connection: psycopg.Connection, sold: str) -> None:
    with following(door, sums(sold)):
        (name,) = maintained(door)
        assert connection.execute("SELECT relname FROM pg_class WHERE relkind = 'm'").fetchall() == []
        assert name not in str(door.get("/v1/views").json())
        assert name not in str(door.get("/v1/tables").json())
        assert name not in door.get("/metrics").text
        (feed,) = door.get("/v1/feeds").json()["feeds"]
        assert feed["relation"] == sums(sold)
        with refused("42P01"):
            connection.execute(f'SELECT * FROM "{name}"')


def test_nothing_is_missed_or_repeated_when_a_query_is_followed_again(
    door: PostgresDoor, connection: psycopg.Connection, sold: str
) -> None:
    since = door.runtime.snapshot.upper - 1
    for number in range(10, 20):
        connection.execute(f"INSERT INTO {sold} VALUES ({number}, 'c', 1)")
    seen: list[int] = []
    while len(seen) < 10:
        with door.connect() as follower:
            follower.execute("BEGIN")
            query = f"SELECT id FROM {sold} WHERE of = 'c'"
            follower.execute(_DECLARE.format(query, f"WITH (SNAPSHOT = false) AS OF {since}"))
            for epoch, diff, id in follower.execute("FETCH 3 c").fetchall():
                assert (diff, epoch) == (1, since + 1)
                since = int(epoch)
                seen.append(id)
    assert seen == list(range(10, 20))


def test_copy_of_a_query_ends_before_up_to(
    door: PostgresDoor, connection: psycopg.Connection, sold: str
) -> None:
    epoch = door.runtime.snapshot.upper - 1
    connection.execute(f"INSERT INTO {sold} VALUES (3, 'a', 2)")
    sql = f"COPY (SUBSCRIBE (SELECT id FROM {sold}) WITH (SNAPSHOT = false) AS OF {epoch} UP TO {epoch + 2})"
    with door.connect() as follower, follower.cursor().copy(f"{sql} TO STDOUT") as copy:
        assert [bytes(part) for part in copy] == [b"%d\t1\t3\n" % (epoch + 1)]
    wait_until(lambda: not maintained(door))


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {0} ADD COLUMN more BIGINT",
        "ALTER TABLE {0} RENAME TO {0}_new",
        "DROP TABLE {0}",
        "CREATE OR REPLACE VIEW v_{0} AS SELECT id FROM {0} WHERE id > 1",
        "DROP VIEW v_{0}",
    ],
)
def test_a_change_of_what_it_reads_ends_a_query(
    door: PostgresDoor, connection: psycopg.Connection, sold: str, change: str
) -> None:
    read = sold
    if "v_{0}" in change:
        connection.execute(f"CREATE VIEW v_{sold} AS SELECT id FROM {sold}")
        read = f"v_{sold}"
    with following(door, f"SELECT count(*) AS c FROM {read}") as fetched:
        assert fetched("FETCH ALL c") == [(1, 2)]
        connection.execute(change.format(sold))
        assert not maintained(door)
        with refused("42P01"):
            fetched("FETCH ALL c")


def test_a_query_whose_rows_fail_is_refused(
    door: PostgresDoor, connection: psycopg.Connection, sold: str
) -> None:
    with following(door, f"SELECT CAST(of AS BIGINT) AS q FROM {sold} WHERE id > 2") as fetched:
        connection.execute(f"INSERT INTO {sold} VALUES (3, 'a', 7)")
        with refused("22000"):
            fetched("FETCH ALL c")


def test_queries_are_limited(door: PostgresDoor, monkeypatch: pytest.MonkeyPatch, sold: str) -> None:
    settings = door.runtime.settings
    monkeypatch.setitem(vars(settings), "followed_queries", 1)
    with following(door, sums(sold)):
        with following(door, sums(sold)) as fetched:  # an equal one costs nothing
            assert len(fetched("FETCH ALL c")) == 2
        with refused("53300"), following(door, f"SELECT id FROM {sold}"):
            pass


def test_a_query_is_gone_after_a_restart(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", query_workers=1)
    with PostgresDoor(settings) as door:
        with door.connect() as connection:
            connection.execute("CREATE TABLE t (of TEXT, price BIGINT)")
        stack = ExitStack()
        stack.enter_context(following(door, sums("t")))
        assert len(maintained(door)) == 1
    with PostgresDoor(settings) as door:
        assert not maintained(door)
        assert [it["name"] for it in door.get("/v1/views").json()["views"]] == []
    with suppress(psycopg.OperationalError):
        stack.close()


def test_names_follow_the_search_path(door: PostgresDoor, connection: psycopg.Connection, sold: str) -> None:
    connection.execute(f"CREATE SCHEMA s_{sold}")
    connection.execute(f"CREATE TABLE s_{sold}.inner_{sold} (id BIGINT)")
    connection.execute(f"INSERT INTO s_{sold}.inner_{sold} VALUES (7)")
    for followed in (f"inner_{sold}", f"(SELECT id FROM inner_{sold})"):
        with door.connect(options=f"-c search_path=s_{sold}") as follower:
            follower.execute("BEGIN")
            follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE {followed}")
            assert [row[2] for row in follower.execute("FETCH ALL c").fetchall()] == [7]
            with follower.cursor().copy(f"COPY inner_{sold} TO STDOUT") as copy:
                assert [bytes(part) for part in copy] == [b"7\n"]


def test_a_limited_key_follows_what_it_may_read(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data", query_workers=1)) as door:
        with door.connect() as connection:
            connection.execute("CREATE TABLE seen (id BIGINT)")
            connection.execute("CREATE TABLE hidden (id BIGINT)")
        door.runtime.accounts.add("boss", "admin")
        _, text = door.runtime.accounts.add("limited", "read", ["seen"])
        with door.connect(user="limited", password=text) as connection:
            for query in ("SELECT id FROM hidden", "SELECT id FROM seen WHERE id IN (SELECT id FROM hidden)"):
                connection.execute("BEGIN")
                with refused("42501"):
                    connection.execute(_DECLARE.format(query, ""))
                connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            connection.execute(_DECLARE.format("SELECT id FROM seen", ""))
            connection.execute("ROLLBACK")
