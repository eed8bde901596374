"""`where` and `order_by` of reads run in the workers of queries, within limits, until the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from service.reading.duck import Answer
from service.reading.worker_process import WorkerProcess
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_query_workers import is_alive, is_working
from tests.service.waiting import wait_until

PATH = "/v1/tables/t/rows"
ROWS = 2_000
ENDLESS = "levenshtein(repeat(t, 1000), repeat('x' || a, 1000)) = 1"
"""Takes longer than any test."""
LARGE = "length(repeat(t || a, 30000 + a)) = 1"
"""Takes more memory than a query may use."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    limits = {"query_seconds": 2, "query_memory": 64 << 20, "query_workers": 1, "queries_waiting": 1}
    settings = Settings(data=tmp_path_factory.mktemp("rows"), **limits)  # type: ignore[arg-type]
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT", "t": "TEXT"}, key=["a"])
        client.insert("t", *({"a": a, "t": f"text {a}"} for a in range(ROWS)))
        client.get(PATH, where="a % 2 = 1")  # the worker has started
        yield client


def workers(client: Client) -> list[int]:
    return client.app.state.queries.rows.pool.pids


@pytest.mark.parametrize(
    "where",
    [
        "a::text = '7'",
        "round(a::float8 + 0.5) = 8 AND a < 8",
        "concat(t, a > 1) = 'text 7t'",
        "to_char(a, '999') = '   7'",
        "ARRAY[a, a]::text = '{7,7}'",
    ],
)
def test_a_predicate_is_in_words_of_postgresql(client: Client, where: str) -> None:
    assert client.rows("t", where=where) == [(7, "text 7")]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"where": ENDLESS}, (422, "query_timeout")),
        ({"order_by": ENDLESS.removesuffix(" = 1")}, (422, "query_timeout")),
        ({"where": LARGE, "accept": "text/csv"}, (422, "query_out_of_memory")),
        ({"order_by": f"a, {LARGE}"}, (422, "query_out_of_memory")),
    ],
)
def test_a_read_beyond_a_limit_is_refused(client: Client, params: dict, expected: tuple[int, str]) -> None:
    assert code(client.get(PATH, **params)) == expected
    assert client.rows("t", where="a % 1000 = 999", order_by="a DESC", limit=5) == [
        (1999, "text 1999"),
        (999, "text 999"),
    ]


def test_a_read_ends_when_its_client_leaves(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = WorkerProcess.ask

    def noted(worker: WorkerProcess, *arguments: Any) -> Answer:
        asked.append(worker.pid)
        return ask(worker, *arguments)

    monkeypatch.setattr(WorkerProcess, "ask", noted)

    async def left() -> None:
        leaving = asyncio.create_task(client.http.get(PATH, params={"where": ENDLESS}))
        while not asked:
            await asyncio.sleep(0.01)
        leaving.cancel()

    client.run(left())
    wait_until(lambda: not is_alive(asked[0]))
    assert client.rows("t", where="a % 2000 = 1") == [(1, "text 1")]


def test_reads_wait_for_their_turn_and_keys_do_not(client: Client) -> None:
    def slow() -> asyncio.Future:
        return client.http.get(PATH, params={"where": ENDLESS})

    async def together() -> list:
        running = [asyncio.create_task(slow()) for _ in range(2)]
        while client.app.state.queries.waiting < 1:
            await asyncio.sleep(0.01)
        third = await slow()
        found = await client.http.get(PATH, params={"where": "a IN (3, 4)"})
        page = await client.http.get(PATH, params={"limit": 2})
        assert not any(task.done() for task in running)
        for task in running:
            task.cancel()
        return [third, found, page]

    third, found, page = client.run(together())
    assert code(third) == (429, "overloaded")
    assert [row["a"] for row in found.json()["rows"]] == [3, 4]
    assert [row["a"] for row in page.json()["rows"]] == [0, 1]


def test_the_next_pages_need_no_worker(client: Client) -> None:
    wait_until(lambda: bool(client.get(PATH, order_by="t DESC", limit=3).json().get("next")))
    cursor = client.get(PATH, order_by="t DESC", limit=3).json()["next"]

    async def while_busy() -> list:
        running = asyncio.create_task(client.http.get(PATH, params={"where": ENDLESS}))
        while not any(map(is_working, workers(client))):
            await asyncio.sleep(0.01)
        page = await client.http.get(PATH, params={"cursor": cursor, "limit": 2})
        assert not running.done()
        running.cancel()
        return page.json()["rows"]

    expected = sorted((f"text {a}" for a in range(ROWS)), reverse=True)[3:5]
    assert [row["t"] for row in client.run(while_busy())] == expected
