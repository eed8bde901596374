"""Views are built beside the writer: epochs go on, and what runs away is ended alone."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import duckdb
import httpx
import pytest

from service.errors import Unavailable
from service.running.builds import waited
from service.running.view_build import ViewBuild
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.waiting import wait_until

RUNAWAY = "WITH RECURSIVE r(a) AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM r) SELECT count(*) AS n FROM r"
CLOSURE = """
WITH RECURSIVE reach(a, b) AS (
    SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON reach.b = edges.a
) SELECT a, count(*) AS n FROM reach GROUP BY a
"""


@pytest.fixture
def elsewhere(settings: Settings) -> Settings:
    """Every view with rows is built in a process of its own."""
    return replace(settings, spark="never", build_rows_here=1, max_rounds=10**9)


@pytest.fixture
def client(elsewhere: Settings) -> Iterator[Client]:
    with Client(elsewhere) as client:
        sql(client, "CREATE TABLE t (a BIGINT); CREATE TABLE edges (a BIGINT, b BIGINT)")
        client.insert("t", *({"a": a} for a in range(3)))
        client.insert("edges", *({"a": a, "b": a + 1} for a in range(40)))
        yield client


def begin(client: Client, name: str, sql: str) -> Future[httpx.Response]:
    """Asks for a view, and returns once it is being built."""
    asked = client.begin(client.http.post("/v1/views", json={"name": name, "sql": sql}))
    wait_until(lambda: asked.done() or client.get(f"/v1/views/{name}").json().get("state") == "building")
    return asked


def begin_sql(client: Client, script: str) -> Future:
    return client.begin(client.http.post("/v1/sql", json={"sql": script}, timeout=None))


def sql(client: Client, script: str) -> None:
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.status_code == 200, answer.text


LAST = 5_000
"""Where a long recursion ends."""


def test_epochs_go_on_and_the_view_catches_up(client: Client) -> None:
    asked = begin(client, "v", RUNAWAY.replace("FROM r)", f"FROM r WHERE a < {LAST})"))
    for a in range(40, 60):
        client.insert("t", {"a": a})
    answer = asked.result(120)
    assert answer.status_code == 201, answer.text
    total = sum(LAST + 1 - a for a in (*range(3), *range(40, 60)))
    assert client.rows("v") == [(total,)]
    client.change("t", {"delete": {"a": 0}})
    wait_until(lambda: client.get("/v1/views/v").json()["state"] == "ready")
    assert client.rows("v") == [(total - LAST - 1,)]


def test_a_view_from_a_process_has_its_history(client: Client) -> None:
    client.change("edges", {"delete": {"a": 20, "b": 21}})
    newest = client.runtime.snapshot.upper - 1
    assert client.post("/v1/views", {"name": "v", "sql": CLOSURE}).status_code == 201
    before = client.get("/v1/views/v/rows", as_of=newest - 1).json()["rows"]
    assert {row["a"]: row["n"] for row in before} == {a: 40 - a for a in range(40)}
    assert dict(client.rows("v")) == {a: (20 if a < 20 else 40) - a for a in range(40) if a != 20}


def shown(rows: Iterable[tuple]) -> list[str]:
    """The rows in an order, with numbers as they are written."""
    return sorted(str([None if value is None else str(value) for value in row]) for row in rows)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT b, count(*) AS n FROM words GROUP BY b",
        "SELECT upper(b) || '!' AS b, a FROM words WHERE b <> 'w1' OR b IS NULL",
        "SELECT a % 3 AS a, min(b) AS b, string_agg(b, ',' ORDER BY b) AS c FROM words GROUP BY 1",
        "SELECT a, b FROM words ORDER BY b DESC NULLS LAST, a LIMIT 5",
        "SELECT a, lag(b) OVER (ORDER BY b, a) AS b FROM words",
        "SELECT count(*) AS n, max(x) AS x FROM words",
    ],
)
def test_a_process_knows_the_texts_that_a_view_needs(
    client: Client, duck: duckdb.DuckDBPyConnection, query: str
) -> None:
    """It reads them when the view first asks for one; what it makes of them is known to the service."""
    sql(client, "CREATE TABLE words (a BIGINT, b TEXT, x NUMERIC(38, 2))")
    rows = [(a, None if a % 11 == 0 else f"w{a * a % 13}", 10 ** (a % 36)) for a in range(60)]
    client.insert("words", *({"a": a, "b": b, "x": x} for a, b, x in rows))
    duck.execute("CREATE TABLE words (a BIGINT, b TEXT, x DECIMAL(38, 2))")
    duck.executemany("INSERT INTO words VALUES (?, ?, ?)", rows)
    assert client.post("/v1/views", {"name": "v", "sql": query}).status_code == 201

    def check() -> None:
        expected = duck.execute(query).fetchall()
        assert shown(client.rows("v")) == shown(expected)

    check()
    client.change("words", *({"delete": {"a": a, "b": b, "x": x}} for a, b, x in rows[:40]))
    duck.execute("DELETE FROM words WHERE a < 40")
    client.insert("words", {"a": 100, "b": "w1", "x": 1}, {"a": 101, "b": "new", "x": 2})
    duck.execute("INSERT INTO words VALUES (100, 'w1', 1), (101, 'new', 2)")
    check()


def test_a_runaway_is_cancelled(client: Client) -> None:
    asked = begin(client, "v", RUNAWAY)
    assert client.get("/v1/views").json()["views"][0]["state"] == "building"
    assert code(client.get("/v1/views/v/rows")) == (409, "view_building")
    assert code(client.post("/v1/views", {"name": "v", "sql": "SELECT a FROM t"})) == (409, "name_in_use")
    client.insert("t", {"a": 9})
    assert client.delete("/v1/views/v").status_code == 204
    assert code(asked.result(240)) == (409, "cancelled")
    assert client.get("/v1/views/v").status_code == 404
    assert client.post("/v1/views", {"name": "v", "sql": "SELECT a FROM t"}).status_code == 201
    assert client.rows("v") == [(0,), (1,), (2,), (9,)]


def test_a_view_that_is_dropped_while_it_is_built_is_not_listed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even before its building has ended."""
    asked = begin(client, "v", RUNAWAY)
    wait_until(lambda: client.get("/v1/views/v").json()["progress"]["rounds"] > 0)
    ending = ViewBuild.cancel
    monkeypatch.setattr(ViewBuild, "cancel", lambda build: setattr(build, "_cancelled", True))
    assert client.delete("/v1/views/v").status_code == 204
    assert client.get("/v1/views").json()["views"] == []
    assert code(client.get("/v1/views/v")) == (404, "unknown_name")
    assert not asked.done()
    monkeypatch.setattr(ViewBuild, "cancel", ending)
    assert client.delete("/v1/views/v").status_code == 204
    assert code(asked.result(240)) == (409, "cancelled")


