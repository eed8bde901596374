"""An HTTP client for measuring: prepared requests over persistent connections, one thread, almost no parsing.

A connection has at most one request in progress. A response must be 200 and have its length (no chunks).
Nothing waits longer than `TIMEOUT` for a response.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

TIMEOUT = 60.0
CHUNK = 1 << 16
HEAD_END = b"\r\n\r\n"


class BadResponse(Exception):
    """A response that is not 200, has no length, or never came."""


@dataclass
class _Connection:
    socket: socket.socket
    outgoing: memoryview = field(default_factory=lambda: memoryview(b""))
    incoming: bytearray = field(default_factory=bytearray)
    started: int = 0
    expected: int | None = None


def post(path: str, body: bytes, content_type: str) -> bytes:
    """The bytes of a POST request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def drive(address: tuple[str, int], requests: Sequence[bytes], clients: int) -> list[int]:
    """Send every request once, over `clients` connections; returns nanoseconds by response, in order of
    arrival.

    Raises BadResponse at the first unexpected response.
    """
    waiting = iter(requests)
    durations: list[int] = []
    with selectors.DefaultSelector() as selector:
        try:
            for request in _first(waiting, clients):
                stream = socket.create_connection(address, timeout=TIMEOUT)
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                stream.setblocking(False)
                connection = _Connection(stream)
                selector.register(stream, selectors.EVENT_READ, connection)
                _send(selector, connection, request)
            while len(durations) < len(requests):
                _step(selector, waiting, durations)
        finally:
            for key in list(selector.get_map().values()):
                key.data.socket.close()
    return durations


def _first(waiting: Iterator[bytes], count: int) -> Iterator[bytes]:
    for _, request in zip(range(count), waiting, strict=False):
        yield request


def _step(selector: selectors.BaseSelector, waiting: Iterator[bytes], durations: list[int]) -> None:
    ready = selector.select(TIMEOUT)
    if not ready:
        raise BadResponse(f"no response for {TIMEOUT:g} seconds")
    for key, events in ready:
        connection = key.data
        if events & selectors.EVENT_WRITE:
            _continue(selector, connection)
        if events & selectors.EVENT_READ and _receive(connection):
            durations.append(time.perf_counter_ns() - connection.started)
            following = next(waiting, None)
            if following is None:
                selector.unregister(connection.socket)
                connection.socket.close()
            else:
                _send(selector, connection, following)


def _send(selector: selectors.BaseSelector, connection: _Connection, request: bytes) -> None:
    connection.started = time.perf_counter_ns()
    connection.outgoing = memoryview(request)
    _continue(selector, connection)


def _continue(selector: selectors.BaseSelector, connection: _Connection) -> None:
    """Send what the socket takes, and ask to be called again while bytes are left."""
    try:
        sent = connection.socket.send(connection.outgoing)
    except BlockingIOError:
        sent = 0
    connection.outgoing = connection.outgoing[sent:]
    events = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.outgoing else 0)
    if selector.get_key(connection.socket).events != events:
        selector.modify(connection.socket, events, connection)


def _receive(connection: _Connection) -> bool:
    """Receive bytes; returns whether the response is complete."""
    received = connection.socket.recv(CHUNK)
    if not received:
        raise BadResponse("the connection was closed before its response was complete")
    connection.incoming += received
    if connection.expected is None:
        connection.expected = _length(connection.incoming)
    if connection.expected is None or len(connection.incoming) < connection.expected:
        return False
    if not connection.incoming.startswith(b"HTTP/1.1 200 "):
        raise BadResponse(connection.incoming.decode(errors="replace"))
    connection.incoming.clear()
    connection.expected = None
    return True


def _length(incoming: bytearray) -> int | None:
    """The length of head and body, once the head has arrived."""
    end = incoming.find(HEAD_END)
    if end < 0:
        return None
    for line in bytes(incoming[:end]).lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return end + len(HEAD_END) + int(value)
    raise BadResponse(f"a response without a length: {bytes(incoming[:end])!r}")
