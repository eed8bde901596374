"""Jobs: their order, cancellation, kill -9, and the limit of their number."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from engine.spark.sessions import Sessions
from service.settings.settings import Settings
from tests.service.client import Client, Process, code
from tests.service.jobs import begin, done, ended, failed

SLOW = 150_000
"""Lines of JSON that keep Spark busy for some seconds."""


@pytest.fixture
def slow(data: Path) -> Path:
    """Data that takes a while to load: duplicate keys to find, and values to parse."""
    path = data / "slow.json"
    pad = "x" * 200
    path.write_text(
        "".join(f'{{"id": {i}, "name": "{pad}{i}", "more": [1, {{"a": {i}}}]}}\n' for i in range(SLOW))
    )
    return path


def table(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT", "more": "TEXT"}, key=["id"])


def until(client: Client, path: str, reached: Callable[[dict], bool]) -> None:
    """Waits until the job at the path, which must not have ended, satisfies `reached`."""
    end = time.monotonic() + 300
    while not reached(job := client.get(path).json()):
        assert job["state"] == "running"
        assert time.monotonic() < end
        time.sleep(0.01)


def scratch(data: Path) -> list[Path]:
    """Files that jobs have left in their scratch directories."""
    directory = data / "state" / "scratch"
    return list(directory.iterdir()) if directory.exists() else []


def test_two_loads_at_once(bulk: Client, data: Path) -> None:
    (data / "a.csv").write_text("id\n1\n")
    (data / "b.csv").write_text("id\n2\n")
    bulk.table("t", {"id": "BIGINT"})
    first = begin(bulk, "loads", table="t", format="csv", path="a.csv")
    second = begin(bulk, "loads", table="t", format="csv", path="b.csv")
    assert [ended(bulk, path)["epoch"] for path in (first, second)] == [1, 2]
    assert bulk.rows("t", as_of=1) == [(1,)]
    assert bulk.get("/v1/status").json()["loads"]["done"] == 2
    metrics = bulk.get("/metrics").text.splitlines()
    assert 'freshet_jobs{kind="load",state="done"} 2.0' in metrics
    assert "freshet_loaded_rows_total 2.0" in metrics
    loads = bulk.get("/v1/loads").json()["loads"]
    assert [load["id"] for load in loads] == [second[-16:], first[-16:]]
    assert loads[1]["ended"] <= loads[0]["started"]


@pytest.mark.parametrize("where", ["never", "always"])
def test_a_load_is_cancelled(
    settings: Settings, sessions: Sessions, data: Path, slow: Path, where: str
) -> None:
    with Client(replace(settings, spark=where), sessions) as client:
        table(client)
        running = begin(client, "loads", table="t", format="json", path="slow.json")
        waiting = begin(client, "loads", table="t", format="json", path="slow.json")
        until(client, running, lambda job: job["progress"] > 0.2)
        for path in (waiting, running):
            assert client.delete(path).status_code == 202
        for path in (running, waiting):
            job = ended(client, path)
            assert (job["state"], job["epoch"], job["error"]) == ("cancelled", None, None)
        assert client.rows("t") == []
        assert client.get("/v1/status").json()["epoch"] == 0
        assert scratch(data) == []
        assert client.delete(running).json()["state"] == "cancelled"
        (data / "a.csv").write_text("id\n1\n")
        done(client, "loads", table="t", format="csv", path="a.csv")


def test_a_service_that_is_killed_fails_its_jobs(start: Callable[..., Process], slow: Path) -> None:
    (slow.parent / "a.csv").write_text("id\n1\n")
    environment = {"FRESHET_SPARK_MASTER": "local[2,4]", "FRESHET_SPARK_MEMORY": "1g"}
    service: Process = start(**environment)
    service.wait_ready()
    with httpx.Client(base_url=service.url, timeout=240) as http:
        columns = [{"name": name, "type": "TEXT"} for name in ("id", "name", "more")]
        assert http.post("/v1/tables", json={"name": "t", "columns": columns}).status_code == 201

        def load(path: str, format: str) -> str:
            answer = http.post("/v1/loads", json={"table": "t", "format": format, "path": path})
            assert answer.status_code == 202, answer.text
            return f"/v1/loads/{answer.json()['id']}"

        def wait(path: str, member: str) -> dict:
            end = time.monotonic() + 300
            while (job := http.get(path).json())[member] is None:
                assert time.monotonic() < end
                time.sleep(0.02)
            return job

        first = load("a.csv", "csv")
        assert wait(first, "ended")["state"] == "done"
        running, waiting = load("slow.json", "json"), load("a.csv", "csv")
        wait(running, "started")
        time.sleep(0.5)
        service.kill()
    service = start(**environment)
    service.wait_ready()
    with httpx.Client(base_url=service.url, timeout=240) as http:
        assert http.get(first).json()["state"] == "done"
        for path in (running, waiting):
            job = http.get(path).json()
            assert (job["state"], job["error"]["code"]) == ("failed", "interrupted")
        assert http.get("/v1/tables/t/rows").json()["rows"] == [{"id": "1", "name": None, "more": None}]
        assert scratch(slow.parent) == []
    assert service.terminate() == 0


def test_so_many_jobs_are_kept(settings: Settings, sessions: Sessions, data: Path) -> None:
    (data / "a.csv").write_text("id\n1\n")
    with Client(replace(settings, jobs_kept=2, local_load_bytes=0), sessions) as client:
        client.table("t", {"id": "BIGINT"})
        request = {"table": "t", "format": "csv", "path": "a.csv"}
        paths = [begin(client, "loads", **request)]
        ended(client, paths[0])
        paths += [begin(client, "loads", **request) for _ in range(2)]
        assert code(client.post("/v1/loads", request)) == (429, "overloaded")
        assert code(client.get(paths[0])) == (404, "unknown_job")
        assert [ended(client, path)["state"] for path in paths[1:]] == ["done", "done"]
    with Client(settings, sessions) as client:
        assert [client.get(path).json()["state"] for path in paths[1:]] == ["done", "done"]
        assert len(client.rows("t")) == 3


def test_a_table_that_is_dropped_meanwhile(bulk: Client, slow: Path) -> None:
    table(bulk)
    path = begin(bulk, "loads", table="t", format="json", path="slow.json")
    until(bulk, path, lambda job: job["started"] is not None)
    assert bulk.delete("/v1/tables/t").status_code == 204
    table(bulk)
    assert ended(bulk, path)["error"]["code"] == "table_changed"
    assert bulk.rows("t") == []


def test_a_load_that_spark_computes(settings: Settings, sessions: Sessions, data: Path) -> None:
    (data / "a.csv").write_text("id,name\n" + "".join(f"{i},n{i % 7}\n" for i in range(1000)) + "x,bad\n")
    (data / "again.csv").write_text("id,name\n5,n\n")
    with Client(replace(settings, spark_rows=1000), sessions) as client:
        client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
        client.view("v", "SELECT name, count(*) AS n FROM t GROUP BY name")
        request = {"table": "t", "format": "csv"}
        assert failed(client, "loads", **request, path="a.csv")["code"] == "bad_rows"
        job = done(client, "loads", **request, path="a.csv", bad_rows="skip")
        assert (job["rows"], job["skipped"], job["epoch"]) == (1000, 1, 1)
        assert client.runtime.placement.tally.spark
        assert sorted(client.rows("v")) == [(f"n{i}", 143 if i < 6 else 142) for i in range(7)]
        problem = failed(client, "loads", **request, path="again.csv")
        assert (problem["status"], problem["code"]) == (409, "key_exists")
        client.insert("t", {"id": -1, "name": "n6"})
        assert ("n6", 143) in client.rows("v")
    with Client(settings, sessions) as client:
        assert len(client.rows("t", limit=2000)) == 1000 + 1
        assert client.get("/v1/loads").json()["loads"][1]["state"] == "done"
