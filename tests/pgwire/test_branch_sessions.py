"""Branches over PostgreSQL's protocol: SET branch is a setting of the session."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from service.definitions.maintained_queries import is_query_name
from tests.pgwire.door import PostgresDoor
from tests.service.waiting import wait_until


@pytest.fixture
def tables(door: PostgresDoor) -> Iterator[psycopg.Connection]:
    with door.connect(autocommit=True) as connection:
        connection.execute("DROP BRANCH IF EXISTS b")
        connection.execute("DROP TABLE IF EXISTS t CASCADE")
        connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
        connection.execute("CREATE VIEW v AS SELECT count(*) AS c FROM t")
        connection.execute("INSERT INTO t VALUES (1, 10)")
        connection.execute("CREATE BRANCH b")
        yield connection


def test_a_session_on_a_branch(door: PostgresDoor, tables: psycopg.Connection) -> None:
    with door.connect(autocommit=True) as there:
        there.execute("SET branch = b")
        assert there.execute("SHOW branch").fetchone() == ("b",)
        assert there.execute("SHOW BRANCHES").fetchall()[0][:2] == ("b", "main")
        for number in range(2, 9):  # run often enough to be prepared, each in its short way
            there.execute("INSERT INTO t VALUES (%s, %s)", (number, 20), prepare=True)
            found = there.execute("SELECT n FROM t WHERE id = %s", (number,), prepare=True)
            assert found.fetchone() == (20,)
            missing = tables.execute("SELECT n FROM t WHERE id = %s", (number,), prepare=True)
            assert missing.fetchone() is None
        assert there.execute("SELECT c FROM v").fetchone() == (8,)
        assert tables.execute("SELECT c FROM v").fetchone() == (1,)
        for number in range(2):
            there.execute("SET branch = main" if number else "RESET branch")
            found = there.execute("SELECT n FROM t WHERE id = %s", (2,), prepare=True)
            assert found.fetchone() is None
            there.execute("SET branch = b")
            found = there.execute("SELECT n FROM t WHERE id = %s", (2,), prepare=True)
            assert found.fetchone() == (20,)
        with there.cursor().copy("COPY t FROM STDIN") as copy:
            copy.write_row((50, 50))
        assert there.execute("SELECT c FROM v").fetchone() == (9,)
        assert tables.execute("SELECT count(*) FROM diff(t, 'main', 'b')").fetchone() == (8,)


def test_blocks(door: PostgresDoor, tables: psycopg.Connection) -> None:
    with door.connect(autocommit=False) as there:
        there.execute("SET branch = b")
        there.execute("INSERT INTO t VALUES (2, 20)")
        assert there.execute("SELECT _diff FROM diff(v, 'main', 'b')").fetchall() == []
        there.commit()
        assert there.execute("SELECT c FROM v").fetchone() == (2,)
        with pytest.raises(psycopg.Error, match="on another branch"):
            there.execute("SET branch = main")
        there.rollback()
        there.execute("INSERT INTO t VALUES (3, 30)")
        there.execute("SELECT set_config('branch', 'main', false)")
        with pytest.raises(psycopg.Error, match="on another branch"):
            there.execute("INSERT INTO t VALUES (4, 40)")
        there.rollback()
        assert there.execute("SELECT c FROM v").fetchone() == (2,)
        there.execute("SELECT set_config('branch', 'b', false)")
        there.rollback()
    assert tables.execute("SELECT c FROM v").fetchone() == (1,)


def test_a_commit_stays_on_the_branch_where_it_began(door: PostgresDoor, tables: psycopg.Connection) -> None:
    with door.connect(autocommit=True) as there:
        there.execute("BEGIN")
        there.execute("INSERT INTO t VALUES (3, 30)")
        there.execute("SELECT set_config('branch', 'b', false)")
        there.execute("COMMIT")
    assert tables.execute("SELECT c FROM v").fetchone() == (2,)
    tables.execute("SET branch = b")
    assert tables.execute("SELECT c FROM v").fetchone() == (1,)


def test_following(door: PostgresDoor, tables: psycopg.Connection) -> None:
    """A subscription follows the branch of its session, beside one that follows main, until it is dropped."""

    def moved(rows: Iterator[tuple]) -> list[tuple]:
        return sorted((row[1], row[2]) for row in (next(rows), next(rows)))

    with door.connect() as there, door.connect(autocommit=False) as here, door.connect() as changing:
        there.execute("SET branch = b")
        changing.execute("SET branch = b")
        here.execute("DECLARE c CURSOR FOR SUBSCRIBE TO v WITH (SNAPSHOT = FALSE)")
        with there.cursor().copy("COPY (SUBSCRIBE TO v WITH (SNAPSHOT = FALSE)) TO STDOUT") as on_branch:
            rows = iter(on_branch.rows())
            changing.execute("INSERT INTO t VALUES (2, 20)")
            assert moved(rows) == [("-1", "1"), ("1", "2")]
            tables.execute("INSERT INTO t VALUES (3, 30), (4, 40)")
            found = here.execute("FETCH 2 c WITH (TIMEOUT = '60s')").fetchall()
            assert sorted(row[1:] for row in found) == [(-1, 1), (1, 3)]
            changing.execute("SET branch = main")
            tables.execute("DROP BRANCH b")
            with pytest.raises(psycopg.Error, match="branch b has ended"):
                next(rows)


def test_refusals(door: PostgresDoor, tables: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error, match="no branch called none"):
        tables.execute("SET branch = none")
    assert tables.execute("SHOW branch").fetchone() == ("main",)
    tables.execute("SET branch = b")
    replaced = "CREATE OR REPLACE VIEW v AS SELECT 1 AS c FROM t"
    for sql in ("CREATE TEMP TABLE x (a BIGINT)", "CREATE TABLE x (a BIGINT)", replaced):
        with pytest.raises(psycopg.Error, match="on a branch is not supported"):
            tables.execute(sql)
    with door.connect(autocommit=True, options="-c branch=b") as there:
        assert there.execute("SHOW branch").fetchone() == ("b",)
        tables.execute("SET branch = main")
        tables.execute("DROP BRANCH b")
        with pytest.raises(psycopg.Error, match="no branch called b"):
            there.execute("SELECT * FROM t")
        there.execute("SET branch = main")
        assert there.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_a_query_is_followed_on_a_branch(door: PostgresDoor, tables: psycopg.Connection) -> None:
    tables.execute("CREATE BRANCH IF NOT EXISTS followed")
    with door.connect() as follower, door.connect() as there:
        for session in (follower, there):
            session.execute("SET branch = followed")
        there.execute("CREATE VIEW followed_view AS SELECT n, count(*) AS c FROM t GROUP BY n")
        before = there.execute("SELECT count(*) FROM t").fetchall()[0][0]
        follower.execute("BEGIN")
        query = "SELECT sum(c) AS c FROM followed_view"
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE TO ({query})")
        assert [row[1:] for row in follower.execute("FETCH ALL c").fetchall()] == [(1, before)]
        tables.execute("INSERT INTO t VALUES (1001, 1)")
        there.execute("INSERT INTO t VALUES (1002, 1), (1003, 1)")
        changed = follower.execute("FETCH ALL c WITH (timeout = '60s')").fetchall()
        assert sorted(row[1:] for row in changed) == [(-1, before), (1, before + 2)]
        assert len(_queries(door, "followed")) == 1
        assert _queries(door) == []
        there.execute("DROP VIEW followed_view")
        with pytest.raises(psycopg.Error, match="subscribe to it anew"):
            follower.execute("FETCH ALL c WITH (timeout = '60s')")
        follower.rollback()
        wait_until(lambda: _queries(door, "followed") == [])
        follower.execute("BEGIN")
        follower.execute("DECLARE d CURSOR FOR SUBSCRIBE TO (SELECT count(*) AS n FROM t)")
        follower.execute("FETCH ALL d")
        tables.execute("DROP BRANCH followed")
        with pytest.raises(psycopg.Error, match="branch followed has ended"):
            follower.execute("FETCH ALL d WITH (timeout = '60s')")
    tables.execute("DELETE FROM t WHERE id > 1000")


def _queries(door: PostgresDoor, branch: str = "main") -> list[str]:
    """The names of the queries that the engine of a branch maintains."""
    snapshot = door.runtime.branches.timeline(branch).snapshot
    return [name for name in snapshot.relations if is_query_name(name)]
