"""Kept connections: requests one after another, or before an answer is there, and the end of idleness."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from service.http.protocol import LimitedProtocol
from service.settings.settings import Settings

PATIENCE = 0.4
"""Seconds that a connection may be idle."""
Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the path, the query and the body, in a moment."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    await asyncio.sleep(0.01)
    body = f"{scope['path']}|{scope['query_string'].decode()}|{b''.join(parts).decode()}".encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
    )
    await send({"type": "http.response.body", "body": body})


async def slow_stream(scope: Any, receive: Any, send: Any) -> None:
    """Answers with a piece, and after a while with another."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"one", "more_body": True})
    await asyncio.sleep(PATIENCE / 2)
    await send({"type": "http.response.body", "body": b"two"})


def connected(talk: Callable[[Reader, Writer], Awaitable[None]], app: Any = echo) -> None:
    """Lets a client talk to the app over one connection."""

    async def run() -> None:
        protocol = LimitedProtocol.with_limits(Settings().connection_limits)
        config = uvicorn.Config(app, http=protocol, ws="none", log_config=None, lifespan="off")
        config.load()
        state = ServerState()

        def made() -> LimitedProtocol:
            connection = protocol(config=config, server_state=state, app_state={})
            connection.timeout_keep_alive = PATIENCE  # type: ignore[assignment]
            return connection

        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            await talk(reader, writer)
        finally:
            writer.transport.abort()
            for connection in list(state.connections):
                connection.transport.abort()
            await asyncio.sleep(0)
            server.close()
            await server.wait_closed()

    asyncio.run(run())


def request(path: str, body: bytes = b"", more: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def answer(reader: Reader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200 ")
    return await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))


def test_requests_are_answered_in_their_order() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a%20b?c=d%20e", b"one") + request("/b", b"two") + request("/c"))
        assert [await answer(reader) for _ in range(3)] == [b"/a b|c=d%20e|one", b"/b||two", b"/c||"]

    connected(talk)


def test_a_body_may_come_later_and_in_pieces() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"12345678", "Expect: 100-continue\r\n")[:-8])
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        for piece in (b"123", b"45", b"678"):
            writer.write(piece)
            await asyncio.sleep(0.02)
        assert await answer(reader) == b"/a||12345678"

    connected(talk)


def test_an_idle_connection_ends_and_a_busy_one_does_not() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        until = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < until:
            writer.write(request("/a"))
            assert await answer(reader) == b"/a||"
            await asyncio.sleep(PATIENCE / 4)
        began = time.monotonic()
        assert await reader.read() == b""
        assert time.monotonic() - began >= PATIENCE / 2

    connected(talk)


H2C = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
WEBSOCKET = "Upgrade: websocket\r\nConnection: keep-alive, upgrade\r\nSec-WebSocket-Key: eA==\r\n"


@pytest.mark.parametrize("upgrade", [H2C, WEBSOCKET])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_upgrade_is_ignored_and_its_body_is_read(upgrade: str, size: int) -> None:
    """However the requests arrive, and those behind them."""
    chunked = (
        f"POST /c HTTP/1.1\r\n{upgrade}Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n2\r\ntw\r\n0\r\n\r\n"
    )
    parts = [
        *(request("/a?b=c", b"one", upgrade), request("/b", b"two"), chunked.encode()),
        *(request("/d", b"", upgrade), f"GET /e HTTP/1.1\r\n{upgrade}\r\n".encode(), request("/f", b"six")),
    ]

    async def talk(reader: Reader, writer: Writer) -> None:
        sent = b"".join(parts)
        for start in range(0, len(sent), size):
            writer.write(sent[start : start + size])
            await asyncio.sleep(0)
        answers = [await answer(reader) for _ in parts]
        assert answers == [b"/a|b=c|one", b"/b||two", b"/c||onetw", b"/d||", b"/e||", b"/f||six"]

    connected(talk)


def test_connect_with_a_path_is_a_request_like_any_other() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(b"CONNECT /a HTTP/1.1\r\nHost: here\r\n\r\n" + request("/b", b"two"))
        assert [await answer(reader) for _ in range(2)] == [b"/a||", b"/b||two"]

    connected(talk)


def test_a_connection_that_asks_for_an_upgrade_and_its_end_ends() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"one", "Connection: upgrade, close\r\nUpgrade: h2c\r\n"))
        assert await answer(reader) == b"/a||one"
        assert await reader.read() == b""

    connected(talk)


def test_an_upgraded_body_may_wait_for_its_permission() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"12345678", H2C + "Expect: 100-continue\r\n")[:-8])
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"12345678")
        assert await answer(reader) == b"/a||12345678"

    connected(talk)


def test_an_upgraded_request_may_be_none() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(f"GET http:// HTTP/1.1\r\n{H2C}\r\n".encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")

    connected(talk)


def test_a_tunnel_is_refused() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" + request("/a"))
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")

    connected(talk)


NO_REQUESTS = {
    "garbage": b"garbage\r\n\r\n",
    "url": b"GET http:// HTTP/1.1\r\n\r\n",
    "chunk": b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n",
}


def is_refusal(rest: bytes) -> bool:
    """Whether this is one refusal and nothing else."""
    head, _, body = rest.partition(b"\r\n\r\n")
    return head.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ")) and json.loads(body)["status"] >= 400


@pytest.mark.parametrize("malformed", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_requests_before_a_malformed_one_are_answered(malformed: bytes) -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"one") + request("/b", b"two") + malformed + request("/c"))
        assert [await answer(reader) for _ in range(2)] == [b"/a||one", b"/b||two"]
        assert is_refusal(await reader.read())

    connected(talk)


