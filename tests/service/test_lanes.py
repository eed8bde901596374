"""No client's work uses the event loop's default threads, which all kinds of work would share."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx
import orjson
import pytest

from service.reading.lanes import Lanes
from tests.service.client import Client

_MANY = [{"insert": {"a": a}} for a in range(1, 4_000)]
_SENT = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
_MISSING = "00000000-0000-0000-0000-000000000000"


class Refusing(ThreadPoolExecutor):
    def submit(self, *call, **options):  # type: ignore[no-untyped-def, override]
        raise AssertionError(f"the default threads are asked for {call}")


REQUESTS: dict[str, Callable[[Client], httpx.Response]] = {
    "a body": lambda client: client.post("/v1/tables/t/deltas", _MANY),
    "a judged body": lambda client: client.post("/v1/tables/judged/deltas", [{"insert": {"a": 1}}]),
    "a compressed body": lambda client: client.post(
        "/v1/tables/t/deltas", content=gzip.compress(orjson.dumps(_MANY)), headers=_SENT
    ),
    "a compressed script": lambda client: client.post(
        "/v1/sql", content=gzip.compress(b'{"sql": "SELECT 1"}'), headers=_SENT
    ),
    "a time": lambda client: client.get("/v1/views/v/rows", as_of=datetime.now(UTC).isoformat()),
    "a predicate": lambda client: client.get("/v1/views/v/rows", where="a % 2 = 0"),
    "changes": lambda client: client.get("/v1/views/v/changes"),
    "a plan": lambda client: client.get("/v1/views/v/plan", stage="analyze"),
    "loads": lambda client: client.get("/v1/loads"),
    "a load": lambda client: client.get(f"/v1/loads/{_MISSING}"),
    "exports": lambda client: client.get("/v1/exports"),
    "an export": lambda client: client.get(f"/v1/exports/{_MISSING}"),
    "a source": lambda client: client.delete("/v1/sources/nothing"),
    "a sink": lambda client: client.delete("/v1/sinks/nothing"),
    "status": lambda client: client.get("/v1/status"),
    "metrics": lambda client: client.get("/metrics"),
    "a view": lambda client: client.post("/v1/views", {"name": "w", "sql": "SELECT a FROM t"}),
    "an update": lambda client: client.post("/v1/sql", {"sql": "UPDATE t SET a = a + 1 WHERE a < 0"}),
}


@pytest.fixture
def busy(client: Client) -> Client:
    """A service whose default threads refuse all work."""
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t WHERE a > 0")
    sql = "CREATE TABLE judged (a BIGINT CHECK (a > 0))"
    assert client.post("/v1/sql", {"sql": sql}).status_code == 200
    return client


def test_no_request_uses_the_default_threads(busy: Client) -> None:
    loop, threads = busy._loop, ThreadPoolExecutor(1)
    loop.call_soon_threadsafe(loop.set_default_executor, Refusing())
    for name, ask in REQUESTS.items():
        answer = ask(busy)
        assert answer.status_code in (200, 201, 404), (name, answer.text)
    loop.call_soon_threadsafe(loop.set_default_executor, threads)


def test_all_lanes_close() -> None:
    lanes = Lanes()
    lanes.close()
    assert all(lane._executor._shutdown for lane in vars(lanes).values())
