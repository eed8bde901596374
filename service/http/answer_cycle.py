"""One request of a connection and its answer, in ASGI's messages.

The server's own cycle checks and writes each header by itself, and the body after the head. This one checks
a head as a whole, and a head with a length leaves together with the beginning of its body: in one call of the
system, as one packet. An answer that the app does not give is a problem document.
"""

from __future__ import annotations

import asyncio
import re
from typing import cast

from uvicorn._types import (
    ASGI3Application,
    ASGIReceiveEvent,
    ASGISendEvent,
    HTTPResponseBodyEvent,
    HTTPResponseStartEvent,
)
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from service.errors import Problem
from service.problems import INTERNAL, response

_LINES = re.compile(rb"(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [^\x00-\x08\x0a-\x1f\x7f]*\r\n)*")
_LENGTH, _ENCODING, _CONNECTION = b"content-length", b"transfer-encoding", b"connection"
_FRAMING = frozenset({_LENGTH, _ENCODING, _CONNECTION})
_WITHOUT_BODY = frozenset({204, 304})
_CLOSE = b"connection: close\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_SHUTTING_DOWN = Problem(
    503,
    code="shutting_down",
    detail="the service is shutting down, and the request had not ended",
    hint="ask again later; a change may have been made, and an Idempotency-Key makes repeating it safe",
)


class AnswerCycle(RequestResponseCycle):
    """The server calls it as its own."""

    _head = b""
    """The head of an answer, until the beginning of its body leaves with it."""
    _says_close = False
    _ends_by_closing = False
    _is_read = False
    _may_be_alone = False
    """Whether the client sends no more on this connection, and so may be gone."""

    def take_end(self, is_last: bool) -> None:
        """Take note that the client sends no more. The last answer ends the connection."""
        self._may_be_alone = True
        self.keep_alive = self.keep_alive and not is_last
        self.message_event.set()

    async def receive(self) -> ASGIReceiveEvent:
        """The next piece of the body; behind its end, that the client has gone, or may have."""
        if self._may_be_alone and self._is_read:
            return {"type": "http.disconnect"}
        message = await super().receive()
        self._is_read = self._is_read or not message.get("more_body", False)
        return message

    async def run_asgi(self, app: ASGI3Application) -> None:
        """Runs the app. The server cancels it when the service ends and its patience has ended before."""
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            await self._give_up(_SHUTTING_DOWN)
        except BaseException as error:
            self.logger.error("the app has failed to answer", exc_info=error)
            await self._give_up(INTERNAL)
        else:
            if self._may_be_alone and not self.response_complete:
                self.transport.close()
            elif not self.response_complete and not self.disconnected:
                self.logger.error("the app has left an answer without its end")
                await self._give_up(INTERNAL)
        finally:
            self.on_response = lambda: None

    async def _give_up(self, problem: Problem) -> None:
        """Answers with the problem, unless an answer has begun, and ends the connection."""
        self.keep_alive = False
        if self.response_started:
            self.transport.close()
        else:
            answer = response(problem)
            await self.send(
                {"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers}
            )
            await self.send({"type": "http.response.body", "body": bytes(answer.body), "more_body": False})

    async def send(self, message: ASGISendEvent) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
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
        if self.waiting_for_100_continue:  # nobody knows whether the client sends its body now
            self.waiting_for_100_continue = self.keep_alive = False
        status = message["status"]
        headers = [*self.default_headers, *message.get("headers", ())]
        parts: list[bytes] = []
        for name, value in headers:
            if name in _FRAMING:
                self._note(name, value)
            parts += (name, b": ", value, b"\r\n")
        lines = b"".join(parts)
        # A line break in a value would begin another header.
        if lines.count(b"\n") != len(headers) or _LINES.fullmatch(lines) is None:
            raise RuntimeError("a header of the answer has characters that HTTP does not allow")
        if self.chunked_encoding is None and self.scope["method"] != "HEAD" and status not in _WITHOUT_BODY:
            if self.scope["http_version"] < "1.1":  # knows no chunks: the body ends with the connection
                self._ends_by_closing, self.keep_alive = True, False
            else:
                self.chunked_encoding = True
                lines += _CHUNKED
        if not self.keep_alive and not self._says_close:
            lines += _CLOSE
        head = b"%b%b\r\n" % (STATUS_LINE[status], lines)
        if self.expected_content_length:
            self._head = head
        else:
            self.transport.write(head)

    def _note(self, name: bytes, value: bytes) -> None:
        """Notes what a header says about the body and the connection."""
        if name == _LENGTH:
            if self.chunked_encoding is None:
                self.expected_content_length = int(value)
                self.chunked_encoding = False
        elif name == _ENCODING and value.lower() == b"chunked":
            self.expected_content_length = 0
            self.chunked_encoding = True
        elif name == _CONNECTION and b"close" in value.lower():
            self.keep_alive = False
            self._says_close = True

    def _continue(self, message: HTTPResponseBodyEvent) -> None:
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        if self.scope["method"] == "HEAD":
            self.expected_content_length, body = 0, b""
        elif self.chunked_encoding:
            body = _chunk(body, is_last)
        elif self._ends_by_closing:
            pass
        elif len(body) > self.expected_content_length:
            raise RuntimeError("the answer's body is longer than its head says")
        else:
            self.expected_content_length -= len(body)
        if self._head:
            head, self._head = self._head, b""
            self.transport.write(head + body if body else head)
        elif body:
            self.transport.write(body)
        if is_last:
            self._end()

    def _end(self) -> None:
        if self.expected_content_length:
            raise RuntimeError("the answer's body is shorter than its head says")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


def _chunk(body: bytes, is_last: bool) -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return chunk + b"0\r\n\r\n" if is_last else chunk