@pytest.mark.parametrize(
    "limits", [{"build_seconds": 2}, {"build_memory": 1 << 30}], ids=["seconds", "memory"]
)
def test_a_runaway_that_takes_too_much(elsewhere: Settings, limits: dict[str, int]) -> None:
    step = (
        "SELECT 2 * a + b FROM r, (VALUES (0), (1)) x(b)"
        if "build_memory" in limits
        else "SELECT a + 1 FROM r"
    )
    runaway = f"WITH RECURSIVE r(a) AS (SELECT 1 FROM t UNION ALL {step}) SELECT a FROM r"
    with Client(replace(elsewhere, **limits)) as client:
        sql(client, "CREATE TABLE t (a BIGINT)")
        client.insert("t", {"a": 1}, {"a": 2})
        answer = client.post("/v1/views", {"name": "v", "sql": runaway})
        assert code(answer) == (422, "over_budget"), answer.text
        assert client.get("/v1/views/v").status_code == 404
        client.insert("t", {"a": 3})
        assert client.post("/v1/views", {"name": "v", "sql": "SELECT a FROM t"}).status_code == 201


def test_a_process_that_is_killed(client: Client) -> None:
    asked = begin(client, "v", RUNAWAY)
    wait_until(lambda: client.get("/v1/views/v").json()["progress"]["rounds"] > 0)
    (job,) = [it for it in multiprocessing.active_children() if it.name == "freshet-job"]
    job.kill()
    assert code(asked.result(240)) == (503, "execution_failed")
    assert client.post("/v1/views", {"name": "v", "sql": "SELECT a FROM t"}).status_code == 201


