"""One request of a connection and its answer, in ASGI's messages.

It takes the place of the server's own cycle, which copies a body twice, checks and writes each header by
itself, and the body after the head. Here a head is checked as a whole, and one with a length leaves together
with the beginning of its body: in one call of the system, as one packet. An answer that the app does not give
is a problem document.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from typing import cast

from uvicorn._types import (
    ASGI3Application,
    ASGIReceiveEvent,
    ASGISendEvent,
    HTTPResponseBodyEvent,
    HTTPResponseStartEvent,
    HTTPScope,
)
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from service.errors import Problem
from service.problems import INTERNAL, response

_log = logging.getLogger("freshet.http")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_USUAL = frozenset({b"date", b"content-type", b"vary", b"x-request-id", b"freshet-epoch", b"cache-control"})
"""Names that are known to be some."""
_TEXT = bytes({0x09, *range(0x20, 0x100)} - {0x7F})
"""The characters of a header's value."""
_LENGTH, _ENCODING, _CONNECTION = b"content-length", b"transfer-encoding", b"connection"
_FRAMING = frozenset({_LENGTH, _ENCODING, _CONNECTION})
_WITHOUT_BODY = frozenset({204, 304})
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = b"connection: close\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_SHUTTING_DOWN = Problem(
    503,
    code="shutting_down",
    detail="the service is shutting down, and the request had not ended",
    hint="ask again later; a change may have been made, and an Idempotency-Key makes repeating it safe",
)


