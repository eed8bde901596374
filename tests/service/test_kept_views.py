"""Views over altered tables keep their state where their plan is one program; else the reply says why."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest

from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.errors import NotFound
from service.running.relation_following import Position
from service.settings.settings import Settings
from tests.seeds import each_seed, few, steps
from tests.service.client import Client
from tests.service.waiting import wait_until

VIEWS = {
    "picked": "SELECT id, n FROM t WHERE n > 1",
    "grouped": "SELECT n, count(*) AS c, max(m) AS m FROM t GROUP BY n",
    "joined": "SELECT t.id, s.x FROM t JOIN s ON s.t = t.id WHERE t.n < 100",
    "apart": "SELECT DISTINCT n FROM t WHERE m IS NOT NULL",
    "first": "SELECT id, n FROM t ORDER BY n DESC NULLS LAST, id LIMIT 3",
    "far": "WITH RECURSIVE r(a, b) AS (SELECT id, n FROM t UNION SELECT r.a, t.n FROM r JOIN t "
    "ON t.id = r.b) SELECT a, count(*) AS c FROM r GROUP BY a",
    "missing": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.t = t.id)",
    "above": "SELECT c, count(*) AS k FROM grouped GROUP BY c",
}
WHOLE = {"whole": "SELECT * FROM t"}
START = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, unread TEXT, n INTEGER, m NUMERIC(6, 2), more TEXT);
    CREATE TABLE s (t BIGINT, x TEXT);
    INSERT INTO t SELECT i, 'u', i % 5, i, 'm' FROM generate_series(1, 12) AS g(i);
    INSERT INTO s SELECT i % 7, 'x' FROM generate_series(1, 9) AS g(i)
"""


def run(client: Client, sql: str) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def rows(client: Client, sql: str) -> list[tuple]:
    return sorted((tuple(row) for row in run(client, sql)[-1]["rows"]), key=repr)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the views that are computed."""
    names: list[str] = []
    compute, later = Definitions.compute_view, Definitions.compute_later

    def noted(self: Definitions, view: Definition, *rest: object) -> None:
        names.append(view.name)
        compute(self, view, *rest)

    def put_off(self: Definitions, view: Definition, reason: str) -> Definition:
        names.append(view.name)
        return later(self, view, reason)

    monkeypatch.setattr(Definitions, "compute_view", noted)
    monkeypatch.setattr(Definitions, "compute_later", put_off)
    yield names


def start(client: Client, *views: str) -> None:
    all = VIEWS | WHOLE
    run(client, START)
    run(client, "; ".join(f"CREATE VIEW {name} AS {all[name]}" for name in views))


def check(client: Client, *views: str, table: str = "t", n: str = "n") -> None:
    """All views have DuckDB's rows."""
    with duckdb.connect() as duck:
        duck.execute(
            "CREATE TABLE t (id BIGINT, n BIGINT, m DECIMAL(9, 2)); CREATE TABLE s (t BIGINT, x TEXT)"
        )
        for row in rows(client, f"SELECT id, {n}, m FROM {table}"):
            duck.execute("INSERT INTO t VALUES (?, ?, ?)", row)
        for row in rows(client, "SELECT t, x FROM s"):
            duck.execute("INSERT INTO s VALUES (?, ?)", row)
        duck.execute("; ".join(f"CREATE VIEW {name} AS {VIEWS[name]}" for name in views))
        for name in views:
            expected = [tuple(map(_plain, row)) for row in duck.execute(f"SELECT * FROM {name}").fetchall()]
            found = [tuple(map(_plain, row)) for row in rows(client, f"SELECT * FROM {name}")]
            assert found == sorted(expected, key=repr), name


def _plain(value: object) -> object:
    return (
        float(value)
        if hasattr(value, "as_tuple") or (isinstance(value, str) and value[:1].isdigit())
        else value
    )


KEEPING = (
    "ALTER TABLE t ADD COLUMN added TEXT DEFAULT 'a'",
    "ALTER TABLE t DROP COLUMN unread",
    "ALTER TABLE t DROP COLUMN more",
    "ALTER TABLE t ALTER COLUMN n TYPE BIGINT",
    "ALTER TABLE t ALTER COLUMN m TYPE NUMERIC(9, 2)",
    "ALTER TABLE t RENAME COLUMN n TO number",
    "ALTER TABLE t RENAME TO things",
)


@pytest.mark.parametrize("sql", KEEPING)
def test_what_keeps_all_views(client: Client, computed: list[str], sql: str) -> None:
    start(client, *VIEWS)
    before = {name: rows(client, f"SELECT * FROM {name}") for name in VIEWS}
    run(client, "INSERT INTO t (id, n, m) VALUES (20, 3, 1.5)")
    epoch = run(client, "DELETE FROM t WHERE id = 2")[0]["epoch"]
    computed.clear()
    (altered,) = run(client, sql)
    if sql.endswith("BIGINT"):  # its id meets a wider n, for which it has to be made wide itself
        reason = "an expression of it means something else now"
        assert altered["notices"] == [f"view far is computed again: {reason}"]
        assert computed == ["far"]
        computed.clear()
    assert computed == [], altered
    table, n = ("things" if "things" in sql else "t"), ("number" if "number" in sql else "n")
    check(client, *VIEWS, table=table, n=n)
    for name in VIEWS:
        assert rows(client, f"SELECT * FROM {name} VERSION AS OF {epoch - 2}") == before[name]
    run(
        client,
        f"INSERT INTO {table} (id, {n}, m) VALUES (30, 4, 2), (31, 9, 3); DELETE FROM {table} WHERE id = 3",
    )
    run(client, "INSERT INTO s VALUES (30, 'y')")
    check(client, *VIEWS, table=table, n=n)
    run(client, f"DELETE FROM {table}")
    check(client, *VIEWS, table=table, n=n)
    assert computed == []


