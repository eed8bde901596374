"""SQL over HTTP cannot hurt: slow queries keep nobody waiting, and end when their clients leave."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import httpx
import orjson
import pytest

from service.reading import queries
from service.reading.worker_pool import WorkerPool
from service.settings.settings import Settings
from tests.service.client import Client, Process, code
from tests.service.test_query_workers import ENDLESS, is_alive, is_working
from tests.service.waiting import wait_until

SLOW = 45


@pytest.fixture(autouse=True)
def own_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers begin and end with a service, as they do for users."""
    monkeypatch.setattr(queries, "WorkerPool", WorkerPool)


class Crowd(Client):
    """A client that has many requests open at once."""

    def begin(self, sql: str) -> Future[httpx.Response]:
        """A script that runs while the caller goes on."""
        return asyncio.run_coroutine_threadsafe(self.http.post("/v1/sql", json={"sql": sql}), self._loop)

    def call(self, sql: str, left: asyncio.Event) -> Future[int]:
        """The status of a script whose client leaves once `left` is set."""
        return asyncio.run_coroutine_threadsafe(self._called(sql, left), self._loop)

    async def _called(self, sql: str, left: asyncio.Event) -> int:
        body = orjson.dumps({"sql": sql})
        messages = [{"type": "http.request", "body": body}]
        statuses: list[int] = []

        async def receive() -> dict[str, object]:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers.append((b"content-length", str(len(body)).encode()))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/sql",
            "raw_path": b"/v1/sql",
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        await self.app(scope, receive, send)
        return statuses[0]

    def leave(self, left: asyncio.Event) -> None:
        self._loop.call_soon_threadsafe(left.set)

    @property
    def queries(self):
        return self.app.state.queries

    def wait_for_work(self) -> None:
        """Waits until a worker computes."""
        wait_until(lambda: any(map(is_working, self.queries.pids)))

    def wait_for_rest(self) -> None:
        """Waits until all workers wait."""
        wait_until(lambda: not any(map(is_working, self.queries.pids)))

    def one(self) -> list[list]:
        answer = self.post("/v1/sql", {"sql": "SELECT 1"})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][0]["rows"]


@pytest.fixture
def crowd(settings: Settings) -> Iterator[Crowd]:
    with Crowd(replace(settings, query_workers=2, queries_waiting=SLOW)) as crowd:
        crowd.table("t", {"a": "BIGINT"})
        crowd.insert("t", {"a": 1}, {"a": 2})
        crowd.view("v", "SELECT sum(a) AS s FROM t")
        yield crowd


def test_slow_queries_keep_nobody_else_waiting(crowd: Crowd) -> None:
    slow = [crowd.begin(ENDLESS) for _ in range(SLOW)]
    wait_until(lambda: crowd.queries.waiting == SLOW - 2)
    crowd.wait_for_work()
    assert crowd.get("/healthz").status_code == 200
    assert crowd.get("/v1/status").json()["tables"] == 1
    assert "freshet_epoch" in crowd.get("/metrics").text
    assert crowd.rows("t") == [(1,), (2,)]
    assert crowd.rows("v") == [(3,)]
    assert crowd.rows("t", where="a > 1") == [(2,)]
    assert crowd.get("/v1/tables/t/changes").status_code == 200
    assert crowd.insert("t", {"a": 3}) == 2
    changed = crowd.post("/v1/sql", {"sql": "UPDATE t SET a = a + 1; SHOW TABLES; EXPLAIN SELECT a FROM t"})
    assert [result["statement"] for result in changed.json()["results"]] == [
        "UPDATE",
        "SHOW TABLES",
        "EXPLAIN",
    ]
    assert crowd.rows("v") == [(9,)]
    assert not any(future.done() for future in slow)
    assert crowd.queries.waiting == SLOW - 2


def test_too_many_waiting_queries_are_refused(settings: Settings) -> None:
    with Crowd(replace(settings, query_workers=1, queries_waiting=2)) as crowd:
        slow = [crowd.begin(ENDLESS) for _ in range(3)]
        wait_until(lambda: crowd.queries.waiting == 2)
        answer = crowd.post("/v1/sql", {"sql": "SELECT 1"})
        assert code(answer) == (429, "overloaded")
        assert answer.headers["retry-after"] == "1"
        assert not any(future.done() for future in slow)
    assert {answer.result(240).status_code for answer in slow} == {503}