def test_what_a_view_reads_is_altered_while_it_is_built(client: Client) -> None:
    asked = begin(client, "v", RUNAWAY)
    sql(client, "DROP TABLE edges")
    sql(client, "ALTER TABLE t ADD COLUMN b TEXT")
    client.delete("/v1/views/v")
    assert code(asked.result(240)) == (409, "cancelled")
    asked = begin(client, "w", RUNAWAY.replace("FROM r)", "FROM r WHERE a < 20000)"))
    sql(client, "DROP TABLE t")
    answer = asked.result(240)
    assert code(answer) == (409, "table_changed")


def test_a_small_view_that_is_not_small_moves_to_a_process(settings: Settings) -> None:
    with Client(replace(settings, spark="never", build_seconds=1, max_rounds=10**9)) as client:
        sql(client, "CREATE TABLE t (a BIGINT)")
        client.insert("t", {"a": 1})
        assert code(client.post("/v1/views", {"name": "v", "sql": RUNAWAY})) == (
            422,
            "over_budget",
        )


def test_a_replaced_view_is_there_until_the_new_one_is(client: Client) -> None:
    sql(client, "CREATE VIEW v AS SELECT a FROM t")
    sql(client, f"CREATE OR REPLACE VIEW v AS {CLOSURE}")
    assert dict(client.rows("v")) == {a: 40 - a for a in range(40)}
    sql(client, "CREATE VIEW w AS SELECT n FROM v")
    sql(client, "CREATE OR REPLACE VIEW v AS SELECT a, a AS n FROM t")
    assert client.rows("w") == [(0,), (1,), (2,)]


def test_the_service_ends_while_views_are_built(elsewhere: Settings, tmp_path: Path) -> None:
    with Client(elsewhere) as client:
        sql(client, "CREATE TABLE t (a BIGINT)")
        client.insert("t", {"a": 1})
        asked = begin(client, "v", RUNAWAY)
    assert asked.done()
    left = [path for path in elsewhere.state.iterdir() if "-" in path.name]
    assert not left


GROWS = "WITH RECURSIVE r(a) AS (SELECT a FROM t UNION SELECT a + 1 FROM r WHERE a > 100) SELECT a FROM r"


def test_a_view_that_an_epoch_takes_too_long_comes_back(settings: Settings) -> None:
    """The epoch does not wait for it: the view is built again, with its past."""
    with Client(replace(settings, spark="never", view_rows=1_000)) as client:
        sql(client, "CREATE TABLE t (a BIGINT); CREATE VIEW plain AS SELECT count(*) AS n FROM t")
        client.view("grows", GROWS.replace("a > 100", "a > 100 AND a < 5000"))
        client.view("above", "SELECT count(*) AS n FROM grows")
        good = client.insert("t", {"a": 1})
        assert client.insert("t", {"a": 200}) == good + 1
        assert client.rows("plain") == [(2,)]
        for view in ("grows", "above"):
            wait_until(lambda view=view: client.get(f"/v1/views/{view}").json()["state"] == "ready")
        assert client.rows("above") == [(4802,)] and len(client.rows("grows", limit=9_999)) == 4802
        assert client.rows("above", as_of=good) == [(1,)]
        client.insert("t", {"a": 2})
        wait_until(lambda: client.get("/v1/views/above").json()["state"] == "ready")
        assert client.rows("above") == [(4803,)]


