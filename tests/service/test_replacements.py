"""Replacements: built beside the old views, previewed, applied as one epoch, or dropped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import httpx
import orjson
import pytest

from service.running.checkpoints import Checkpoints
from service.settings.settings import Settings
from tests.service.client import Process, code
from tests.service.test_altering import Shop
from tests.service.waiting import wait_until

SCHEMA = """
    CREATE TABLE t (k INTEGER PRIMARY KEY, g INTEGER, x INTEGER);
    INSERT INTO t VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5);
    CREATE VIEW base AS SELECT k, g, x FROM t;
    CREATE VIEW sums AS SELECT g, sum(x) AS s FROM base GROUP BY g;
    CREATE VIEW top AS SELECT max(s) AS m FROM sums
"""
LARGE = "CREATE REPLACEMENT r FOR VIEW base AS SELECT k, g, x * 10 AS x FROM t"


@pytest.fixture
def shop(settings: Settings) -> Iterator[Shop]:
    with Shop(settings) as shop:
        shop.results(SCHEMA)
        yield shop


def preview(shop: Shop, name: str = "r", **params: object) -> dict:
    answer = shop.get(f"/v1/replacements/{name}/preview", **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def differences(shop: Shop, view: str) -> Counter:
    """What a preview says of a view, as a bag."""
    found = preview(shop, view=view, limit=1000)["differences"]
    return Counter({tuple(it["row"].values()): it["diff"] for it in found})


def hidden(shop: Shop) -> list[str]:
    """The relations of the engine that no list shows."""
    return [name for name in shop.runtime.snapshot.relations if name not in shop.runtime.definitions()]


def test_nothing_changes_until_it_is_applied(shop: Shop) -> None:
    epoch = shop.runtime.snapshot.upper - 1
    shop.results(LARGE)
    assert shop.rows("sums") == [(1, 30), (2, 5)] and shop.runtime.snapshot.upper - 1 == epoch
    assert differences(shop, "base") == {
        (1, 1, 10): -1, (1, 1, 100): 1, (2, 1, 20): -1, (2, 1, 200): 1, (3, 2, 5): -1, (3, 2, 50): 1,
    }  # fmt: skip
    assert differences(shop, "sums") == {(1, 30): -1, (1, 300): 1, (2, 5): -1, (2, 50): 1}
    before = shop.insert("t", {"k": 4, "g": 2, "x": 1})
    assert differences(shop, "sums") == {(1, 30): -1, (1, 300): 1, (2, 6): -1, (2, 60): 1}
    assert differences(shop, "top") == {(30,): -1, (300,): 1}
    assert shop.rows("sums") == [(1, 30), (2, 6)]
    (applied,) = shop.results("APPLY REPLACEMENT r")
    assert applied == {"statement": "APPLY REPLACEMENT", "epoch": before + 1}
    assert shop.rows("sums") == [(1, 300), (2, 60)] and shop.rows("top") == [(300,)]
    assert shop.rows("sums", as_of=before) == [(1, 30), (2, 6)]
    assert shop.rows("base", as_of=epoch) == [(1, 1, 10), (2, 1, 20), (3, 2, 5)]
    assert shop.select("SHOW REPLACEMENTS") == [] and hidden(shop) == []
    shop.insert("t", {"k": 5, "g": 2, "x": 1})
    assert shop.rows("sums") == [(1, 300), (2, 70)]


def test_a_dropped_one_leaves_nothing(shop: Shop) -> None:
    shop.results(LARGE)
    assert len(hidden(shop)) == 3
    assert shop.select("SHOW REPLACEMENTS") == [["r", "base", "ready", None]]
    shop.results("DROP REPLACEMENT r; DROP REPLACEMENT IF EXISTS r")
    assert hidden(shop) == [] and shop.rows("top") == [(30,)]
    assert code(shop.get("/v1/replacements/r")) == (404, "unknown_name")


def test_several_views_change_at_one_epoch(shop: Shop) -> None:
    epoch = shop.runtime.snapshot.upper - 1
    shop.results(
        "CREATE REPLACEMENT r FOR VIEW base AS SELECT k, x AS amount, g FROM t, "
        "VIEW sums AS SELECT g, count(*) AS n, sum(amount) AS s FROM base GROUP BY g"
    )
    assert differences(shop, "top") == {}
    assert [it["name"] for it in shop.get("/v1/replacements/r").json()["views"]] == ["base", "sums", "top"]
    shop.results("ALTER MATERIALIZED VIEW base APPLY REPLACEMENT r")
    assert shop.rows("sums") == [(1, 2, 30), (2, 1, 5)] and shop.rows("top") == [(30,)]
    assert shop.select(f"SELECT g, n, s FROM sums VERSION AS OF {epoch} ORDER BY g") == [
        [1, None, 30],
        [2, None, 5],
    ]
    assert shop.rows("top", as_of=epoch) == [(30,)]


def test_a_block_replaces_several_views_at_one_epoch(shop: Shop) -> None:
    script = """
        BEGIN;
        CREATE OR REPLACE VIEW sums AS SELECT g, sum(amount) AS s FROM base GROUP BY g;
        CREATE OR REPLACE VIEW base AS SELECT k, g, x * 2 AS amount FROM t;
        COMMIT
    """
    epoch = shop.runtime.snapshot.upper
    assert [result["epoch"] for result in shop.results(script)] == [epoch] * 4
    assert shop.rows("sums") == [(1, 60), (2, 10)] and shop.rows("top") == [(60,)]
    broken = script.replace("sum(amount)", "sum(nope)")
    assert shop.problem(broken)[:2] == (422, "unknown_column")
    assert shop.problem("BEGIN; CREATE OR REPLACE VIEW nope AS SELECT 1 AS a; COMMIT")[0] == 404
    assert (
        shop.problem("BEGIN; CREATE OR REPLACE VIEW base AS SELECT 1 AS k; DELETE FROM t; COMMIT")[0] == 422
    )
    assert shop.rows("top") == [(60,)]
    assert shop.runtime.snapshot.upper == epoch + 1


def test_pages_of_one_epoch_fit_together(shop: Shop) -> None:
    shop.results(LARGE)
    first = preview(shop, limit=2)
    assert (first["view"], first["rows"], first["next"]) == ("base", 6, 2)
    whole = preview(shop)["differences"]
    shop.insert("t", {"k": 0, "g": 0, "x": 1})
    found, start = list(first["differences"]), first["next"]
    while start is not None:
        page = preview(shop, limit=3, start=start, as_of=first["epoch"])
        assert page["epoch"] == first["epoch"] and page["rows"] == 6
        found += page["differences"]
        start = page["next"]
    assert found == whole
    assert preview(shop)["rows"] == 8
    lines = shop.get("/v1/replacements/r/preview", format="ndjson", view="top").content.splitlines()
    assert sorted(map(orjson.loads, lines), key=lambda row: row["_diff"]) == [
        {"m": 30, "_diff": -1},
        {"m": 300, "_diff": 1},
    ]
    assert shop.select("PREVIEW REPLACEMENT r VIEW top") == [[30, -1], [300, 1]]
    assert len(shop.select("PREVIEW REPLACEMENT r LIMIT 3 OFFSET 6")) == 2
    shop.results("APPLY REPLACEMENT r")
    assert shop.rows("top") == [(300,)]


def test_what_it_reads_may_be_altered(shop: Shop) -> None:
    shop.results(LARGE)
    shop.results("ALTER TABLE t RENAME COLUMN x TO y; ALTER TABLE t RENAME COLUMN y TO x")
    shop.results("ALTER TABLE t ADD COLUMN z INTEGER DEFAULT 7")
    shop.results("CREATE VIEW more AS SELECT count(*) AS n FROM sums")
    wait_until(lambda: shop.get("/v1/replacements/r/preview").status_code == 200)
    assert differences(shop, "sums") == {(1, 30): -1, (1, 300): 1, (2, 5): -1, (2, 50): 1}
    assert differences(shop, "more") == {}
    shop.results("APPLY REPLACEMENT r")
    assert shop.rows("sums") == [(1, 300), (2, 50)] and shop.rows("more") == [(2,)]
    assert hidden(shop) == []


@pytest.mark.parametrize(
    ("sql", "status", "detail"),
    [
        ("CREATE REPLACEMENT r FOR VIEW nope AS SELECT 1 AS a", 404, "there is no view called nope"),
        ("CREATE REPLACEMENT r FOR VIEW t AS SELECT 1 AS a", 404, "there is no view called t"),
        ("CREATE REPLACEMENT r FOR base AS SELECT k, x FROM t", 409, "view sums reads base and would fail"),
        ("CREATE REPLACEMENT r FOR base AS SELECT m AS k, m AS g, m AS x FROM top", 409, "would read itself"),
        ("CREATE REPLACEMENT r FOR base AS SELECT k FROM t, VIEW base AS SELECT 1", 422, "two queries"),
        ("CREATE REPLACEMENT r FOR sums AS SELECT g, 'x' AS s FROM base", 409, "column m BIGINT of view top"),
        ("CREATE REPLACEMENT r FOR base", 400, "AS is expected"),
        ("CREATE REPLACEMENT r FOR base AS SELECT q FROM t", 422, 'unknown column "q"'),
        ("APPLY REPLACEMENT r", 404, "there is no replacement called r"),
        ("DROP REPLACEMENT r", 404, "there is no replacement called r"),
        ("PREVIEW REPLACEMENT r", 404, "there is no replacement called r"),
        (f"{LARGE}; {LARGE}", 409, "there is a replacement called r already"),
        (f"{LARGE}; PREVIEW REPLACEMENT r VIEW t", 404, "does not change t"),
        (f"{LARGE}; ALTER VIEW sums APPLY REPLACEMENT r", 409, "is for base, not for sums"),
        (f"{LARGE}; DROP VIEW base CASCADE; APPLY REPLACEMENT r", 404, "there is no view called base"),
        (f"CREATE BRANCH b; {LARGE}; APPLY REPLACEMENT r", 409, "is held as it is by branch b"),
        (f"CREATE BRANCH b; SET branch = b; {LARGE}", 422, "on a branch is not supported"),
    ],
)
def test_what_is_refused_changes_nothing(shop: Shop, sql: str, status: int, detail: str) -> None:
    epoch = shop.runtime.snapshot.upper
    answer = shop.post("/v1/sql", {"sql": sql})
    assert answer.status_code == status and detail in answer.json()["detail"], answer.text
    if "DROP VIEW" not in sql:
        assert shop.runtime.snapshot.upper == epoch
        assert shop.rows("top") == [(30,)]


def test_an_error_names_its_place_in_the_script(shop: Shop) -> None:
    sql = "CREATE REPLACEMENT r FOR base AS SELECT k, g, x FROM t,\n VIEW sums AS SELECT nope AS g FROM base"
    problem = shop.post("/v1/sql", {"sql": sql}).json()
    assert problem["position"] == {"line": 2, "column": 22}


def test_a_view_that_would_read_itself_is_told_so(shop: Shop) -> None:
    for sql in (
        "CREATE OR REPLACE VIEW base AS SELECT k FROM base",
        "CREATE REPLACEMENT r FOR VIEW base AS SELECT k FROM base",
    ):
        refused = shop.post("/v1/sql", {"sql": sql}).json()
        assert (refused["code"], refused["detail"]) == ("invalid_query", "view base would read itself")
    dry = shop.post("/v1/views?dry_run=true", {"name": "base", "sql": "SELECT k FROM base"}).json()
    assert (dry["code"], dry["detail"]) == ("invalid_query", "view base would read itself")
    assert "line" in str(dry["position"])


def test_a_broken_assertion_is_refused(shop: Shop) -> None:
    shop.results("CREATE ASSERTION small CHECK (NOT EXISTS (SELECT 1 FROM base WHERE x > 50))")
    shop.results(LARGE)
    assert code(shop.post("/v1/replacements/r/apply", {})) == (409, "assertion_broken")
    shop.results("DELETE FROM t WHERE x > 5; APPLY REPLACEMENT r")
    assert shop.rows("base") == [(3, 2, 50)]


def test_limits(settings: Settings) -> None:
    with Shop(replace(settings, replacements=1)) as shop:
        shop.results(SCHEMA)
        shop.results(LARGE)
        another = LARGE.replace("REPLACEMENT r", "REPLACEMENT s")
        assert code(shop.post("/v1/sql", {"sql": another})) == (429, "too_many_replacements")
        shop.results(f"DROP REPLACEMENT r; {another}")


def _nothing(checkpoints: Checkpoints) -> None:
    """A crash leaves no checkpoint."""


@pytest.mark.parametrize("finish", [Checkpoints.finish, _nothing])
def test_it_is_there_after_a_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, finish: Callable
) -> None:
    with monkeypatch.context() as patch, Shop(settings) as shop:
        patch.setattr(Checkpoints, "finish", finish)
        shop.results(SCHEMA)
        shop.results(LARGE)
        epoch = shop.runtime.snapshot.upper - 1
    with Shop(settings) as shop:
        wait_until(lambda: shop.get("/v1/replacements/r").json()["state"] == "ready")
        shop.insert("t", {"k": 4, "g": 2, "x": 1})
        assert differences(shop, "sums") == {(1, 30): -1, (1, 300): 1, (2, 6): -1, (2, 60): 1}
        shop.results("APPLY REPLACEMENT r")
    with Shop(settings) as shop:
        assert shop.select("SHOW REPLACEMENTS") == []
        assert shop.rows("sums") == [(1, 300), (2, 60)]
        assert shop.rows("sums", as_of=epoch) == [(1, 30), (2, 5)]


def test_rows_come_while_it_is_applied(shop: Shop) -> None:
    """Clients change rows all the time. What each epoch changes of `sums` leads from sums to sums."""
    done, keys = threading.Event(), iter(range(100, 10_000))

    def write() -> None:
        while not done.is_set():
            shop.insert("t", {"k": next(keys), "g": 1, "x": 1})

    first = shop.runtime.snapshot.upper - 1
    thread = threading.Thread(target=write)
    thread.start()
    applied = []
    for factor in (10, 3, 7):
        shop.results(f"CREATE REPLACEMENT r FOR base AS SELECT k, g, x * {factor} AS x FROM t")
        (result,) = shop.results("APPLY REPLACEMENT r")
        applied.append((result["epoch"], factor))
    done.set()
    thread.join()
    newest = shop.runtime.snapshot.upper - 1
    for epoch in range(first, newest + 1):
        factor = next((f for at, f in reversed(applied) if at <= epoch), 1)
        rows = shop.select(f"SELECT g, x FROM t VERSION AS OF {epoch}")
        expected = Counter[int]()
        for g, x in rows:
            expected[g] += x * factor
        assert dict(shop.rows("sums", as_of=epoch)) == dict(expected)


def test_kills_around_applying(start: Callable[..., Process]) -> None:
    """Before it is applied the views are the old ones, and afterwards the new ones, whenever the end came."""
    told: dict[int, list] = {}
    for kill in range(4):
        service = start(FRESHET_CHECKPOINT_COMMITS="3")
        service.wait_ready()

        def ask(sql: str, service: Process = service) -> dict:
            answer = service.http.post("/v1/sql", json={"sql": sql})
            assert answer.status_code == 200, answer.text
            return answer.json()["results"][-1]

        if kill == 0:
            ask(SCHEMA)
        sums = ask("SELECT g, s FROM sums ORDER BY g")
        assert sums["rows"] == ask("SELECT g, sum(x) FROM base GROUP BY g ORDER BY g")["rows"]
        for epoch, rows in told.items():
            assert ask(f"SELECT g, s FROM sums VERSION AS OF {epoch} ORDER BY g")["rows"] == rows
        told[sums["epoch"]] = sums["rows"]
        ask("DROP REPLACEMENT IF EXISTS r")
        ask(f"CREATE REPLACEMENT r FOR base AS SELECT k, g, x * {kill + 2} AS x FROM t")
        end = threading.Timer(0.02 * kill, service.kill)
        end.start()
        with suppress(httpx.HTTPError):
            ask("APPLY REPLACEMENT r")
        end.join()


def test_a_feed_goes_on_with_the_differences(start: Callable[..., Process]) -> None:
    """Who follows a view, or what reads it, gets one epoch that changes what differs."""
    service = start()
    service.wait_ready()

    def ask(sql: str) -> int:
        answer = service.http.post("/v1/sql", json={"sql": sql})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][-1]["epoch"]

    first = ask(SCHEMA)
    found: dict[str, list[tuple]] = {"base": [], "sums": []}
    final = {"base": (1, 5, 1, 1), "sums": (1, 1, 22)}

    def follow(view: str) -> None:
        path = f"{service.url}/v1/views/{view}/changes"
        with httpx.stream("GET", path, params={"format": "sse", "since": first}, timeout=240) as feed:
            for line in feed.iter_lines():
                if line.startswith("data: "):
                    for change in orjson.loads(line.removeprefix("data: ")):
                        found[view].append((change["epoch"], change["diff"], *change["row"].values()))
                if found[view] and found[view][-1][1:] == final[view]:
                    return

    followers = [threading.Thread(target=follow, args=(view,)) for view in found]
    for thread in followers:
        thread.start()
    inserted = ask("INSERT INTO t VALUES (4, 1, 1)")
    ask("CREATE REPLACEMENT r FOR base AS SELECT k, g, x FROM t WHERE x <> 5")
    applied = ask("APPLY REPLACEMENT r")
    again = ask("CREATE OR REPLACE VIEW base AS SELECT k, g, x FROM t WHERE k <> 1")
    last = ask("INSERT INTO t VALUES (5, 1, 1)")
    for thread in followers:
        thread.join(60)
    assert [tuple(line) for line in found["base"]] == [
        (inserted, 1, 4, 1, 1),
        (applied, -1, 3, 2, 5),
        (again, -1, 1, 1, 10),
        (again, 1, 3, 2, 5),
        (last, 1, 5, 1, 1),
    ]
    assert Counter(found["sums"]) == Counter(
        [
            (inserted, -1, 1, 30),
            (inserted, 1, 1, 31),
            (applied, -1, 2, 5),
            (again, -1, 1, 31),
            (again, 1, 1, 21),
            (again, 1, 2, 5),
            (last, -1, 1, 21),
            (last, 1, 1, 22),
        ]
    )
