"""Changefeeds: NDJSON between epochs, and live events over a real connection."""

from __future__ import annotations

import threading
from collections.abc import Callable

import httpx
import orjson
import pytest

from tests.service.client import Client, Process, code


@pytest.fixture
def counts(client: Client) -> Client:
    client.table("t", {"a": "BIGINT"})
    client.view("counts", "SELECT a, count(*) AS n FROM t GROUP BY a")
    client.insert("t", {"a": 1})
    client.insert("t", {"a": 1}, {"a": 2})
    client.change("t", {"delete": {"a": 2}})
    return client


def changes(client: Client, path: str = "/v1/views/counts/changes", **params: object) -> list[tuple]:
    answer = client.get(path, **params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [orjson.loads(line) for line in answer.content.splitlines()]
    return [(change["epoch"], change["diff"], *change["row"].values()) for change in found]


def test_changes_between_epochs(counts: Client) -> None:
    first, second, third = [(1, 1, 1, 1)], [(2, -1, 1, 1), (2, 1, 1, 2), (2, 1, 2, 1)], [(3, -1, 2, 1)]
    everything = changes(counts)
    assert [sorted(c for c in everything if c[0] == e) for e in (1, 2, 3)] == [first, second, third]
    assert [c[0] for c in everything] == [1, 2, 2, 2, 3]
    assert changes(counts, since=1) == everything[1:]
    assert changes(counts, since=1, until=2) == everything[1:4]
    assert changes(counts, since=2, until=2) == []
    assert changes(counts, since=3) == []
    assert changes(counts, since=3, until=1) == []


def test_changes_of_a_table(counts: Client) -> None:
    found = changes(counts, "/v1/tables/t/changes", since=1)
    assert sorted(found) == [(2, 1, 1), (2, 1, 2), (3, -1, 2)]


def test_summed_up_they_are_the_rows(counts: Client) -> None:
    counts.insert("t", *({"a": i % 7} for i in range(50)))
    state: dict[tuple, int] = {}
    for _, diff, *row in changes(counts):
        state[tuple(row)] = state.get(tuple(row), 0) + diff
    assert sorted(row for row, count in state.items() if count) == counts.rows("counts")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"since": 4}, (422, "epoch_not_reached")),
        ({"since": 0, "until": 4}, (422, "epoch_not_reached")),
        ({"since": -1}, (422, "invalid_request")),
        ({"accept": "text/csv"}, (406, "not_acceptable")),
    ],
)
def test_bad_requests(counts: Client, params: dict, expected: tuple[int, str]) -> None:
    assert code(counts.get("/v1/views/counts/changes", **params)) == expected


class Events:
    """Reads server-sent events as id, name and data."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> tuple[str | None, str, object]:
        fields: dict[str, str] = {}
        for line in self._lines:
            if not line and fields:
                return fields.get("id"), fields["event"], orjson.loads(fields["data"])
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        raise StopIteration


def test_live_events(start: Callable[..., Process]) -> None:
    service = start()
    service.wait_ready()
    events = {"Accept": "text/event-stream"}
    with httpx.Client(base_url=service.url, timeout=60) as http:

        def insert(a: int) -> None:
            answer = http.post("/v1/tables/t/deltas", json=[{"insert": {"a": a}}])
            assert answer.status_code == 200, answer.text

        http.post("/v1/tables", json={"name": "t", "columns": [{"name": "a", "type": "BIGINT"}]})
        http.post("/v1/views", json={"name": "v", "sql": "SELECT a FROM t WHERE a > 0"})
        insert(1)
        with http.stream("GET", "/v1/views/v/changes?since=0", headers=events) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            stream = Events(response)
            assert next(stream) == ("1", "changes", [{"epoch": 1, "diff": 1, "row": {"a": 1}}])
            insert(-1)
            insert(3)
            assert next(stream) == ("3", "changes", [{"epoch": 3, "diff": 1, "row": {"a": 3}}])
        insert(4)
        insert(5)
        resumed = {**events, "Last-Event-ID": "3"}
        with http.stream("GET", "/v1/views/v/changes", headers=resumed) as response:
            stream = Events(response)
            assert [next(stream)[0] for _ in range(2)] == ["4", "5"]
            assert http.delete("/v1/views/v").status_code == 204
            _, name, problem = next(stream)
            assert (name, problem["code"]) == ("problem", "unknown_name")
            assert list(stream) == []
        bad = http.get("/v1/tables/t/changes", headers={**events, "Last-Event-ID": "x"})
        assert code(bad) == (400, "invalid_event_id")


def test_streams_end_when_the_service_does(start: Callable[..., Process]) -> None:
    service = start()
    service.wait_ready()
    httpx.post(
        f"{service.url}/v1/tables",
        timeout=60,
        json={"name": "t", "columns": [{"name": "a", "type": "BIGINT"}]},
    )
    connected, read = threading.Event(), []

    def follow() -> None:
        headers = {"Accept": "text/event-stream"}
        with httpx.stream("GET", f"{service.url}/v1/tables/t/changes", headers=headers, timeout=60) as r:
            connected.set()
            read.extend(r.iter_bytes())

    follower = threading.Thread(target=follow)
    follower.start()
    assert connected.wait(60)
    assert service.terminate() == 0
    follower.join(60)
    assert not follower.is_alive()