class AnswerCycle:
    """The connection says what arrives, and whether the client is there; the app receives and sends.

    As long as there is `more_body`, the body has not arrived as a whole.

    The server sets `keep_alive` to False for the last answer of a connection.
    """

    def __init__(
        self,
        scope: HTTPScope,
        transport: asyncio.Transport,
        flow: FlowControl,
        default_headers: Iterable[tuple[bytes, bytes]],
        keep_alive: bool,
        asks_to_continue: bool,
        on_response: Callable[[], None],
    ) -> None:
        """`asks_to_continue`: the client waits for a word before it sends its body."""
        self.keep_alive = keep_alive
        self.disconnected = self.response_started = self.response_complete = False
        self._scope = scope
        self._transport = transport
        self._flow = flow
        self._default_headers = default_headers
        self._asks_to_continue = asks_to_continue
        self._on_response = on_response
        # The body, as far as it has arrived and the app has not received it
        self._pieces: list[bytes] = []
        self._size = 0
        self.more_body = True
        self._is_read = self._may_be_alone = False
        self._has_news = False
        self._news: asyncio.Event | None = None
        # The answer
        self._head = b""
        """The head of an answer, until the beginning of its body leaves with it."""
        self._length_left = 0
        self._is_chunked: bool | None = None
        self._says_close = self._ends_by_closing = False

    # The connection

    def took(self, piece: bytes) -> None:
        """A piece of the body has arrived. Nothing more is read while much of it waits for the app."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > HIGH_WATER_LIMIT:
            self._flow.pause_reading()
        self._tell()

    def took_all(self) -> None:
        """The body has arrived."""
        self.more_body = False
        self._tell()

    def take_end(self, is_last: bool) -> None:
        """The client sends no more on this connection, and so may be gone. The last answer ends the
        connection."""
        self._may_be_alone = True
        self.keep_alive = self.keep_alive and not is_last
        self._tell()

    def forsake(self) -> None:
        """Nobody waits for the answer any more."""
        self.disconnected = True
        self._tell()

    def _tell(self) -> None:
        """Tells the app that there is something to receive."""
        self._has_news = True
        if self._news is not None:
            self._news.set()
            self._news = None

    # The app

    async def run_asgi(self, app: ASGI3Application) -> None:
        """Runs the app. The server cancels it when the service ends and its patience has ended before."""
        try:
            await app(self._scope, self.receive, self.send)
        except asyncio.CancelledError:
            await self._give_up(_SHUTTING_DOWN)
        except BaseException as error:
            _log.error("the app has failed to answer", exc_info=error)
            await self._give_up(INTERNAL)
        else:
            if self._may_be_alone and not self.response_complete:
                self._transport.close()
            elif not self.response_complete and not self.disconnected:
                _log.error("the app has left an answer without its end")
                await self._give_up(INTERNAL)
        finally:
            self._on_response = _nothing

    async def _give_up(self, problem: Problem) -> None:
        """Answers with the problem, unless an answer has begun, and ends the connection."""
        self.keep_alive = False
        if self.response_started:
            self._transport.close()
        else:
            answer = response(problem)
            await self.send(
                {"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers}
            )
            await self.send({"type": "http.response.body", "body": bytes(answer.body), "more_body": False})

    async def receive(self) -> ASGIReceiveEvent:
        if self._asks_to_continue and not self._transport.is_closing():
            self._transport.write(_CONTINUE)
            self._asks_to_continue = False
        if not self._is_over():
            self._flow.resume_reading()
            if not self._has_news:
                await self._arrival()
            self._has_news = False
        if self._is_over():
            return {"type": "http.disconnect"}
        body = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._is_read = not self.more_body
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    def _is_over(self) -> bool:
        """Whether there is nothing more to receive: the client has its answer, has gone, or may have."""
        return self.disconnected or self.response_complete or (self._may_be_alone and self._is_read)

    async def _arrival(self) -> None:
        """Waits until there is something to receive."""
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()

    async def send(self, message: ASGISendEvent) -> None:
        if self._flow.write_paused and not self.disconnected:
            await self._flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if not self.response_started and kind == "http.response.start":
            self._begin(cast(HTTPResponseStartEvent, message))
        elif self.response_started and not self.response_complete and kind == "http.response.body":
            self._continue(cast(HTTPResponseBodyEvent, message))
        else:
            raise RuntimeError(f"the app has sent {kind} where an answer has none")

    def _begin(self, message: HTTPResponseStartEvent) -> None:
        self.response_started = True
        if self._asks_to_continue:  # nobody knows whether the client sends its body now
            self._asks_to_continue = self.keep_alive = False
        status = message["status"]
        headers = [*self._default_headers, *message.get("headers", ())]
        parts: list[bytes] = []
        for name, value in headers:
            if name in _FRAMING:
                self._note(name, value)
            elif name not in _USUAL and _NAME.fullmatch(name) is None:
                raise _no_header()
            parts += (name, b": ", value, b"\r\n")
        lines = b"".join(parts)
        # A line break in a value would begin another header.
        if lines.translate(None, _TEXT) != b"\r\n" * len(headers):
            raise _no_header()
        if self._is_chunked is None and self._scope["method"] != "HEAD" and status not in _WITHOUT_BODY:
            if self._scope["http_version"] < "1.1":  # knows no chunks: the body ends with the connection
                self._ends_by_closing, self.keep_alive = True, False
            else:
                self._is_chunked = True
                lines += _CHUNKED
        if not self.keep_alive and not self._says_close:
            lines += _CLOSE
        head = b"%b%b\r\n" % (STATUS_LINE[status], lines)
        if self._length_left:
            self._head = head
        else:
            self._transport.write(head)

    def _note(self, name: bytes, value: bytes) -> None:
        """Notes what a header says about the body and the connection."""
        if name == _LENGTH:
            if self._is_chunked is None:
                self._length_left = int(value)
                self._is_chunked = False
        elif name == _ENCODING and value.lower() == b"chunked":
            self._length_left = 0
            self._is_chunked = True
        elif name == _CONNECTION and b"close" in value.lower():
            self.keep_alive = False
            self._says_close = True

    def _continue(self, message: HTTPResponseBodyEvent) -> None:
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        if self._scope["method"] == "HEAD":
            self._length_left, body = 0, b""
        elif self._is_chunked:
            body = _chunk(body, is_last)
        elif self._ends_by_closing:
            pass
        elif len(body) > self._length_left:
            raise RuntimeError("the answer's body is longer than its head says")
        else:
            self._length_left -= len(body)
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head + body if body else head)
        elif body:
            self._transport.write(body)
        if is_last:
            self._end()

    def _end(self) -> None:
        if self._length_left:
            raise RuntimeError("the answer's body is shorter than its head says")
        self.response_complete = True
        self._tell()
        if not self.keep_alive:
            self._transport.close()
        self._on_response()


def _no_header() -> RuntimeError:
    return RuntimeError("a header of the answer has characters that HTTP does not allow")


def _nothing() -> None:
    """What the end of an answer changes once the app has ended."""


def _chunk(body: bytes, is_last: bool) -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return chunk + b"0\r\n\r\n" if is_last else chunk