@pytest.mark.parametrize(
    ("variable", "value", "sql", "expected"),
    [
        ("query_seconds", 1, ENDLESS, "query_timeout"),
        ("query_memory", 20 << 20, "SELECT list(n) FROM range(20000000) AS t (n)", "query_out_of_memory"),
        ("query_answer_rows", 10, "SELECT n FROM range(11) AS t (n)", "query_too_many_rows"),
        ("query_answer_bytes", 1000, "SELECT repeat('x', 1001) AS x", "query_too_large"),
    ],
)
def test_each_limit_is_a_setting(
    settings: Settings, variable: str, value: int, sql: str, expected: str
) -> None:
    with Crowd(replace(settings, **{variable: value})) as crowd:
        assert code(crowd.post("/v1/sql", {"sql": sql})) == (422, expected)
        assert crowd.one() == [[1]]


@pytest.mark.parametrize("size", [1, 2])
def test_a_client_that_leaves_ends_its_query(settings: Settings, size: int) -> None:
    with Crowd(replace(settings, query_workers=size)) as crowd:
        left = asyncio.Event()
        running = [crowd.call(ENDLESS, left) for _ in range(size)]
        waiting = [crowd.call(ENDLESS, left) for _ in range(3)]
        wait_until(lambda: crowd.queries.waiting == 3)
        crowd.wait_for_work()
        crowd.leave(left)
        assert [future.result(240) for future in running + waiting] == [499] * (size + 3)
        assert crowd.queries.waiting == 0
        assert crowd.one() == [[1]]
        crowd.wait_for_rest()


def test_a_client_that_leaves_during_a_change_changes_nothing(crowd: Crowd) -> None:
    left = asyncio.Event()
    block = f"BEGIN; INSERT INTO t VALUES (7); INSERT INTO t {ENDLESS}; COMMIT"
    change, other = crowd.call(block, left), crowd.call("INSERT INTO t SELECT a + 10 FROM t", left)
    crowd.wait_for_work()
    crowd.leave(left)
    assert (change.result(240), other.result(240)) == (499, 499)
    assert crowd.rows("t") == [(1,), (2,)]
    assert crowd.insert("t", {"a": 3}) == 2  # the next epoch: none was made


def test_a_script_stops_where_its_client_leaves(crowd: Crowd) -> None:
    left = asyncio.Event()
    script = crowd.call(f"INSERT INTO t VALUES (7); {ENDLESS}; INSERT INTO t VALUES (8)", left)
    crowd.wait_for_work()
    crowd.leave(left)
    assert script.result(240) == 499
    assert crowd.rows("t") == [(1,), (2,), (7,)]


def test_a_request_that_is_cancelled_ends_its_query(crowd: Crowd) -> None:
    future = crowd.begin(ENDLESS)
    crowd.wait_for_work()
    future.cancel()
    crowd.wait_for_rest()
    assert crowd.one() == [[1]]


def test_a_killed_worker_is_a_problem_of_its_query(crowd: Crowd) -> None:
    future = crowd.begin(f"INSERT INTO t VALUES (7); {ENDLESS}")
    crowd.wait_for_work()
    for pid in crowd.queries.pids:
        os.kill(pid, signal.SIGKILL)
    answer = future.result(240)
    assert code(answer) == (503, "query_interrupted")
    assert answer.json()["index"] == 1
    assert crowd.one() == [[1]]


def test_the_end_of_the_service_ends_its_workers(settings: Settings) -> None:
    with Crowd(settings) as crowd:
        futures = [crowd.begin(ENDLESS), crowd.begin(f"CREATE TABLE made AS {ENDLESS}")]
        crowd.wait_for_work()
        pids = crowd.queries.pids
        assert list(settings.spill.iterdir()) != []
    assert {future.result(240).status_code for future in futures} == {503}
    assert not any(map(is_alive, pids))
    assert not settings.spill.exists()


def children(pid: int) -> set[int]:
    """The processes below a process."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found |= {int(child), *children(int(child))}
    return found


def test_a_service_that_is_killed_leaves_no_worker(start: Callable[..., Process]) -> None:
    process = start()
    process.wait_ready()
    body = orjson.dumps({"sql": ENDLESS})
    with socket.create_connection(("127.0.0.1", process.port)) as client:
        head = f"POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        client.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        wait_until(lambda: any(map(is_working, children(process.pid))))
        below = children(process.pid)
        process.kill()
    wait_until(lambda: not any(map(is_alive, below)))


def test_a_connection_that_closes_ends_its_query(start: Callable[..., Process]) -> None:
    process = start(FRESHET_QUERY_WORKERS="1", FRESHET_QUERY_SECONDS="3600")
    process.wait_ready()
    body = orjson.dumps({"sql": ENDLESS})
    with socket.create_connection(("127.0.0.1", process.port)) as client:
        head = f"POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        client.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        wait_until(lambda: any(map(is_working, children(process.pid))))
    # The only worker is busy for an hour, unless its client's end has ended its query.
    answer = process.http.post("/v1/sql", json={"sql": "SELECT 1"})
    assert answer.status_code == 200, answer.text
    process.terminate()
