"""Watermarks: late rows are left out and reported, and windows come out when no row can change them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.seeds import each_seed, few
from tests.service.client import Client, Process

TABLES = """
CREATE TABLE clicks (page TEXT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5 minutes') APPEND ONLY;
CREATE TABLE buys (page TEXT, at TIMESTAMP, WATERMARK FOR at AS at) APPEND ONLY;
CREATE VIEW hours AS SELECT window_start, page, count(*) AS n, min(at) AS first
FROM TUMBLE(clicks, at, INTERVAL '1 hour') GROUP BY window_start, page EMIT ON WINDOW CLOSE;
"""
START = datetime(2026, 1, 1)


def at(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).isoformat()


def click(page: str, minutes: float) -> dict:
    return {"insert": {"page": page, "at": at(minutes)}}


def ask(client: Client, sql: str) -> dict:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1]


def test_late_rows_are_left_out_and_reported(settings: Settings) -> None:
    with Client(settings) as client:
        ask(client, TABLES)
        assert client.get("/v1/tables/clicks").json()["watermark"]["at"] is None
        together = client.deltas("clicks", click("a", 100), click("a", 10), click("b", 20)).json()
        assert together == {"epoch": 1, "changes": 3}, "rows of one request do not make each other late"
        assert sorted(client.rows("hours")) == [(at(0), "a", 1, at(10)), (at(0), "b", 1, at(20))]
        answer = client.deltas("clicks", click("a", 94.9), click("a", 95), click("a", 5), idempotency_key="k")
        assert answer.json() == {"epoch": 2, "changes": 1, "late": 2}
        again = client.deltas("clicks", click("a", 94.9), click("a", 95), click("a", 5), idempotency_key="k")
        assert again.json() == answer.json()
        told = client.get("/v1/tables/clicks").json()["watermark"]
        assert told == {
            "column": "at",
            "delay_seconds": 300.0,
            "at": at(95),
            "late": 2,
            "late_rows": [["a", at(94.9)], ["a", at(5)]],
        }
        assert "freshet_late_rows_total 2.0" in client.get("/metrics").text
        result = ask(client, f"INSERT INTO clicks VALUES ('c', '{at(1)}'), ('c', '{at(119)}')")
        assert (result["count"], result["notices"]) == (
            1,
            ["1 row came too late for the watermark of the table, and is left out"],
        )
        upsert = f"INSERT INTO clicks SELECT 'd', TIMESTAMP '{at(2)}' RETURNING page"
        assert ask(client, upsert)["rows"] == []
        assert len(client.rows("clicks")) == 5
        ask(
            client,
            f"BEGIN; INSERT INTO clicks VALUES ('e', '{at(300)}'), ('e', '{at(200)}'); "
            f"INSERT INTO clicks VALUES ('f', '{at(120)}'); COMMIT",
        )
        assert {row[:3] for row in client.rows("hours") if row[0] > at(0)} == {
            (at(60), "a", 2), (at(60), "c", 1), (at(120), "f", 1), (at(180), "e", 1)
        }  # fmt: skip
    with Client(settings) as client:
        assert client.deltas("clicks", click("g", 294)).json()["late"] == 1
        assert client.get("/v1/tables/clicks").json()["watermark"]["at"] == at(295)
        shown = ask(client, "SHOW CREATE TABLE clicks")["rows"][0][1]
        assert "WATERMARK FOR at AS at - INTERVAL '300 seconds'\n) APPEND ONLY" in shown
        ask(client, "ALTER TABLE clicks RENAME at TO seen; ALTER TABLE clicks ADD COLUMN more INTEGER")
        answer = client.deltas("clicks", {"insert": {"page": "g", "seen": at(294)}}).json()
        assert answer["late"] == 1
        ask(client, "CREATE SCHEMA s; ALTER TABLE clicks RENAME TO taps; ALTER TABLE taps DROP COLUMN more")
        answer = client.deltas("taps", {"insert": {"page": "g", "seen": at(294)}}).json()
        assert answer["late"] == 1
        assert len(client.rows("hours")) == 6


def test_large_statements_leave_them_out_too(settings: Settings) -> None:
    """They are computed on a branch beside the writer, and judged again before they are joined."""
    with Client(replace(settings, large_changes=500)) as client:
        ask(client, TABLES)
        minutes = "TIMESTAMP '2026-01-01' + n * INTERVAL '1 minute'"
        insert = "INSERT INTO clicks SELECT 'a', {} FROM generate_series({}, {}) AS g(n)"
        assert ask(client, insert.format(minutes, 0, 999))["count"] == 1000
        told = ask(client, insert.format(minutes, 500, 1999))
        assert told["count"] == 1500 - 494
        assert "494 rows came too late" in told["notices"][0]
        assert client.get("/v1/tables/clicks").json()["watermark"]["late"] == 494
        body = [click("b", m) for m in range(1500, 2500)]
        assert client.deltas("clicks", *body).json()["late"] == 494
        asked = ask(client, TABLES.split("hours AS ")[1])
        assert sorted(map(tuple, asked["rows"])) == sorted(client.rows("hours"))


def test_a_null_is_never_late(client: Client) -> None:
    ask(client, TABLES)
    client.insert("clicks", {"page": "x", "at": None})
    client.insert("clicks", {"page": "x", "at": at(60)})
    assert client.deltas("clicks", {"insert": {"page": "y", "at": None}}, click("y", 0)).json()["late"] == 1
    assert len(client.rows("clicks")) == 3


def test_the_doors_of_postgres_leave_them_out(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data")) as door, door.connect(autocommit=True) as own:
        ask(door, TABLES)
        own.execute("INSERT INTO clicks VALUES (%s, %s)", ("a", at(60)))
        assert own.execute("INSERT INTO clicks VALUES (%s, %s)", ("a", at(0))).rowcount == 0
        with own.cursor() as cursor:
            with cursor.copy("COPY clicks FROM STDIN") as copy:
                copy.write(f"a\t{at(1)}\nb\t{at(70)}\n")
            assert cursor.statusmessage == "COPY 1"
        assert sorted(door.rows("clicks")) == [("a", at(60)), ("b", at(70))]


VIEWS = {
    "hours": (
        "SELECT window_end, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1 hour') GROUP BY window_end "
        "EMIT ON WINDOW CLOSE",
        ("clicks",),
    ),
    "pairs": (
        "SELECT c.window_end, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1 hour') c "
        "JOIN TUMBLE(buys, at, INTERVAL '1 hour') b ON c.window_end = b.window_end AND c.page = b.page "
        "GROUP BY c.window_end EMIT ON WINDOW CLOSE",
        ("clicks", "buys"),
    ),
}
DELAYS = {"clicks": 5, "buys": 0}


def closed(name: str, tables: dict[str, list[tuple[str, int]]]) -> Counter:
    """The rows that a view has over tables, computed anew."""
    _, reads = VIEWS[name]
    if any(not tables[table] for table in reads):
        return Counter()
    mark = min(max(m for _, m in tables[table]) - DELAYS[table] for table in reads)
    first = Counter((m // 60 + 1, page) for page, m in tables["clicks"])
    found: Counter = Counter()
    if name == "hours":
        for (hour, _), n in first.items():
            found[hour] += n
    else:
        for key, n in Counter((m // 60 + 1, page) for page, m in tables["buys"]).items():
            found[key[0]] += n * first[key]
    return Counter({(at(60 * h), n): 1 for h, n in found.items() if n and 60 * h <= mark})


@each_seed(few(3))
def test_windows_come_out_once_at_every_epoch(settings: Settings, seed: int) -> None:
    """Against rows that Python accepts and counts; many requests at a time, and a view that is made later."""
    rng = random.Random(seed)
    with Client(settings) as client:
        ask(client, TABLES.split("CREATE VIEW")[0])
        client.view("hours", VIEWS["hours"][0])
        tables: dict[str, list[tuple[str, int]]] = {"clicks": [], "buys": []}
        states: dict[int, dict[str, Counter]] = {}
        now = {"clicks": 0, "buys": 0}
        for step in range(40):
            if step == 20:
                client.view("pairs", VIEWS["pairs"][0])
            name = rng.choice(list(tables))
            now[name] += rng.randrange(40)
            rows = [
                (rng.choice("ab"), max(0, now[name] - rng.randrange(20))) for _ in range(rng.randrange(1, 5))
            ]
            newest = max((m for _, m in tables[name]), default=None)
            kept = [row for row in rows if newest is None or row[1] >= newest - DELAYS[name]]
            answer = client.deltas(name, *(click(*row) for row in rows)).json()
            assert answer.get("late", 0) == len(rows) - len(kept)
            tables[name] += kept
            states[answer["epoch"]] = {view: closed(view, tables) for view in VIEWS}
            for view in VIEWS:
                if view == "hours" or step >= 20:
                    assert Counter(client.rows(view)) == states[answer["epoch"]][view], (view, step)
        for epoch, state in states.items():
            assert Counter(client.rows("hours", as_of=epoch)) == state["hours"]
        for view in VIEWS:
            asked = ask(client, VIEWS[view][0])["rows"]
            assert Counter(map(tuple, asked)) == Counter(client.rows(view)), "DuckDB gives the same ad hoc"


def test_requests_that_wait_together_are_judged_in_order(client: Client) -> None:
    ask(client, TABLES)
    client.insert("clicks", {"page": "a", "at": at(0)})
    rng = random.Random(1)
    minutes = [rng.randrange(200) for _ in range(60)]
    answers = client.together(
        *(client.http.post("/v1/tables/clicks/deltas", json=[click("a", m)]) for m in minutes)
    )
    told = sorted(
        ((a.json()["epoch"], m, a.json().get("late", 0)) for a, m in zip(answers, minutes, strict=True)),
    )
    kept = sorted(datetime.fromisoformat(row[1]) for row in client.rows("clicks"))
    assert len(kept) == 1 + sum(1 - late for _, _, late in told)
    newest = 0
    by_epoch: dict[int, list[tuple[int, int]]] = {}
    for epoch, m, late in told:
        by_epoch.setdefault(epoch, []).append((m, late))
    for of_epoch in by_epoch.values():
        for m, late in of_epoch:
            if len(of_epoch) == 1:
                assert late == (m < newest - 5)
        newest = max([newest, *(m for m, late in of_epoch if not late)])


def test_it_survives_a_kill(tmp_path: Path) -> None:
    def start() -> Process:
        process = Process(tmp_path / "data", {})
        process.wait_ready()
        return process

    process = start()
    process.http.post("/v1/sql", json={"sql": TABLES}).raise_for_status()
    for m in (10, 70, 130):
        process.http.post("/v1/tables/clicks/deltas", json=[click("a", m)]).raise_for_status()
    process.kill()
    process = start()
    try:
        late = process.http.post("/v1/tables/clicks/deltas", json=[click("a", 124)]).json()
        assert late["late"] == 1
        rows = process.http.get("/v1/views/hours/rows").json()["rows"]
        assert [(row["window_start"], row["n"]) for row in rows] == [(at(0), 1), (at(60), 1)]
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("CREATE TABLE w (a INT, at TIMESTAMP, WATERMARK FOR at AS at)", "not APPEND ONLY"),
        ("CREATE TABLE w (a INT, WATERMARK FOR a AS a) APPEND ONLY", "INTEGER, not TIMESTAMP"),
        ("CREATE TABLE w (a INT, WATERMARK FOR b AS b) APPEND ONLY", "which the table does not have"),
        (
            "CREATE TABLE w (at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1 month') APPEND ONLY",
            "this watermark is not supported",
        ),
        (
            "CREATE TABLE w (at TIMESTAMP, WATERMARK FOR at AS at - (SELECT INTERVAL '1 day')) APPEND ONLY",
            "this watermark is not supported",
        ),
        (
            "CREATE TABLE w (at TIMESTAMP, WATERMARK FOR at AS at + INTERVAL '1 day') APPEND ONLY",
            "this watermark is not supported",
        ),
        ("SELECT page FROM clicks EMIT ON WINDOW CLOSE", "without windows in FROM"),
        (
            "SELECT window_end FROM TUMBLE(plain, at, INTERVAL '1 hour') EMIT ON WINDOW CLOSE",
            "no watermark for at",
        ),
        (
            "SELECT page FROM clicks UNION SELECT page FROM TUMBLE(clicks, at, INTERVAL '1 hour') "
            "EMIT ON WINDOW CLOSE",
            "behind UNION",
        ),
        ("ALTER TABLE clicks DROP COLUMN at", "WATERMARK"),
    ],
)
def test_refusals(client: Client, sql: str, says: str) -> None:
    ask(client, TABLES.split("CREATE VIEW")[0] + "CREATE TABLE plain (at TIMESTAMP)")
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code in (409, 422), answer.text
    assert says in answer.json()["detail"], answer.text
