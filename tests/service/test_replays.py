"""/v1/views/{view}/replay: its steps add up to what the view's own changes say, and it leaves no trace."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from engine.operators.allowance import Allowance
from engine.runtime import replay as engine_replay
from service.reading.callers import Caller
from service.reading.query_errors import CallerGone
from service.running import view_replays
from service.running.view_replays import replay_view
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

VIEWS = {
    "filtered": "SELECT a, b + 1 AS c FROM e WHERE a > 2",
    "joined": "SELECT x.a, y.b FROM e x JOIN e y ON x.b = y.a JOIN f ON f.k = x.a",
    "grouped": "SELECT k, count(*) AS n, sum(v) AS s, min(v) AS least FROM f GROUP BY k HAVING count(*) > 1",
    "reach": "WITH RECURSIVE r(a, b) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a)"
    " SELECT * FROM r",
    "ranked": "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS place FROM f",
    "top": "SELECT * FROM f ORDER BY v DESC LIMIT 3",
    "absent": "SELECT a FROM e WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.k = e.b)",
    "outer_join": "SELECT e.a, f.v FROM e LEFT JOIN f ON e.b = f.k",
    "averages": "SELECT k, avg(v::double precision) AS mean FROM f GROUP BY k",
    "failing": "SELECT 10 / (v - 3) AS x FROM f",
    "of_view": "SELECT a, count(*) AS n FROM reach GROUP BY a",
    "timed": "SELECT k FROM f WHERE to_timestamp(v) <= now()",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with two tables, views of every kind, and 25 epochs of changes."""
    rng = random.Random(3)
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        client.table("e", {"a": "BIGINT", "b": "BIGINT"})
        client.table("f", {"id": "BIGINT", "k": "BIGINT", "v": "BIGINT"}, ["id"])
        for name, sql in VIEWS.items():
            client.view(name, sql)
        edges: set[tuple[int, int]] = set()
        for _ in range(25):
            edge = (rng.randrange(8), rng.randrange(8))
            way = "delete" if edge in edges else "insert"
            edges ^= {edge}
            client.change("e", {way: {"a": edge[0], "b": edge[1]}})
            row = {"id": rng.randrange(12), "k": rng.randrange(4), "v": rng.randrange(9)}
            client.change("f", {"upsert": row})
        yield client


