"""HEAD answers as GET does, without a body, and ends what GET would go on with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest

from service.http.heads import Heads
from tests.service.client import Client, Process

CHANGING = frozenset({"freshet-epoch", "content-type", "content-length", "vary", "content-encoding"})

TIMED = ("/v1/status", "/metrics", "/v1/views/v/replay", "/v1/catalog/costs", "/v1/statements")
"""Their answers tell times, so two of them differ."""


@pytest.fixture
def filled(client: Client) -> Client:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a, count(*) AS n FROM t GROUP BY a")
    client.insert("t", *({"a": a} for a in range(3000)))
    return client


def gets(client: Client) -> list[str]:
    paths = client.get("/openapi.json").json()["paths"]
    values = {
        "table": "t",
        "view": "v",
        "load": "1",
        "export": "1",
        "source": "s",
        "sink": "s",
        "backup": "x",
        "branch": "x",
        "replacement": "x",
    }
    return [path.format(**values) for path, operations in paths.items() if "get" in operations]


def test_every_get_has_a_head(filled: Client) -> None:
    found = [*gets(filled), "/openapi.json", "/docs", "/nothing", "/v1/views/v/changes?format=sse"]
    assert len(found) > 20
    for path in found:
        head = filled.run(filled.http.head(path))
        assert head.content == b"", path
        if "sse" in path:
            assert (head.status_code, head.headers["content-type"]) == (
                200,
                "text/event-stream; charset=utf-8",
            )
            continue
        whole = filled.get(path)
        assert head.status_code == whole.status_code, path
        for name in CHANGING - ({"content-length"} if path in TIMED else set()):
            assert head.headers.get(name) == whole.headers.get(name), (path, name)


def test_other_methods_have_no_head(filled: Client) -> None:
    assert filled.run(filled.http.head("/v1/sql")).status_code == 405


def test_a_stream_ends_once_it_has_begun() -> None:
    """The app is cancelled in its endless body; its end is waited for."""
    ended = []
    sent = []

    async def endless(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
                await asyncio.sleep(0)
        finally:
            ended.append(scope["method"])

    async def send(message) -> None:
        sent.append(message)

    asyncio.run(Heads(endless)({"type": "http", "method": "HEAD"}, None, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert ended == ["GET"]


def test_an_error_before_the_headers_is_raised() -> None:
    async def failing(scope, receive, send) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(Heads(failing)({"type": "http", "method": "HEAD"}, None, None))


def test_over_a_connection(start: Callable[..., Process]) -> None:
    """The connection is good for another request after each HEAD."""
    service = start(FRESHET_SPARK="never")
    service.wait_ready()
    with httpx.Client(base_url=service.url, timeout=240) as http:
        http.post("/v1/sql", json={"sql": "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t"})
        for path in ("/healthz", "/v1/tables/t/rows", "/v1/views/v/changes?format=sse", "/nothing"):
            assert http.head(path).content == b""
        assert http.get("/v1/views").json()["views"][0]["name"] == "v"
