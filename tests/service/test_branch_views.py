"""Views that were made on a branch: there alone, until it is merged."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import duckdb
import httpx
import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few, steps
from tests.service.client import Client, Process, code
from tests.service.test_branch_sql import rows, run
from tests.service.waiting import wait_until

START = """
    CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT);
    CREATE TABLE link (a BIGINT, b BIGINT);
    CREATE VIEW v AS SELECT n, count(*) AS c FROM t GROUP BY n;
    INSERT INTO t VALUES (1, 10), (2, 10), (3, 20);
    INSERT INTO link VALUES (1, 2), (2, 3);
    CREATE BRANCH b
"""
OWN = {
    "w": "SELECT c, count(*) AS k FROM v GROUP BY c",
    "far": "WITH RECURSIVE r(a, b) AS (SELECT a, b FROM link UNION SELECT r.a, link.b FROM r JOIN link "
    "ON link.a = r.b) SELECT a, count(*) AS k FROM r GROUP BY a",
    "top": "SELECT max(k) AS k FROM w",
}


def refused(client: Client, sql: str, **more: object) -> tuple[int, str]:
    return code(client.post("/v1/sql", {"sql": sql, **more}))


def own(*names: str) -> str:
    return "; ".join(f"CREATE VIEW {name} AS {OWN[name]}" for name in names)


@pytest.fixture
def started(client: Client) -> Client:
    run(client, START)
    return client


def test_a_view_of_a_branch(started: Client) -> None:
    on = {"branch": "b"}
    run(started, own("w", "far", "top"), **on)
    assert rows(started, "SELECT * FROM w ORDER BY c", **on) == [[1, 1], [2, 1]]
    assert rows(started, "SELECT k FROM top", **on) == [[1]]
    run(started, "INSERT INTO t VALUES (4, 30); INSERT INTO link VALUES (3, 4)", **on)
    assert rows(started, "SELECT * FROM w ORDER BY c", **on) == [[1, 2], [2, 1]]
    assert rows(started, "SELECT * FROM far ORDER BY a", **on) == [[1, 3], [2, 2], [3, 1]]
    begins = started.get("/v1/branches/b").json()["begins"]
    assert rows(started, f"SELECT k FROM top VERSION AS OF {begins}", **on) == [[1]]
    assert [row[0] for row in rows(started, "SHOW VIEWS", **on)] == ["far", "top", "v", "w"]
    assert [row[0] for row in rows(started, "SHOW VIEWS")] == ["v"]
    assert refused(started, "SELECT * FROM w") == (422, "unknown_table")
    tables = "SELECT relname FROM pg_class WHERE relkind = 'm' OR relkind = 'v' ORDER BY 1"
    assert [row for row in rows(started, tables, **on) if row[0] in OWN] == [["far"], ["top"], ["w"]]
    assert [row for row in rows(started, tables) if row[0] in OWN] == []
    plan = rows(started, "EXPLAIN ANALYZE SELECT * FROM w", **on)
    assert "shared with top, v" in str(plan)


def test_over_http(started: Client) -> None:
    made = started.post("/v1/views?branch=b", {"name": "w", "sql": OWN["w"]})
    assert made.status_code == 201, made.text
    assert [view["name"] for view in started.get("/v1/views", branch="b").json()["views"]] == ["v", "w"]
    assert [view["name"] for view in started.get("/v1/views").json()["views"]] == ["v"]
    assert started.get("/v1/views/w", branch="b").json()["state"] == "ready"
    assert code(started.get("/v1/views/w")) == (404, "unknown_name")
    assert started.get("/v1/views/w/rows", branch="b", order_by="c").json()["rows"][0] == {"c": 1, "k": 1}
    assert "reduce" in started.get("/v1/views/w/plan", branch="b", stage="dataflow").text
    assert started.get("/v1/views/w/plan", branch="b", stage="analyze").status_code == 200
    why = started.get("/v1/views/w/why", branch="b", row='{"c": 2, "k": 1}')
    assert len(why.json()["tables"]["t"]) == 2, why.text
    estimate = started.post("/v1/views?branch=b&dry_run=true", {"name": "x", "sql": "SELECT k FROM w"})
    assert estimate.status_code == 200, estimate.text
    epoch = started.get("/v1/branches/b").json()["epoch"]
    run(started, "DELETE FROM t WHERE id = 3", branch="b")
    changes = started.get("/v1/views/w/changes", branch="b", since=epoch).text.splitlines()
    assert [json.loads(it)["diff"] for it in changes] == [-1], changes
    assert started.delete("/v1/views/w?branch=b").status_code == 204
    assert code(started.get("/v1/views/w/rows", branch="b")) == (404, "unknown_name")
    assert code(started.delete("/v1/views/v?branch=b")) == (409, "held_by_branch")
    assertion = {"name": "a", "sql": "SELECT id FROM t WHERE n < 0", "breach": "refuse"}
    assert code(started.post("/v1/views?branch=b", assertion)) == (422, "unsupported_sql")
    assert code(started.post("/v1/views?branch=none", {"name": "w", "sql": OWN["w"]})) == (
        404,
        "unknown_name",
    )


REFUSED: dict[str, tuple[int, str]] = {
    "CREATE VIEW v AS SELECT n FROM t": (409, "name_in_use"),
    "CREATE VIEW w AS SELECT n FROM t": (409, "name_in_use"),
    "CREATE VIEW t AS SELECT n FROM t": (409, "name_in_use"),
    "CREATE OR REPLACE VIEW w AS SELECT n FROM t": (422, "unsupported_sql"),
    "CREATE OR REPLACE VIEW v AS SELECT n FROM t": (422, "unsupported_sql"),
    "BEGIN; CREATE OR REPLACE VIEW w AS SELECT n FROM t; COMMIT": (422, "unsupported_sql"),
    "DROP VIEW v": (409, "in_use"),
    "DROP VIEW v CASCADE": (409, "held_by_branch"),
    "DROP VIEW t": (404, "unknown_name"),
    "DROP VIEW w": (409, "in_use"),
    "ALTER VIEW w RENAME TO w2": (422, "unsupported_sql"),
    "COMMENT ON VIEW w IS 'mine'": (422, "unsupported_sql"),
    "CREATE INDEX i ON w (k)": (422, "unsupported_sql"),
    "CREATE ASSERTION a CHECK (NOT EXISTS (SELECT * FROM t))": (422, "unsupported_sql"),
    "CREATE VIEW x AS SELECT nothing FROM t": (422, "unknown_column"),
    "CREATE VIEW x AS SELECT * FROM nothing": (422, "unknown_table"),
    "CREATE VIEW nowhere.x AS SELECT n FROM t": (404, "unknown_schema"),
}


def test_refusals(started: Client) -> None:
    run(started, own("w", "top"), branch="b")
    assert {sql: refused(started, sql, branch="b") for sql in REFUSED} == REFUSED
    assert rows(started, "SELECT k FROM top", branch="b") == [[1]]
    assert [row[0] for row in rows(started, "SHOW VIEWS", branch="b")] == ["top", "v", "w"]


def test_dropping(started: Client) -> None:
    on = {"branch": "b"}
    run(started, own("w", "top"), **on)
    run(started, f"CREATE VIEW IF NOT EXISTS w AS {OWN['w']}; CREATE OR REPLACE VIEW w AS {OWN['w']}", **on)
    run(started, "DROP VIEW w CASCADE; DROP VIEW IF EXISTS w, top", **on)
    assert refused(started, "SELECT k FROM top", **on) == (422, "unknown_table")
    run(started, "CREATE VIEW w AS SELECT n FROM t", **on)
    assert rows(started, "SELECT n FROM w ORDER BY n", **on) == [[10], [10], [20]]
    run(started, "DROP BRANCH b; CREATE BRANCH b")
    assert refused(started, "SELECT n FROM w", **on) == (422, "unknown_table")


def test_branches_of_the_branch_have_it(started: Client) -> None:
    run(started, own("w"), branch="b")
    run(started, "CREATE BRANCH c FROM b; CREATE VIEW mine AS SELECT k FROM w", branch="b")
    run(started, own("top"), branch="c")
    run(started, "INSERT INTO t VALUES (4, 30)", branch="c")
    assert rows(started, "SELECT k FROM top", branch="c") == [[2]]
    assert rows(started, "SELECT max(k) FROM w", branch="b") == [[1]]
    assert refused(started, "SELECT * FROM mine", branch="c") == (422, "unknown_table")
    assert rows(started, "SELECT * FROM diff(w, 'b', 'c') ORDER BY k", branch="b") == [[1, 1, -1], [1, 2, 1]]
    assert refused(started, "DROP VIEW w CASCADE", branch="b") == (409, "held_by_branch")
    assert refused(started, "DROP VIEW w CASCADE", branch="c") == (409, "held_by_branch")
    assert refused(started, "SELECT * FROM diff(w, 'main', 'c')", branch="c") == (409, "not_on_branch")
    run(started, "DROP BRANCH c; SET branch = b; DROP VIEW w CASCADE")


def test_main_may_use_the_name_for_something_else(started: Client) -> None:
    run(started, own("w", "top"), branch="b")
    run(started, "INSERT INTO t VALUES (4, 30)", branch="b")
    run(started, "CREATE VIEW w AS SELECT id FROM t; INSERT INTO t VALUES (9, 90)")
    assert rows(started, "SELECT count(*) FROM w") == [[4]]
    assert rows(started, "SELECT count(*) FROM w", branch="b") == [[2]]
    assert code(started.get("/v1/branches/b/diff", view="w")) == (409, "not_on_branch")
    assert refused(started, "MERGE BRANCH b") == (409, "merge_conflict")
    assert rows(started, "SELECT count(*) FROM t") == [[4]]
    merged = started.post("/v1/branches/b/merge", {"on_conflict": "ours"}).json()
    assert (merged["changes"], merged["views"]) == (1, [])
    assert [it["view"] for it in merged["left_out"]] == ["w", "top"]
    assert "there is a view called w already" in merged["left_out"][0]["reason"]
    assert merged["left_out"][1]["reason"] == "it reads w, which was left out"
    run(started, "DROP VIEW w")
    (again,) = run(started, "MERGE BRANCH b")
    assert (again["count"], again["notices"]) == (0, ["made of branch b: w, top"])
    assert rows(started, "SELECT k FROM top") == [[3]]


def test_a_merge_takes_the_views_along(started: Client) -> None:
    run(started, own("w", "far", "top"), branch="b")
    run(started, "INSERT INTO t VALUES (4, 30); INSERT INTO link VALUES (3, 4)", branch="b")
    run(started, "INSERT INTO t VALUES (5, 50)")
    merged = started.post("/v1/branches/b/merge", {}).json()
    assert (merged["changes"], merged["views"], merged["left_out"]) == (2, ["w", "far", "top"], [])
    assert rows(started, "SELECT * FROM w ORDER BY c") == [[1, 3], [2, 1]]
    assert rows(started, "SELECT * FROM far ORDER BY a") == [[1, 3], [2, 2], [3, 1]]
    assert rows(started, "SELECT * FROM diff(w, 'b', 'main') ORDER BY k", branch="b") == [
        [1, 2, -1],
        [1, 3, 1],
    ]
    merged = started.post("/v1/branches/b/merge", {}).json()
    assert (merged["changes"], merged["views"], merged["left_out"]) == (0, [], [])
    run(started, "CREATE BRANCH c FROM b; SET branch = c; CREATE VIEW x AS SELECT k FROM top; MERGE BRANCH c")
    assert rows(started, "SELECT k FROM x", branch="b") == [[2]]
    assert run(started, "MERGE BRANCH b")[0]["notices"] == ["made of branch b: x"]
    run(started, "DROP BRANCH c; DROP BRANCH b; DROP VIEW w CASCADE")


def test_limits(settings: Settings) -> None:
    with Client(replace(settings, branch_bytes=40_000)) as client:
        run(client, START)
        run(client, own("far"), branch="b")
        large = "CREATE VIEW large AS SELECT id, x FROM t, generate_series(1, 10000) AS g(x)"
        assert refused(client, large, branch="b") == (409, "branch_too_large")
        assert [row[0] for row in rows(client, "SHOW VIEWS", branch="b")] == ["far", "v"]
        run(client, "INSERT INTO link VALUES (3, 4)", branch="b")
        run(client, large)
    with Client(replace(settings, budget_memory=1)) as client:
        assert refused(client, own("w"), branch="b") == (422, "over_view_budget")


def test_large_views_are_built_in_a_process(settings: Settings) -> None:
    """What a branch reads may be in files that its parent has removed meanwhile."""
    small = replace(settings, build_rows_here=10, checkpoint_commits=2)
    with Client(small) as client:
        run(client, START)
        run(client, "INSERT INTO t SELECT x, x % 7 FROM generate_series(100, 6000) AS g(x)")
        run(client, "CREATE BRANCH c; SET branch = c; INSERT INTO t VALUES (7000, 1)")
        for step in range(12):
            run(client, f"DELETE FROM t WHERE id % 13 = {step}; INSERT INTO t VALUES ({8000 + step}, 3)")
        run(client, own("w", "top"), branch="c")
        run(client, "INSERT INTO t VALUES (7001, 1)", branch="c")
        expected = rows(
            client,
            "SELECT c, count(*) FROM (SELECT n, count(*) AS c FROM t GROUP BY n) s GROUP BY c ORDER BY c",
            branch="c",
        )
        assert rows(client, "SELECT c, k FROM w ORDER BY c", branch="c") == expected
    with Client(small) as client:
        wait_until(lambda: client.get("/v1/views/w", branch="c").json()["state"] == "ready")
        assert rows(client, "SELECT c, k FROM w ORDER BY c", branch="c") == expected


def test_views_that_read_the_time(settings: Settings) -> None:
    with Client(settings) as client:
        run(client, "CREATE TABLE e (id BIGINT PRIMARY KEY, until TIMESTAMPTZ); CREATE BRANCH b")
        run(
            client,
            "INSERT INTO e VALUES (1, now() + interval '1 day'), (2, now() - interval '1 day')",
            branch="b",
        )
        run(client, "CREATE VIEW open AS SELECT id FROM e WHERE until > now()", branch="b")
        assert rows(client, "SELECT id FROM open", branch="b") == [[1]]
        begins = client.get("/v1/branches/b").json()["begins"]
        assert rows(client, f"SELECT id FROM open VERSION AS OF {begins}", branch="b") == []
    with Client(settings) as client:
        assert rows(client, "SELECT id FROM open", branch="b") == [[1]]
        run(client, "INSERT INTO e VALUES (3, now() + interval '1 day')", branch="b")
        assert rows(client, "SELECT id FROM open ORDER BY id", branch="b") == [[1], [3]]


def test_on_a_live_branch(client: Client) -> None:
    run(client, START)
    run(client, "CREATE BRANCH l LIVE; SET branch = l; " + own("w", "top") + "; INSERT INTO t VALUES (4, 30)")
    run(client, "INSERT INTO t VALUES (5, 50)")
    wait_until(lambda: rows(client, "SELECT k FROM top", branch="l") == [[3]])


def test_a_branch_is_dropped_while_views_are_built(started: Client) -> None:
    """Many clients at once: each gets an answer, whatever comes first, and nothing of the branch is left."""

    async def all_at_once() -> list[httpx.Response]:
        def sql(text: str, on: str = "b") -> Awaitable[httpx.Response]:
            return started.http.post("/v1/sql", json={"sql": text, "branch": on})

        made = [sql(f"CREATE VIEW x{number % 6} AS {OWN['far']}") for number in range(12)]
        changed = [sql(f"INSERT INTO link VALUES ({number}, {number + 1})") for number in range(10)]
        read = [sql("SELECT count(*) FROM x1") for _ in range(4)]
        return await asyncio.gather(*made, *changed, *read, sql("DROP BRANCH b", "main"))

    answers = started.run(all_at_once())
    assert {answer.status_code for answer in answers} <= {200, 404, 409, 422, 503}, answers
    assert answers[-1].status_code == 200
    assert started.get("/v1/branches").json() == {"branches": []}
    run(started, "CREATE BRANCH b; SET branch = b; " + own("far"))
    assert rows(started, "SELECT sum(k) FROM far", branch="b") == [[3]]
    run(started, "DROP BRANCH b; DROP TABLE link")


# At random


_VIEWS = {
    "a": "SELECT n, count(*) AS c FROM t GROUP BY n",
    "b": "SELECT c, max(n) AS n FROM {0} GROUP BY c",
    "c": "SELECT DISTINCT t.id, link.b FROM t JOIN link ON link.a = t.id",
    "d": "SELECT b, count(*) AS c, min(id) AS n FROM {0} GROUP BY b",
}


@each_seed(few(4))
def test_random_views_of_branches(settings: Settings, seed: int) -> None:
    """Views made and dropped on main and on branches of branches, with changes and merges; after each step,
    and after a restart, all answers are DuckDB's."""
    chance = random.Random(seed)
    known: dict[str, dict[str, str]] = {"main": {}}
    with Client(replace(settings, checkpoint_commits=chance.choice((3, 10_000)))) as client:
        run(
            client, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT); CREATE TABLE link (a BIGINT, b BIGINT)"
        )
        for step in range(steps(40)):
            _step(client, chance, step, known)
            _check(client, known, chance.choice(list(known)))
        for on in known:
            _check(client, known, on)
    with Client(settings) as client:
        for on in known:
            _check(client, known, on)
        for step in range(40, 40 + steps(10)):
            _step(client, chance, step, known)
        for on in known:
            _check(client, known, on)