def test_a_view_over_its_budget_fails_alone_and_can_be_rebuilt(settings: Settings) -> None:
    few = replace(settings, spark="never", view_rows=50_000, build_seconds=1, max_rounds=10**9)
    with Client(few) as client:
        sql(client, "CREATE TABLE t (a BIGINT); CREATE VIEW plain AS SELECT count(*) AS n FROM t")
        client.view("grows", GROWS)
        client.view("above", "SELECT count(*) AS n FROM grows")
        good = client.insert("t", {"a": 1})
        assert client.insert("t", {"a": 200}) == good + 1
        assert client.rows("plain") == [(2,)]
        answer = client.get("/v1/views/grows/rows")
        assert code(answer) == (409, "view_building") and f"epoch {good}" in answer.json()["detail"]
        assert client.rows("grows", as_of=good) == [(1,)]
        for view in ("grows", "above"):
            wait_until(lambda view=view: client.get(f"/v1/views/{view}").json()["state"] == "failed")
        answer = client.get("/v1/views/grows/rows")
        assert code(answer) == (409, "view_failed") and f"epoch {good}" in answer.json()["detail"]
        assert "had not ended" in client.get("/v1/views/grows").json()["reason"]
        assert client.rows("grows", as_of=good) == [(1,)]
        assert client.rows("above", as_of=good) == [(1,)]
        client.change("t", {"delete": {"a": 200}})
        assert code(client.get("/v1/views/grows/rows"))[1] == "view_failed"
        for view in ("grows", "above"):
            assert client.post(f"/v1/views/{view}/rebuild").json()["state"] == "ready"
        assert client.rows("grows") == [(1,)] and client.rows("above") == [(1,)]
        client.insert("t", {"a": 2})
        assert client.rows("grows") == [(1,), (2,)] and client.rows("above") == [(2,)]
        assert client.post("/v1/views/plain/rebuild").json()["state"] == "ready"
        assert client.post("/v1/views/nosuch/rebuild").status_code == 404


def test_an_endless_view_does_not_keep_the_service_from_starting(settings: Settings) -> None:
    """It is set aside at the start as in an epoch; the other views are there."""
    few = replace(settings, spark="never", view_rows=50_000, build_seconds=1, max_rounds=10**9)
    with Client(few) as client:
        sql(client, "CREATE TABLE t (a BIGINT); CREATE VIEW plain AS SELECT count(*) AS n FROM t")
        client.view("grows", GROWS)
        client.insert("t", {"a": 200})
    with Client(few) as client:
        assert client.rows("plain") == [(1,)]
        wait_until(lambda: client.get("/v1/views/grows").json()["state"] == "failed")
        assert code(client.get("/v1/views/grows/rows")) == (409, "view_failed")
        client.change("t", {"delete": {"a": 200}})
        assert client.post("/v1/views/grows/rebuild").json()["state"] == "ready"
        assert client.rows("grows") == []


def test_large_views_over_what_is_altered_are_built_beside(settings: Settings) -> None:
    with Client(replace(settings, spark="never", build_rows_here=5, max_rounds=10**9)) as client:
        sql(client, "CREATE TABLE t (a BIGINT)")
        client.insert("t", *({"a": a} for a in range(10)))
        sql(client, "CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT sum(a) AS s FROM v")
        good = client.insert("t", {"a": 10})
        sql(client, "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'x' NOT NULL")
        assert client.rows("w") == [(55,)]
        client.insert("t", {"a": 11})
        assert client.rows("w") == [(66,)] and client.rows("w", as_of=good) == [(55,)]
        sql(client, "CREATE OR REPLACE VIEW v AS SELECT a + 1 AS a FROM t")
        assert len(client.rows("v")) == 12
        assert client.rows("w") == [(78,)]
        endless = begin_sql(client, f"CREATE OR REPLACE VIEW v AS {GROWS.replace('> 100', '>= 0')}")
        wait_until(lambda: client.runtime._led.builds.all)
        client.insert("t", {"a": 12})
        assert client.rows("w") == [(91,)]
        sql(client, "DROP VIEW v CASCADE")
        assert endless.result(240).status_code == 404


def test_who_waits_for_what_is_cancelled_gets_an_answer() -> None:
    """A branch that is dropped cancels what waits for a thread; the request is not cancelled with it."""

    async def asked() -> None:
        future: Future[None] = Future()
        asyncio.get_running_loop().call_soon(future.cancel)
        with pytest.raises(Unavailable, match="is closing"):
            await waited(future)

    asyncio.run(asked())