@pytest.mark.parametrize("malformed", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_a_refusal_waits_for_the_end_of_a_stream(malformed: bytes) -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a"))
        assert b"chunked" in await reader.readuntil(b"\r\n\r\n")
        assert await reader.readuntil(b"one\r\n") == b"3\r\none\r\n"
        writer.write(malformed)
        assert await reader.readuntil(b"0\r\n\r\n") == b"3\r\ntwo\r\n0\r\n\r\n"
        assert is_refusal(await reader.read())

    connected(talk, slow_stream)


def test_a_flood_behind_a_malformed_request_does_not_end_the_stream() -> None:
    """The service does not read it before its answer has ended."""

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a") + b"garbage\r\n\r\n" + b"x" * (1 << 23))
        assert (await reader.readuntil(b"0\r\n\r\n")).endswith(b"3\r\ntwo\r\n0\r\n\r\n")

    connected(talk, slow_stream)


def test_a_client_that_leaves_is_gone_for_the_request_that_is_being_answered() -> None:
    """Also if it has sent another."""
    seen: list[str] = []

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            pass
        seen.append(f"{scope['path']}: {message['type']}")

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a") + request("/b"))
        await asyncio.sleep(0.05)
        writer.close()
        await asyncio.sleep(0.05)
        assert seen == ["/a: http.disconnect"]

    connected(talk, waiting)


def test_a_client_that_sends_no_more_is_answered() -> None:
    """Also where several answers are due, as long as its requests are complete; then the connection ends."""

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"one") + request("/b"))
        writer.write_eof()
        assert [await answer(reader) for _ in range(2)] == [b"/a||one", b"/b||"]
        assert await asyncio.wait_for(reader.read(), 60) == b""

    async def half(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"one")[:-1])
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), 60) == b""

    connected(talk)
    connected(half)


def test_who_watches_for_a_client_that_leaves_is_told_that_it_sends_no_more() -> None:
    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if scope["path"] == "/answered":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/answered") + request("/left"))
        await asyncio.sleep(0.05)
        writer.write_eof()
        assert await answer(reader) == b""
        assert await asyncio.wait_for(reader.read(), 60) == b""

    connected(talk, waiting)


HUGE = "x" * 70_000


@pytest.mark.parametrize(
    "head",
    [
        f"GET /{HUGE} HTTP/1.1\r\n\r\n",
        f"GET / HTTP/1.1\r\nX: {HUGE}\r\n\r\n",
        f"GET / HTTP/1.1\r\n{HUGE}: x\r\nY: z\r\n\r\n",
        "GET / HTTP/1.1\r\n" + f"X: {HUGE[:1000]}\r\n" * 70 + "\r\n",
        f"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: {HUGE}\r\n\r\n",
        f"GET / HTTP/1.1\r\nX: {HUGE}\r\n{H2C}\r\n",
    ],
    ids=["url", "value", "name", "headers", "trailer", "upgrade"],
)
@pytest.mark.parametrize("size", [10_000, 200_000], ids=["pieces", "whole"])
def test_a_large_head_is_refused_however_it_arrives(head: str, size: int) -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        for start in range(0, len(head), size):
            writer.write(head[start : start + size].encode())
            await asyncio.sleep(0.001)
        refusal = await reader.read()
        assert refusal.startswith(b"HTTP/1.1 431 ") and refusal.count(b"HTTP/1.1") == 1

    connected(talk)


def test_heads_are_counted_one_by_one() -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"", f"X: {HUGE[:60_000]}\r\n" + H2C) * 3)
        assert [await answer(reader) for _ in range(3)] == [b"/a||"] * 3

    connected(talk)


async def cancelled(scope: Any, receive: Any, send: Any) -> None:
    """Ends as the server ends what is too slow when the service ends."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(PATIENCE)


async def failing(scope: Any, receive: Any, send: Any) -> None:
    raise ArithmeticError


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """Answers nothing."""


@pytest.mark.parametrize(
    ("app", "status", "code"),
    [(cancelled, 503, "shutting_down"), (failing, 500, "internal_error"), (silent, 500, "internal_error")],
)
def test_an_answer_that_the_app_does_not_give_is_a_problem(app: Any, status: int, code: str) -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a"))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        assert lines[0].startswith(b"http/1.1 %d " % status)
        assert {b"connection: close", b"content-type: application/problem+json"} <= set(lines)
        assert (b"retry-after: 1" in lines) == (status == 503)
        assert json.loads(body)["code"] == code

    connected(talk, app)


def test_a_stream_that_is_cancelled_has_no_end() -> None:
    async def cancelled_stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await cancelled(scope, receive, send)

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a"))
        assert (await reader.read()).endswith(b"transfer-encoding: chunked\r\n\r\n")

    connected(talk, cancelled_stream)


@pytest.mark.parametrize("more", ["", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n", H2C])
def test_a_client_of_the_first_version_gets_neither_chunks_nor_permission(more: str) -> None:
    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"", more).replace(b"HTTP/1.1", b"HTTP/1.0"))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ") and b"connection: close" in head
        assert b"chunked" not in head and body == b"onetwo"

    connected(talk, slow_stream)


async def refusing(scope: Any, receive: Any, send: Any) -> None:
    """Answers without the body."""
    await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


def test_a_client_whose_body_is_refused_before_it_is_sent_is_not_told_to_send_it() -> None:
    """The connection ends, because the client may send the body or not."""

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(request("/a", b"12345678", "Expect: 100-continue\r\n")[:-8])
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 413 ") and b"connection: close" in head and body == b"no"

    connected(talk, refusing)
