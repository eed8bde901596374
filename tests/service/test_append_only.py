"""Tables that are APPEND ONLY: every way in takes new rows, and none takes one away."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.service.client import Client, code

TABLES = """
CREATE TABLE parents (id BIGINT PRIMARY KEY);
CREATE TABLE keyed (id BIGINT PRIMARY KEY, v TEXT) APPEND ONLY;
CREATE TABLE bag (v TEXT) APPEND ONLY;
INSERT INTO keyed VALUES (1, 'a'), (2, 'b');
INSERT INTO bag VALUES ('a'), ('a');
CREATE VIEW counted AS SELECT count(*) AS n, max(v) AS most FROM keyed;
"""
REFUSED = [
    "DELETE FROM keyed WHERE id = 1",
    "UPDATE keyed SET v = 'c' WHERE id = 1",
    "UPDATE keyed SET id = 7 WHERE id = 1",
    "INSERT INTO keyed VALUES (1, 'c') ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v",
    "TRUNCATE keyed",
    "DELETE FROM bag",
    "UPDATE bag SET v = 'b'",
    "TRUNCATE bag",
    "BEGIN; INSERT INTO keyed VALUES (9, 'x'); DELETE FROM keyed WHERE id = 9; COMMIT",
    "MERGE INTO keyed USING (VALUES (1)) AS n (id) ON n.id = keyed.id WHEN MATCHED THEN DELETE",
]
TAKEN = [
    "INSERT INTO keyed VALUES (3, 'c')",
    "INSERT INTO keyed VALUES (1, 'c'), (4, 'd') ON CONFLICT DO NOTHING",
    "DELETE FROM keyed WHERE id = 100",
    "INSERT INTO bag SELECT v FROM keyed",
    "INSERT INTO keyed VALUES (5, 'c') ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v",
]


def ask(client: Client, sql: str) -> tuple[int, str]:
    answer = client.post("/v1/sql", {"sql": sql})
    return (200, "") if answer.status_code == 200 else code(answer)


def test_nothing_goes(client: Client) -> None:
    assert ask(client, TABLES) == (200, "")
    for sql in REFUSED:
        assert ask(client, sql) == (409, "append_only"), sql
    for sql in TAKEN:
        assert ask(client, sql) == (200, ""), sql
    assert sorted(client.rows("keyed")) == [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "c")]
    assert client.rows("counted") == [(5, "d")]
    shown = client.post("/v1/sql", {"sql": "SHOW CREATE TABLE bag"}).json()["results"][0]["rows"][0][1]
    assert shown.endswith(") APPEND ONLY")


def test_deltas_and_blocks_are_held_to_it(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data")) as door, door.connect(autocommit=False) as own:
        assert ask(door, TABLES) == (200, "")
        for change in ({"delete": {"id": 1}}, {"upsert": {"id": 1, "v": "z"}}):
            assert code(door.deltas("keyed", change)) == (409, "append_only")
        assert code(door.deltas("bag", {"delete": {"v": "a"}})) == (409, "append_only")
        assert door.deltas("keyed", {"upsert": {"id": 6, "v": "z"}}).status_code == 200
        own.execute("INSERT INTO keyed VALUES (7, 'y')")
        with pytest.raises(Exception, match="append only"):
            own.execute("DELETE FROM keyed WHERE id = 7")
        own.rollback()
        assert sorted(door.rows("keyed")) == [(1, "a"), (2, "b"), (6, "z")]


def test_it_stays_after_a_start_and_alterations(settings: Settings) -> None:
    with Client(settings) as client:
        assert ask(client, TABLES) == (200, "")
        assert ask(client, "ALTER TABLE keyed ADD COLUMN w INT; ALTER TABLE keyed RENAME v TO x")[0] == 200
    with Client(settings) as client:
        assert ask(client, "DELETE FROM keyed") == (409, "append_only")
        cascades = "REFERENCES parents ON DELETE CASCADE"
        status, _ = ask(client, f"CREATE TABLE c (a BIGINT {cascades}) APPEND ONLY")
        assert status == 422


BESTS = """
CREATE TABLE seen (who INTEGER, what TEXT, at TIMESTAMP) APPEND ONLY;
CREATE VIEW named AS SELECT who, min(what) AS least, max(at) AS newest FROM seen GROUP BY who;
CREATE VIEW newest AS SELECT DISTINCT ON (who) who, what, at FROM seen ORDER BY who, at DESC, what;
CREATE VIEW top AS SELECT what FROM seen WHERE who < 4 ORDER BY what LIMIT 3;
"""
VIEWS = ("named", "newest", "top")


def same_as_from_scratch(client: Client, branch: str = "main") -> None:
    """The views have the rows that their queries, asked ad hoc, have."""
    for query in BESTS.split(";")[1:4]:
        view, query = query.removeprefix("\nCREATE VIEW ").split(" AS ", 1)
        kept, asked = (
            client.post("/v1/sql", {"sql": sql, "branch": branch}).json()["results"][0]["rows"]
            for sql in (f"SELECT * FROM {view}", query)
        )
        assert sorted(kept) == sorted(asked), (view, branch)


def test_what_can_never_come_first_is_forgotten(settings: Settings) -> None:
    def insert(client: Client, start: int, count: int) -> int:
        moment = "TIMESTAMP '2026-01-01' + n * INTERVAL '7 seconds'"
        sql = f"""INSERT INTO seen SELECT n % 5, md5(n::text), {moment}
            FROM generate_series({start}, {start + count - 1}) AS s(n)"""
        return client.post("/v1/sql", {"sql": sql}).json()["results"][0]["epoch"]

    with Client(settings) as client:
        assert ask(client, BESTS) == (200, "")
        query = "SELECT DISTINCT ON (who) who, what, at FROM seen ORDER BY who, at DESC, what"
        assert "keeps one row a group" in str(
            client.post("/v1/sql", {"sql": f"EXPLAIN DATAFLOW {query}"}).json()
        )
        epochs = [insert(client, start, 600) for start in range(0, 3000, 600)]
        same_as_from_scratch(client)
        analyzed = client.post("/v1/sql", {"sql": "EXPLAIN ANALYZE newest"}).text
        assert "rows 5, batches 1" in analyzed, "of 3000 rows, one for each of 5 groups"
        assert ask(client, f"CREATE BRANCH earlier AS OF {epochs[1]}; CREATE BRANCH now") == (200, "")
        for branch in ("earlier", "now"):
            same_as_from_scratch(client, branch)
        sql = "INSERT INTO seen VALUES (1, '0', '2026-01-01'), (2, 'zz', '2030-01-01')"
        assert client.post("/v1/sql", {"sql": sql, "branch": "earlier"}).status_code == 200
        same_as_from_scratch(client, "earlier")
    with Client(settings) as client:
        same_as_from_scratch(client)
        insert(client, 3000, 50)
        same_as_from_scratch(client)
        same_as_from_scratch(client, "earlier")
        assert ask(client, "DROP BRANCH earlier, now") == (200, "")
        assert ask(client, "ALTER TABLE seen ADD COLUMN more INTEGER DEFAULT 1")[0] == 200
        assert ask(client, "ALTER TABLE seen DROP COLUMN more")[0] == 200
        insert(client, 4000, 50)
        same_as_from_scratch(client)