def _step(client: Client, chance: random.Random, step: int, known: dict[str, dict[str, str]]) -> None:
    on = chance.choice(list(known))
    views, what = known[on], chance.random()
    if what < 0.12 and len(known) < 5:
        run(client, f"CREATE BRANCH b{step} FROM {on}")
        known[f"b{step}"] = dict(views)
    elif what < 0.35:
        first = [name for name, sql in views.items() if "{0}" not in _VIEWS[name[0]] and name[0] in "ac"]
        kind = chance.choice("abcd")
        name = f"{kind}{step}"
        if kind in "bd":
            wanted = [it for it in first if it[0] == {"b": "a", "d": "c"}[kind]]
            if not wanted:
                return
            sql = _VIEWS[kind].format(chance.choice(wanted))
        else:
            sql = _VIEWS[kind]
        run(client, f"CREATE VIEW {name} AS {sql}", branch=on)
        views[name] = sql
    elif what < 0.42 and views:
        name = chance.choice(list(views))
        answer = client.post("/v1/sql", {"sql": f"DROP VIEW {name}", "branch": on})
        if answer.status_code == 200:
            del views[name]
        else:
            assert code(answer)[1] in ("held_by_branch", "in_use")
    elif what < 0.5 and on != "main":
        answer = client.post(f"/v1/branches/{on}/merge", {"on_conflict": chance.choice(("ours", "theirs"))})
        assert answer.status_code == 200, answer.text
        assert answer.json()["left_out"] == []
        parent = client.get(f"/v1/branches/{on}").json()["of"]
        known[parent] |= {name: views[name] for name in answer.json()["views"]}
    else:
        id = chance.randrange(8)
        sql = chance.choice(
            (
                f"INSERT INTO t VALUES ({id}, {chance.randrange(3)}) ON CONFLICT (id) DO UPDATE SET n = "
                f"{chance.randrange(3)}",
                f"DELETE FROM t WHERE id = {id}",
                f"INSERT INTO link VALUES ({id}, {chance.randrange(3)})",
                f"DELETE FROM link WHERE b = {chance.randrange(3)} AND a > {id}",
            )
        )
        run(client, sql, branch=on)