def replayed(client: Client, view: str, **params: object) -> dict:
    answer = client.get(f"/v1/views/{view}/replay", **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def changes_at(client: Client, kind: str, name: str, epoch: int) -> Counter[str]:
    found: Counter[str] = Counter()
    params = {"since": epoch - 1, "until": epoch, "format": "ndjson", "errors": "skip"}
    if kind == "tables":
        del params["errors"]
    for line in client.get(f"/v1/{kind}/{name}/changes", **params).text.splitlines():
        change = json.loads(line)
        found[json.dumps(change["row"], sort_keys=True)] += change["diff"]
    return Counter({row: count for row, count in found.items() if count})


def shown(steps: list[dict]) -> Counter[str]:
    found: Counter[str] = Counter()
    for step in steps:
        for passed in step["rows"]:
            found[json.dumps(passed["row"], sort_keys=True)] += passed["diff"]
    return Counter({row: count for row, count in found.items() if count})


@pytest.mark.parametrize("view", VIEWS)
def test_a_replay_ends_in_the_changes_of_the_view(filled: Client, view: str) -> None:
    newest = filled.runtime.readable.newest
    moved = 0
    changed = filled.get("/v1/epochs", relation=view, limit=8, until=newest - 2).json()["epochs"]
    for epoch in {*(it["epoch"] for it in changed), newest - 1, newest}:
        found = replayed(filled, view, as_of=epoch, rows=100)
        names = {node["id"]: node["operator"] for node in found["plan"]["nodes"]}
        last = [step for step in found["steps"] if step["operator"] == found["plan"]["result"]]
        expected = changes_at(filled, "views", view, epoch)
        assert shown(last) == expected, (view, epoch)
        moved += bool(expected)
        for table in ("e", "f"):
            first = [s for s in found["steps"] if names[s["operator"]].startswith(f"source {table} ")]
            if first:
                assert shown(first) == changes_at(filled, "tables", table, epoch)
        assert all(step["taken"] or step["passed"] for step in found["steps"])
        assert not found["cut"] and found["committed_at"]
    assert moved


@pytest.mark.parametrize("view", VIEWS)
def test_operators_are_those_of_explain(filled: Client, view: str) -> None:
    explained = filled.get(f"/v1/views/{view}/plan", stage="analyze", format="json").json()
    plan = replayed(filled, view)["plan"]
    for node in (*explained["nodes"], *plan["nodes"]):
        del node["figures"]
        node["details"] = [detail for detail in node["details"] if not detail.startswith("shared")]
    assert plan == explained


def test_what_is_passed_on_is_what_the_next_takes(filled: Client) -> None:
    """Within a round, an operator takes all that its inputs pass on."""
    found = replayed(filled, "reach", rows=0)
    inputs = {node["id"]: node["inputs"] for node in found["plan"]["nodes"]}
    depth = {node["id"]: node["depth"] for node in found["plan"]["nodes"]}
    passed = {(step["operator"], tuple(step["rounds"])): step["passed"] for step in found["steps"]}
    checked = 0
    for step in found["steps"]:
        own, rounds = step["operator"], tuple(step["rounds"])
        if any(depth[other] != depth[own] for other in inputs[own]):
            continue
        assert step["taken"] == sum(passed.get((other, rounds), 0) for other in inputs[own])
        checked += 1
    assert checked > 3
    rounds = [step["rounds"] for step in found["steps"] if depth[step["operator"]] == 1]
    assert rounds == sorted(rounds)


def test_a_replay_leaves_no_trace(filled: Client) -> None:
    def state() -> tuple:
        plans = [filled.get(f"/v1/views/{v}/plan", stage="analyze", format="json").json() for v in VIEWS]
        return plans, filled.get("/v1/status").json()["held"]["differences"]

    before = state()
    for view in VIEWS:
        replayed(filled, view)
    assert state() == before


def test_epochs_that_cannot_be_replayed_are_refused(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    assert code(client.get("/v1/views/v/replay")) == (410, "history_gone")
    for number in range(5):
        client.insert("t", {"a": number})
    assert replayed(client, "v")["epoch"] == 5
    assert code(client.get("/v1/views/v/replay", as_of=6)) == (422, "epoch_not_reached")
    client.runtime._state.engine.forget("t", 3)
    client.insert("t", {"a": 5})
    assert code(client.get("/v1/views/v/replay", as_of=3)) == (410, "history_gone")
    assert replayed(client, "v", as_of=4)["steps"]
    assert code(client.get("/v1/views/nothing/replay")) == (404, "unknown_name")
    assert code(client.get("/v1/views/v/replay", as_of=0)) == (410, "history_gone")
    assert code(client.get("/v1/views/v/replay", as_of="yesterday")) == (400, "invalid_as_of")
    time = client.get("/v1/epochs", limit=1).json()["epochs"][0]["committed_at"]
    assert replayed(client, "v", as_of=time)["epoch"] == 6


def test_a_view_that_is_too_large_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT x.a, y.a AS b, z.a AS c FROM t x, t y, t z")
    client.insert("t", *({"a": n} for n in range(60)))
    client.insert("t", {"a": 99})
    monkeypatch.setattr(view_replays, "ALLOWANCE", Allowance(rows=10_000))
    answer = client.get("/v1/views/v/replay")
    assert code(answer) == (422, "replay_too_large")
    monkeypatch.setattr(view_replays, "ALLOWANCE", Allowance())
    monkeypatch.setattr(view_replays, "ReplayLimits", lambda shown: engine_replay.ReplayLimits(rows=10))
    assert "at most 10" in client.get("/v1/views/v/replay").json()["detail"]
    monkeypatch.setattr(view_replays, "ReplayLimits", lambda shown: engine_replay.ReplayLimits(steps=2))
    found = replayed(client, "v")
    assert found["cut"] and len(found["steps"]) == 2


def test_a_replay_ends_when_its_client_leaves(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    client.insert("t", {"a": 1})
    caller = Caller()
    caller.leave()
    with pytest.raises(CallerGone):
        replay_view(client.runtime, client.runtime.definition("v"), 1, 5, caller)


def test_rows_of_tables_need_a_right(settings: Settings) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT", "secret": "TEXT"})
        client.view("v", "SELECT count(*) AS n FROM t WHERE secret <> ''")
        client.insert("t", {"a": 1, "secret": "hush"})
        admin = make_key(client, "boss", "admin")["key"]
        for relations, may in ((["v"], False), (["v", "t"], True), (["t"], None)):
            key = make_key(client, f"k{may}", "read", relations, by=admin)["key"]
            answer = client.run(client.http.get("/v1/views/v/replay", headers=bearer(key)))
            if may is None:
                assert code(answer) == (403, "forbidden")
                continue
            assert answer.status_code == 200
            assert ("hush" in answer.text) == may
            assert any(step["rows"] for step in answer.json()["steps"]) == may
