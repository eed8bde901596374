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
    with httpx.Client(base_url=service.url, timeout=240) as http:

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
    service.http.post(
        "/v1/tables",
        timeout=240,
        json={"name": "t", "columns": [{"name": "a", "type": "BIGINT"}]},
    )
    connected, read = threading.Event(), []

    def follow() -> None:
        headers = {"Accept": "text/event-stream"}
        with httpx.stream("GET", f"{service.url}/v1/tables/t/changes", headers=headers, timeout=240) as r:
            connected.set()
            read.extend(r.iter_bytes())

    follower = threading.Thread(target=follow)
    follower.start()
    assert connected.wait(240)
    assert service.terminate() == 0
    follower.join(600)
    assert not follower.is_alive()


FORMATS = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("path", ["/v1/tables/t/rows", "/v1/views/counts/rows"])
def test_a_format_by_name_is_that_of_its_media_type(counts: Client, path: str, format: str) -> None:
    """`format` counts, whatever Accept says."""
    by_name = counts.get(path, format=format, accept="text/html")
    by_type = counts.get(path, accept=FORMATS[format])
    assert by_name.status_code == 200
    assert (by_name.content, by_name.headers["content-type"]) == (
        by_type.content,
        by_type.headers["content-type"],
    )
    assert by_name.headers["content-type"].startswith(FORMATS[format])


@pytest.mark.parametrize("path", ["/v1/tables/t/rows", "/v1/tables/t/changes", "/v1/views/counts/changes"])
def test_a_format_that_is_not_offered(counts: Client, path: str) -> None:
    answer = counts.get(path, format="xml")
    assert code(answer) == (422, "invalid_request")
    assert "query.format" in answer.json()["detail"] and "'ndjson'" in answer.json()["detail"]


def pages(client: Client, path: str, limit: int, **params: object) -> list[tuple]:
    """All changes, read in pages of JSON; checks each page."""
    found: list[tuple] = []
    answer = client.get(path, format="json", limit=limit, **params).json()
    while True:
        assert len(answer["changes"]) == limit or answer["next"] is None
        found += [(c["epoch"], c["diff"], *c["row"].values()) for c in answer["changes"]]
        if answer["next"] is None:
            return found
        client.insert("t", {"a": -1})  # later changes are not in the later pages
        answer = client.get(path, accept="application/json", limit=limit, cursor=answer["next"]).json()


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_pages_of_changes_together_are_all_changes(counts: Client, limit: int) -> None:
    """Pages may end within an epoch, and epochs may have no changes."""
    path = "/v1/views/counts/changes"
    counts.insert("t", *({"a": i % 7} for i in range(20)))
    counts.insert("t")
    counts.insert("t", {"a": 3})
    for since in range(6):
        expected = changes(counts, path, since=since, until=6)
        assert pages(counts, path, limit, since=since, until=6) == expected
        assert changes(counts, path, since=since, until=6, limit=limit) == expected[:limit]


def test_a_page_of_changes_says_how_far_it_leads(counts: Client) -> None:
    answer = counts.get("/v1/tables/t/changes", format="json", since=1)
    expected = [{"epoch": e, "diff": d, "row": {"a": a}} for e, d, a in [(2, 1, 1), (2, 1, 2), (3, -1, 2)]]
    assert answer.json() == {"table": "t", "epoch": 3, "changes": expected, "next": None}
    assert answer.headers["freshet-epoch"] == "3"
    newer = counts.get("/v1/tables/t/changes", format="json", since=answer.json()["epoch"]).json()
    assert newer["changes"] == []


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"cursor": "x"}, (400, "invalid_cursor")),
        ({"cursor": "bnVsbA"}, (400, "invalid_cursor")),
        ({"cursor": "e30"}, (400, "invalid_cursor")),
        ({"limit": 0}, (422, "invalid_request")),
        ({"limit": 10**9}, (422, "limit_too_large")),
        ({"format": "sse", "limit": 1}, (422, "invalid_request")),
        ({"format": "sse", "until": 1}, (422, "invalid_request")),
        ({"format": "sse", "cursor": "x"}, (422, "invalid_request")),
    ],
)
def test_bad_pages_of_changes(counts: Client, params: dict, expected: tuple[int, str]) -> None:
    assert code(counts.get("/v1/views/counts/changes", **({"format": "json"} | params))) == expected


def test_a_cursor_of_other_changes(counts: Client) -> None:
    cursor = counts.get("/v1/tables/t/changes", format="json", limit=1).json()["next"]
    for path, params in (("/v1/views/counts/changes", {}), ("/v1/tables/t/changes", {"until": 2})):
        answer = counts.get(path, format="json", cursor=cursor, **params)
        assert code(answer) == (400, "cursor_mismatch")
    rows = counts.get("/v1/tables/t/rows", cursor=cursor)
    assert code(rows) == (400, "invalid_cursor")
