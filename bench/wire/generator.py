"""The client that measures, in a process of its own: raw sockets, and answers that are compared whole.

A connection has at most one request in progress. Nothing waits longer than `TIMEOUT` for an answer.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bench.duck import WrongAnswer
from bench.wire.frontend import COPY_DONE, READY, Exchange, framed, parse, query, startup

TIMEOUT = 120.0
_CHUNK = 1 << 18
NAME = "measured"
"""Of the prepared statement."""


@dataclass(frozen=True)
class Driven:
    """Nanoseconds by exchange, seconds from the first request to the last answer, and the processor seconds
    of the client meanwhile."""

    taken: list[int]
    elapsed: float
    client: float


class WireClient:
    """A connection that waits for each of its answers."""

    def __init__(self, port: int, user: str = "postgres") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.ask(startup(user))
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> WireClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def ask(self, request: bytes) -> bytes:
        """The answer up to ReadyForQuery. Raises WrongAnswer at an error."""
        self.socket.sendall(request)
        return self.until(READY)

    def run(self, sql: str) -> bytes:
        return self.ask(query(sql))

    def copy_in(self, sql: str, data: bytes) -> None:
        """COPY FROM STDIN of the data, in messages of a quarter of a MiB."""
        self.socket.sendall(query(sql))
        self.until(None)
        parts = (data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK))
        self.socket.sendall(b"".join(framed(b"d", part) for part in parts) + COPY_DONE)
        self.until(READY)

    def copy_out(self, sql: str) -> int:
        """The bytes of all messages of COPY TO STDOUT."""
        self.socket.sendall(query(sql))
        size, last = 0, b""
        while not last.endswith(READY):
            data = self.receive()
            size, last = size + len(data), (last + data)[-len(READY) :]
        return size

    def until(self, end: bytes | None) -> bytes:
        """Everything up to `end`; without one, what comes first."""
        found = self.receive()
        while end is not None and not found.endswith(end):
            found += self.receive()
        if _has_error(found):
            raise WrongAnswer(found.decode(errors="replace"))
        return found

    def receive(self) -> bytes:
        """Some bytes, at least one."""
        data = self.socket.recv(_CHUNK)
        if not data:
            raise WrongAnswer("the server has closed the connection")
        return data


def _has_error(answer: bytes) -> bool:
    """Whether one of the whole messages is an ErrorResponse."""
    at = 0
    while at < len(answer):
        if answer[at : at + 1] == b"E":
            return True
        at += 1 + int.from_bytes(answer[at + 1 : at + 5], "big")
    return False


def drive(port: int, sql: str, lists: Sequence[Sequence[Exchange]]) -> Driven:
    """Prepares the statement on a connection for each list, and makes its exchanges one after another.

    Raises WrongAnswer at the first answer that differs.
    """
    with ExitStack() as open:
        clients = [open.enter_context(WireClient(port)) for _ in lists]
        for client in clients:
            client.ask(parse(NAME, sql))
        start, busy = time.perf_counter(), processor()
        taken = _one(clients[0], lists[0]) if len(lists) == 1 else _many(clients, lists)
        return Driven(taken, time.perf_counter() - start, processor() - busy)


def processor() -> float:
    """The processor seconds of this process."""
    return sum(os.times()[:2])


def _one(client: WireClient, exchanges: Sequence[Exchange]) -> list[int]:
    """Without a selector, so that a request costs two calls of the system."""
    taken, stream, clock = [], client.socket, time.perf_counter_ns
    for exchange in exchanges:
        start = clock()
        stream.sendall(exchange.request)
        found = stream.recv(_CHUNK)
        while len(found) < len(exchange.answer):
            found += stream.recv(_CHUNK)
        taken.append(clock() - start)
        _check(found, exchange)
    return taken


def _many(clients: Sequence[WireClient], lists: Sequence[Sequence[Exchange]]) -> list[int]:
    """All connections at once, in one thread. A request is so short that the socket takes it whole."""
    taken, clock, selector = [], time.perf_counter_ns, select.epoll()
    streams, waiting, running, found, started = {}, {}, {}, {}, {}
    for client, exchanges in zip(clients, lists, strict=True):
        number = client.socket.fileno()
        streams[number], waiting[number], found[number] = client.socket, iter(exchanges), b""
        running[number], started[number] = next(waiting[number]), clock()
        selector.register(number, select.EPOLLIN)
        client.socket.sendall(running[number].request)
    left = len(clients)
    while left:
        ready = selector.poll(TIMEOUT)
        if not ready:
            raise WrongAnswer(f"no answer for {TIMEOUT:g} seconds")
        for number, _ in ready:
            exchange = running[number]
            data = found[number] + streams[number].recv(_CHUNK)
            if len(data) < len(exchange.answer) and not _has_error(data):
                found[number] = data
                continue
            now = clock()
            taken.append(now - started[number])
            _check(data, exchange)
            found[number] = b""
            following = next(waiting[number], None)
            if following is None:
                selector.unregister(number)
                left -= 1
                continue
            running[number], started[number] = following, now
            streams[number].sendall(following.request)
    return taken


def _check(found: bytes, exchange: Exchange) -> None:
    if found != exchange.answer:
        raise WrongAnswer(f"the answer is {found!r}, not {exchange.answer!r}")
