"""HTTP connections with limits: the size of a head, the time that each part may take, their number.

The server's parser collects a head of any size and waits for it for ever. This protocol counts the bytes
received since the last progress: a complete head, or a piece of a body. A head that is too large gets 431,
anything too slow 408, a connection too many 503. Then the connection closes, after the client has had a
moment to read the response. A client that does not read its response is cut off. A stall of the machine is
not the client's time, which counts in steps.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from service.errors import Problem
from service.http.answer_cycle import AnswerCycle
from service.http.parsed_heads import ParsedHeads
from service.problems import MEDIA_TYPE, problem_document
from service.settings.connection_limits import ConnectionLimits
from service.stepped_timer import IdleTimer, SteppedTimer

_log = logging.getLogger("freshet.http")
_PACE = 1 << 16
"""Bytes of a body that must arrive within the time that it may pause, and of a response that must be read."""
_LINGER = 2.0
"""Seconds in which a refused client can read the response while the rest of its request is dropped."""
_DROPPED = 1 << 22
"""The most bytes that are dropped before the connection is cut."""


class LimitedProtocol(ParsedHeads):
    """One connection. A subclass has the `limits`, because the server creates the protocols."""

    cycle: AnswerCycle | None  # type: ignore[assignment]

    def __init__(self, *server: Any, **options: Any) -> None:
        super().__init__(*server, **options)
        self._idle_bytes = 0
        self._is_between = True
        self._answering: AnswerCycle | None = None
        self._later: deque[AnswerCycle] = deque()
        """Requests that the client has sent before it had the answers to others."""
        self._is_refused = False
        self._last_words: Problem | None = None
        self._deadline: SteppedTimer | None = None
        self._body_seconds = 0.0
        self._body_bytes = 0
        self._reading: SteppedTimer | None = None
        self._unread = 0
        self._between_requests = IdleTimer(self.loop, self.timeout_keep_alive_handler)

    @classmethod
    def with_limits(cls, limits: ConnectionLimits) -> type[LimitedProtocol]:
        """A subclass with these limits, for the server's configuration."""
        return type("Protocol", (cls,), {"limits": limits})

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(
                Problem(503, code="too_many_connections", detail="the service has too many connections open")
            )
            return
        self._set_deadline(self.limits.head_seconds, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        self._stop_reading_clock()
        self._between_requests.cancel()
        for cycle in (self._answering, self.cycle):
            if cycle is not None:
                cycle.forsake()
        self.cycle = None
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends no more: it has gone, or waits for its answers all the same. So who watches for a
        client that leaves is told of it, and an answer that is given nevertheless is written."""
        newest, answering = self.cycle, self._answering
        if newest is None or answering is None or answering.response_complete or newest.more_body:
            return False  # which closes the connection
        if self._is_refused or self.scheme == "https":  # TLS knows no other way
            return False
        for cycle in (answering, *self._later):
            cycle.take_end(cycle is newest)
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.transport.get_write_buffer_size()
        self._reading = SteppedTimer(self.loop, self.limits.read_seconds, self._reader_is_late)

    def resume_writing(self) -> None:
        self._stop_reading_clock()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._idle_bytes += len(data)
        if self._is_refused:
            if self._last_words is not None:
                self.flow.pause_reading()
            elif self._idle_bytes > _DROPPED:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        self.parse(data)
        if self._idle_bytes > self.limits.head_bytes and not self._is_refused:
            self._refuse(self.large_head())
        elif self._deadline is None and not self._is_refused:
            self._expect_more()

    def send_400_response(self, msg: str) -> None:
        self._refuse(self.refusal or Problem(400, code="bad_request", detail="the request is not HTTP/1.1"))

    # The parser

    def on_headers_complete(self) -> None:
        if self.will_be_parsed_again():
            return
        self._idle_bytes = self._body_bytes = 0
        self._body_seconds = self.limits.body_seconds
        self._clear_deadline()
        self.make_scope()
        self.cycle = self._new_cycle()
        self._is_between = False
        if self._is_answering():  # the client has not waited for the answer before
            self.flow.pause_reading()
            self._later.append(self.cycle)
        else:
            self._answer(self.cycle)

    def _answer(self, cycle: AnswerCycle) -> None:
        self._answering = cycle
        task = self.loop.create_task(cycle.run_asgi(self.app))
        self.tasks.add(task)  # the server waits for them when it ends
        task.add_done_callback(self.tasks.discard)

    def _is_answering(self) -> bool:
        """Whether an answer is under way. The requests behind it wait."""
        return self._answering is not None and not self._answering.response_complete

    def _new_cycle(self) -> AnswerCycle:
        is_current = self.scope["http_version"] >= "1.1"
        return AnswerCycle(
            self.scope,
            self.transport,
            self.flow,
            self.server_state.default_headers,
            is_current and self.parser.should_keep_alive(),
            is_current and self.expect_100_continue,
            self.on_response_complete,
        )

    def on_body(self, body: bytes) -> None:
        self._idle_bytes = 0
        self._body_bytes += len(body)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.took(body)

    def on_message_complete(self) -> None:
        if self.will_be_parsed_again():
            return
        self._idle_bytes = 0
        self._is_between = True
        self._clear_deadline()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.took_all()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self._later:
            self._answer(self._later.popleft())
        elif self._last_words is not None:
            self._end_with(self._last_words)
        else:
            self._between_requests.begin(self.timeout_keep_alive)

    # Time

    def _unset_keepalive_if_required(self) -> None:
        self._between_requests.end()

    def _expect_more(self) -> None:
        """Sets a deadline for the rest of what has begun to arrive; most requests arrive whole."""
        if not self._is_between:
            self._set_deadline(self._pause(), self._body_is_late)
        elif self._idle_bytes:
            self._set_deadline(self.limits.head_seconds, self._head_is_late)

    def _set_deadline(self, seconds: float, late: Any) -> None:
        self._clear_deadline()
        self._deadline = SteppedTimer(self.loop, seconds, late)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _head_is_late(self) -> None:
        self._deadline = None
        if self.flow.read_paused:  # the service itself has stopped reading
            self._set_deadline(self.limits.head_seconds, self._head_is_late)
            return
        if not self._idle_bytes:
            self.transport.close()  # the client never sent a request
            return
        self._refuse(_late(f"the request's head did not arrive within {self.limits.head_seconds:g} seconds"))

    def _body_is_late(self) -> None:
        """Refuses a body that is too slow, unless it has progressed or the service itself does not read."""
        if not self.flow.read_paused:
            self._body_seconds -= self._pause()
            if self._body_bytes < _PACE or self._body_seconds <= 0:
                self._refuse(_late("the request's body arrives too slowly"))
                return
        self._body_bytes = 0
        self._set_deadline(self._pause(), self._body_is_late)

    def _pause(self) -> float:
        """Seconds in which the body has to progress."""
        return min(self.limits.pause_seconds, self._body_seconds)

    def _reader_is_late(self) -> None:
        """Cuts the connection of a client that does not read, unless it has read a good piece since."""
        unread = self.transport.get_write_buffer_size()
        if unread > self._unread - _PACE:
            _log.info("%s: cut, because it does not read", self._name())
            self.transport.abort()
            return
        self._unread = unread
        self._reading = SteppedTimer(self.loop, self.limits.read_seconds, self._reader_is_late)

    def _stop_reading_clock(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    # Refusals

    def _name(self) -> str:
        return self.client[0] if self.client else "a client"

    def _refuse(self, problem: Problem) -> None:
        """Responds to the newest request with the problem, unless a response to it has begun, and closes the
        connection in a moment. The requests before it are answered first."""
        self._is_refused = True
        self._clear_deadline()
        self._unset_keepalive_if_required()
        if self.transport.is_closing():
            return
        _log.info("%s: refused with %d: %s", self._name(), problem.status, problem.detail)
        refused = None if self._is_between else self.cycle
        if refused is not None:
            refused.forsake()
            if self._later and self._later[-1] is refused:
                self._later.pop()
        if self._is_answering() and self._answering is not refused:
            self._last_words = problem
            self.flow.pause_reading()
        elif refused is not None and refused.response_started:
            self.transport.close()
        else:
            self._end_with(problem)

    def _end_with(self, problem: Problem) -> None:
        """Writes the problem as the last response, and drops what arrives until the connection closes."""
        self._last_words, self._idle_bytes = None, 0
        body = problem_document(problem)
        head = [
            STATUS_LINE[problem.status],
            b"content-type: %s\r\n" % MEDIA_TYPE.encode(),
            b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body),
        ]
        self.flow.resume_reading()
        self.transport.write(b"".join([*head, body]))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.close)


def _late(detail: str) -> Problem:
    return Problem(408, code="request_timeout", detail=detail)