def test_followers_of_kept_views_go_on(client: Client) -> None:
    start(client, "grouped", "far")
    runtime = client.app.state.runtime
    positions = [
        Position(runtime, runtime.definition(name), runtime.readable.newest) for name in ("grouped", "far")
    ]
    run(client, "INSERT INTO t (id, n, m) VALUES (20, 8, 1)")
    run(client, "ALTER TABLE t DROP COLUMN unread; INSERT INTO t (id, n, m) VALUES (21, 9, 1)")
    for position in positions:
        name, since = position.definition.name, position.since
        snapshot = position.look()
        assert snapshot is not None
        words, diffs = snapshot.net_changes(name, since, snapshot.upper - 1)
        assert words[0].tolist() == ([8, 9] if name == "grouped" else [20, 21]) and diffs.tolist() == [1, 1]
    run(client, "ALTER TABLE t ALTER COLUMN n TYPE BIGINT")
    for position in positions:
        position.took(runtime.readable.newest)
        run(client, f"INSERT INTO t (id, n, m) VALUES ({30 + position.since}, 9, 1)")
        with pytest.raises(NotFound, match="was dropped or altered"):
            position.look()


def test_wider_values_come_after_the_widening(client: Client) -> None:
    start(client, *VIEWS)
    run(
        client,
        "ALTER TABLE t ALTER COLUMN n TYPE BIGINT; INSERT INTO t (id, n, m) VALUES (40, 5000000000, 1)",
    )
    assert (5_000_000_000,) in rows(client, "SELECT n FROM apart")
    check(client, *VIEWS)


def test_the_reply_says_why_a_view_is_computed_again(client: Client, computed: list[str]) -> None:
    start(client, "grouped", "whole")
    (altered,) = run(client, "ALTER TABLE t ADD COLUMN added TEXT")
    assert computed[2:] == [] and "notices" not in altered  # * had the columns of then
    run(client, "CREATE VIEW divided AS SELECT id, n / 2 AS h FROM t WHERE n + 1 > 2")
    computed.clear()
    (altered,) = run(client, "ALTER TABLE t ALTER COLUMN n TYPE BIGINT")
    assert computed == ["divided"]
    reason = "view divided is computed again: an expression of it means something else now"
    assert altered["notices"] == [reason.replace("an expression", "a condition")]
    assert rows(client, "SELECT h FROM divided WHERE id = 4") == [(2,)]
    run(client, "CREATE VIEW recent AS SELECT id FROM t WHERE now() > TIMESTAMPTZ '2000-01-01'")
    altered = run(client, "DROP VIEW whole; ALTER TABLE t DROP COLUMN unread")[-1]
    assert "view recent is computed again: it reads the time" in altered["notices"]


def test_views_that_have_failed_and_errors(client: Client) -> None:
    run(client, "CREATE TABLE e (id INTEGER PRIMARY KEY, a TEXT, b TEXT)")
    run(client, "CREATE VIEW cast_a AS SELECT id, CAST(a AS INTEGER) AS a FROM e")
    run(client, "INSERT INTO e VALUES (1, '1', ''), (2, 'x', '')")
    assert client.get("/v1/views/cast_a/rows").status_code == 409
    run(client, "ALTER TABLE e DROP COLUMN b")
    assert client.get("/v1/views/cast_a/rows").status_code == 409
    run(client, "DELETE FROM e WHERE id = 2")
    assert rows(client, "SELECT a FROM cast_a") == [(1,)]


def test_nothing_is_lost_if_the_alteration_fails(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    start(client, *VIEWS)

    def refuse(self: object, layout: object) -> int:
        raise RuntimeError("the catalog refuses")

    with monkeypatch.context() as patched:
        patched.setattr("service.catalog.records.Definer.retire", refuse)
        assert client.post("/v1/sql", {"sql": "ALTER TABLE t DROP COLUMN more"}).status_code == 500
    check(client, *VIEWS)
    run(client, "INSERT INTO t (id, n, m) VALUES (30, 4, 2)")
    check(client, *VIEWS)


@each_seed(few(3))
def test_random_alterations(settings: Settings, seed: int) -> None:
    """Of tables with rows that come and go, large and small; also after a restart."""
    chance = random.Random(seed)
    limited = replace(
        settings, build_rows_here=chance.choice((5, 100_000)), checkpoint_commits=chance.choice((2, 10_000))
    )
    rest = list(KEEPING[:5])
    with Client(limited) as client:
        start(client, *VIEWS)
        for _ in range(steps(20)):
            if rest and chance.random() < 0.3:
                run(client, rest.pop(chance.randrange(len(rest))))
            id = chance.randrange(20)
            run(
                client,
                chance.choice(
                    (
                        f"INSERT INTO t (id, n, m) VALUES ({id}, {chance.randrange(6)}, 1) ON CONFLICT (id) "
                        f"DO UPDATE SET n = {chance.randrange(6)}",
                        f"DELETE FROM t WHERE id = {id}",
                        f"INSERT INTO s VALUES ({id}, 'z')",
                        f"DELETE FROM s WHERE t = {id}",
                    )
                ),
            )
            _ready(client)
            check(client, *VIEWS)
    with Client(limited) as client:
        _ready(client)
        check(client, *VIEWS)
        run(client, "DELETE FROM t WHERE id > 4")
        check(client, *VIEWS)


def _ready(client: Client) -> None:
    wait_until(lambda: all(it["state"] == "ready" for it in client.get("/v1/views").json()["views"]))
