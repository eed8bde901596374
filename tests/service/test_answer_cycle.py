"""An answer's head and body leave in one write; what is no HTTP does not leave at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl

from service.http.answer_cycle import AnswerCycle

DATE = (b"date", b"Sat, 28 Nov 2026 17:00:00 GMT")
LINES = b"HTTP/1.1 200 OK\r\ndate: Sat, 28 Nov 2026 17:00:00 GMT\r\n"


class _Told:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def close(self) -> None:
        self.calls.append("close")

    def pause_reading(self) -> None:
        self.calls.append("pause")

    def resume_reading(self) -> None:
        self.calls.append("resume")

    def is_closing(self) -> bool:
        return "close" in self.calls


def start(*headers: tuple[bytes, bytes], status: int = 200) -> ASGISendEvent:
    return {"type": "http.response.start", "status": status, "headers": headers}


def body(piece: bytes, more: bool = False) -> ASGISendEvent:
    return {"type": "http.response.body", "body": piece, "more_body": more}


def cycle_of(
    transport: _Told,
    ends: list[str],
    method: str = "GET",
    version: str = "1.1",
    keep_alive: bool = True,
    asks_to_continue: bool = False,
) -> AnswerCycle:
    return AnswerCycle(
        {"type": "http", "method": method, "http_version": version},  # type: ignore[arg-type, typeddict-item]
        transport,  # type: ignore[arg-type]
        FlowControl(transport),  # type: ignore[arg-type]
        [DATE],
        keep_alive,
        asks_to_continue,
        lambda: ends.append("end"),
    )


def told(
    *messages: Any, method: str = "GET", keep_alive: bool = True, version: str = "1.1"
) -> list[bytes | str]:
    """What the transport was told by an app that has sent these messages."""
    transport = _Told()
    ends: list[str] = []

    async def run() -> None:
        cycle = cycle_of(transport, ends, method, version, keep_alive)
        for message in messages:
            await cycle.send(message)
        assert ends == (["end"] if cycle.response_complete else [])

    asyncio.run(run())
    return transport.calls


def test_a_body_is_received_as_it_arrives_and_then_the_end_of_the_client() -> None:
    async def run() -> None:
        transport = _Told()
        cycle = cycle_of(transport, [], "POST", asks_to_continue=True)
        waiting = [asyncio.create_task(cycle.receive()) for _ in range(2)]
        await asyncio.sleep(0)
        assert transport.calls == [b"HTTP/1.1 100 Continue\r\n\r\n"]
        cycle.took(b"one")
        cycle.took(b"two")
        assert await waiting[0] == {"type": "http.request", "body": b"onetwo", "more_body": True}
        assert await waiting[1] == {"type": "http.request", "body": b"", "more_body": True}
        cycle.took(b"three")
        cycle.took_all()
        assert await cycle.receive() == {"type": "http.request", "body": b"three", "more_body": False}
        last = asyncio.create_task(cycle.receive())
        await asyncio.sleep(0)
        assert not last.done()
        cycle.forsake()
        assert await last == await cycle.receive() == {"type": "http.disconnect"}

    asyncio.run(run())


def test_nothing_is_read_while_much_waits_for_the_app() -> None:
    async def run() -> None:
        transport = _Told()
        cycle = cycle_of(transport, [], "POST")
        cycle.took(b"x" * HIGH_WATER_LIMIT)
        assert transport.calls == []
        cycle.took(b"x")
        assert transport.calls == ["pause"]
        await cycle.receive()
        assert transport.calls == ["pause", "resume"]

    asyncio.run(run())


def test_a_head_with_a_length_leaves_with_the_body() -> None:
    assert told(start((b"content-length", b"5")), body(b"hello")) == [
        LINES + b"content-length: 5\r\n\r\nhello"
    ]
    assert told(start((b"content-length", b"5")), body(b"he", more=True), body(b"llo")) == [
        LINES + b"content-length: 5\r\n\r\nhe",
        b"llo",
    ]


def test_the_head_of_a_stream_leaves_at_once_and_each_piece_too() -> None:
    head = LINES + b"transfer-encoding: chunked\r\n\r\n"
    assert told(start()) == [head]
    pieces = (body(b"one", more=True), body(b"", more=True), body(b"twelve bytes"))
    assert told(start(), *pieces) == [head, b"3\r\none\r\n", b"c\r\ntwelve bytes\r\n0\r\n\r\n"]
    assert told(start(), body(b"")) == [head, b"0\r\n\r\n"]


def test_a_stream_to_a_client_that_knows_no_chunks_ends_by_closing() -> None:
    pieces = (body(b"one", more=True), body(b"", more=True), body(b"two"))
    head = LINES + b"connection: close\r\n\r\n"
    assert told(start(), *pieces, version="1.0") == [head, b"one", b"two", "close"]
    assert told(start(), body(b""), version="1.0") == [head, "close"]
    assert told(start((b"content-length", b"1")), body(b"x"), version="1.0") == [
        LINES + b"content-length: 1\r\n\r\nx"
    ]


def test_an_answer_without_a_body_is_a_head() -> None:
    assert told(start((b"content-length", b"0")), body(b"")) == [LINES + b"content-length: 0\r\n\r\n"]
    assert told(start(status=304), body(b""))[0].startswith(b"HTTP/1.1 304 ")  # type: ignore[union-attr]
    for length in ((), ((b"content-length", b"7"),)):
        (head,) = told(start(*length), body(b"ignored"), method="HEAD")
        assert head.endswith(b"\r\n\r\n") and b"chunked" not in head  # type: ignore[operator]


def test_the_connection_ends_if_somebody_says_so() -> None:
    closing = LINES + b"content-length: 1\r\nconnection: close\r\n\r\nx"
    assert told(start((b"content-length", b"1")), body(b"x"), keep_alive=False) == [closing, "close"]
    said = start((b"content-length", b"1"), (b"connection", b"close"))
    assert told(said, body(b"x")) == [closing, "close"]
    assert told(said, body(b"x"), keep_alive=False) == [closing, "close"]


@pytest.mark.parametrize(
    "field",
    [
        *((b"location", b"/x\r\nset-cookie: a=b"), (b"location", b"/x\nset-cookie: a=b"), (b"a", b"\0")),
        *((b"a b", b"x"), (b"", b"x"), (b"a\r\nb", b"x"), (b"a:b", b"x"), (b"a", b"x\ry")),
    ],
)
def test_a_header_that_would_become_another_is_refused(field: tuple[bytes, bytes]) -> None:
    with pytest.raises(RuntimeError, match="characters"):
        told(start(field))


@pytest.mark.parametrize(
    "messages",
    [
        (body(b"x"),),
        (start(), start()),
        (start(), body(b""), body(b"")),
        (start((b"content-length", b"1")), body(b"xy")),
        (start((b"content-length", b"3")), body(b"xy")),
    ],
)
def test_messages_that_make_no_answer_are_an_error_of_the_app(messages: tuple) -> None:
    with pytest.raises(RuntimeError):
        told(*messages)