def _check(client: Client, known: dict[str, dict[str, str]], on: str) -> None:
    listed = client.get("/v1/views", branch=on)
    assert {view["name"] for view in listed.json()["views"]} == set(known[on])
    with duckdb.connect() as duck:
        duck.execute("CREATE TABLE t (id BIGINT, n BIGINT); CREATE TABLE link (a BIGINT, b BIGINT)")
        for table in ("t", "link"):
            for row in rows(client, f"SELECT * FROM {table}", branch=on):
                duck.execute(f"INSERT INTO {table} VALUES (?, ?)", row)
        for name, sql in known[on].items():
            duck.execute(f"CREATE VIEW {name} AS {sql}")
        for name in known[on]:
            expected = sorted(duck.execute(f"SELECT * FROM {name}").fetchall())
            assert sorted(map(tuple, rows(client, f"SELECT * FROM {name}", branch=on))) == expected, (
                on,
                name,
            )


def test_it_survives_kill(start: Callable[..., Process]) -> None:
    process = start(FRESHET_CHECKPOINT_COMMITS="3")
    process.wait_ready()

    def sql(text: str, **more: object) -> dict:
        answer = process.http.post("/v1/sql", json={"sql": text, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][-1]

    sql(START)
    sql(own("w", "far", "top"), branch="b")
    sql("CREATE BRANCH c FROM b; SET branch = c; CREATE VIEW x AS SELECT a FROM far; DROP BRANCH IF EXISTS d")
    for i in range(10, 15):
        sql(f"INSERT INTO t VALUES ({i}, {i})")
        sql(f"INSERT INTO t VALUES ({i}, 10); INSERT INTO link VALUES ({i}, {i + 1})", branch="b")
    sql("SET branch = c; INSERT INTO link VALUES (7, 8)")
    sql("SET branch = b; CREATE VIEW gone AS SELECT n FROM t; DROP VIEW gone")
    before = [sql("SELECT * FROM w ORDER BY c", branch="b"), sql("SELECT * FROM far ORDER BY a", branch="b")]
    child = sql("SELECT * FROM x ORDER BY a", branch="c")
    process.kill()
    process = start()
    process.wait_ready()
    assert [
        sql("SELECT * FROM w ORDER BY c", branch="b"),
        sql("SELECT * FROM far ORDER BY a", branch="b"),
    ] == before
    assert sql("SELECT * FROM x ORDER BY a", branch="c") == child
    assert [row[0] for row in sql("SHOW VIEWS", branch="b")["rows"]] == ["far", "top", "v", "w"]


def test_a_quote_in_a_branchs_name(started: Client) -> None:
    made = started.post("/v1/sql", {"sql": 'CREATE BRANCH "a""b"'}).json()["results"][0]
    assert "notices" not in made
    answer = started.post("/v1/sql", {"sql": "DROP BRANCH b; DROP VIEW v CASCADE"}).json()
    assert answer["hint"] == 'merge and drop the branch first: DROP BRANCH "a""b"'
    long = "x" * 70
    cut = started.post("/v1/sql", {"sql": f'CREATE BRANCH "{long}"'}).json()["results"][0]
    assert "more than 63 bytes" in cut["notices"][0]
