"""Connections: too many, too slow, gone too early, and bytes that are not HTTP."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import ExitStack, closing, suppress

import orjson

from tests.hostile.attack import CUT, REFUSED, Attack, Send, attack
from tests.hostile.door import CLOSED, Door, Reply, answer
from tests.service.waiting import wait_until

HOST = b"Host: localhost\r\n"
_JSON = b"Content-Type: application/json\r\n"
_POST = b"POST /v1/tables/h_one/deltas HTTP/1.1\r\n" + HOST + _JSON
_SQL = b"POST /v1/sql HTTP/1.1\r\n" + HOST + _JSON
_GET = b"GET /healthz HTTP/1.1\r\n" + HOST
_HTTP = frozenset({400, 404, 405, 408, 411, 413, 415, 421, 422, 431, 501, 505})
_SLOW_QUERY = "SELECT count(*), sum(a.a * b.a % 7) FROM h_big AS a CROSS JOIN h_big AS b"


def _raw(*pieces: bytes) -> Send:
    return lambda door: [door.raw(*pieces)]


def _script(text: str) -> bytes:
    body = orjson.dumps({"sql": text})
    return _SQL + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _drip(head: bytes, piece: bytes, every: float, count: int) -> Send:
    """A piece at a time, until there is an answer."""

    def send(door: Door) -> list[Reply]:
        with closing(door.connect()) as connection:
            connection.sendall(head)
            with suppress(ConnectionError):
                for _ in range(count):
                    connection.sendall(piece)
                    connection.settimeout(every)
                    with suppress(TimeoutError):
                        if connection.recv(1, socket.MSG_PEEK):
                            break
            connection.settimeout(door.patience)
            return [answer(connection)]

    return send


def _healthy(door: Door) -> list[Reply]:
    return [door.get("/v1/status"), door.get("/v1/views/canary/rows", limit=1)]


def _idle(door: Door) -> list[Reply]:
    """2,000 connections: those beyond the limit are told so; then they go, and there is room again."""
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(door.connect())) for _ in range(2000)]
        last = answer(opened[-1])
    assert last.code == "too_many_connections", last
    wait_until(lambda: door.get("/healthz").status == 200, door.patience)
    return _healthy(door)


def _feeds(door: Door) -> list[Reply]:
    """300 event streams of a view that changes all the time; nobody reads them."""
    request = (
        b"GET /v1/views/canary/changes?since=0 HTTP/1.1\r\nAccept: text/event-stream\r\n" + HOST + b"\r\n"
    )
    with ExitStack() as stack:
        for _ in range(300):
            connection = stack.enter_context(closing(door.connect()))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request)
        time.sleep(5)
        return _healthy(door)


def _unread(door: Door) -> list[Reply]:
    """Clients that ask for large answers and read a byte now and then."""
    request = b"GET /v1/tables/h_big/rows HTTP/1.1\r\nAccept: application/x-ndjson\r\n" + HOST + b"\r\n"
    with ExitStack() as stack:
        readers = []
        for _ in range(50):
            connection = stack.enter_context(closing(door.connect()))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request)
            readers.append(connection)
        for _ in range(3):
            time.sleep(1)
            for reader in readers:
                reader.recv(1)
        return _healthy(door)


def _leave(sent: bytes, times: int, patience: float) -> Send:
    """Clients that end their connections with a reset."""

    def send(door: Door) -> list[Reply]:
        for _ in range(times):
            connection = door.connect()
            connection.sendall(sent)
            time.sleep(patience)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        return _healthy(door)

    return send


def _leave_a_view(door: Door) -> list[Reply]:
    body = orjson.dumps(
        {"name": "h", "sql": "SELECT a.a, b.b FROM h_big AS a JOIN h_big AS b ON b.a = a.a + 1"}
    )
    head = b"POST /v1/views HTTP/1.1\r\n" + HOST + _JSON + b"Content-Length: %d\r\n\r\n" % len(body)
    return _leave(head + body, 1, 0.05)(door)


def _pipelined(door: Door) -> list[Reply]:
    """1,000 requests in one piece: each is answered, in order."""
    with closing(door.connect()) as connection:
        connection.sendall((b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n") * 1000)
        received, count = b"", 0
        connection.settimeout(door.patience)
        try:
            while count < 1000 and (piece := connection.recv(65536)):
                received += piece
                count = received.count(b"HTTP/1.1 200")
        except (TimeoutError, ConnectionError):
            pass
    return [Reply(200)] if count == 1000 else [Reply(0, CLOSED, f"{count} of 1000 answers")]


def _flood(door: Door) -> list[Reply]:
    """Headers without an end, from 50 clients."""
    replies = []
    for _ in range(50):
        with closing(door.connect()) as connection:
            with suppress(ConnectionError):
                connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST)
                for _ in range(100):
                    connection.sendall(b"X: y\r\n" * 1000)
            replies.append(answer(connection))
    return replies


_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n"

ATTACKS: tuple[Attack, ...] = (
    attack(
        "slow: a head a byte a second",
        _drip(_GET + b"X: ", b"y", 1.0, 30),
        {408, CUT},
        "request_timeout",
        CLOSED,
        is_brief=True,
    ),
    attack(
        "slow: a body a byte a second",
        _drip(_POST + b"Content-Length: 1000\r\n\r\n", b" ", 1.0, 30),
        {408},
        "request_timeout",
        is_brief=True,
    ),
    attack(
        "slow: a body without an end",
        _drip(_POST + b"Content-Length: 100000000\r\n\r\n", b" " * 100_000, 0.2, 200),
        {408},
        "request_timeout",
    ),
    attack("slow: 50 readers of large answers", _unread, {200}, is_brief=True),
    attack("slow: 300 feeds that nobody reads", _feeds, {200}),
    attack("many: 2,000 idle connections", _idle, {200}, is_brief=True),
    attack("many: 1,000 requests in one piece", _pipelined, {200}, is_brief=True),
    attack("many: headers without an end", _flood, {431, CUT}, "head_too_large", CLOSED),
    attack(
        "gone: in the middle of a body",
        _leave(_POST + b"Content-Length: 100000000\r\n\r\n" + b" " * 1_000_000, 20, 0.02),
        {200},
        is_brief=True,
    ),
    attack(
        "gone: in the middle of a SELECT",
        _leave(_script(_SLOW_QUERY), 20, 0.05),
        {200},
    ),
    attack("gone: in the middle of CREATE VIEW", _leave_a_view, {200}, is_brief=True),
    attack(
        "gone: in the middle of an INSERT",
        _leave(
            _script("CREATE TABLE h (a BIGINT); INSERT INTO h SELECT * FROM generate_series(1, 1000000)"),
            1,
            0.3,
        ),
        {200},
    ),
    attack(
        "gone: in the middle of an answer",
        _leave(
            b"GET /v1/tables/h_big/rows HTTP/1.1\r\nAccept: application/x-ndjson\r\n" + HOST + b"\r\n",
            50,
            0.01,
        ),
        {200},
        is_brief=True,
    ),
    attack("HTTP: version 1.0", _raw(b"GET /healthz HTTP/1.0\r\n\r\n"), {200}, is_brief=True),
    attack(
        "HTTP: no version",
        _raw(b"GET /healthz\r\n\r\n"),
        _HTTP | {200, CUT},
        CLOSED,
        "bad_request",
        is_brief=True,
    ),
    attack(
        "HTTP: version 2",
        _raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        _HTTP | {CUT},
        CLOSED,
        "bad_request",
        is_brief=True,
    ),
    attack(
        "HTTP: TLS",
        _raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500),
        {400},
        "bad_request",
        is_brief=True,
    ),
    attack(
        "HTTP: chunks that are none",
        lambda door: [
            door.raw(_CHUNKED + b"zz\r\n"),
            door.raw(_CHUNKED + b"-1\r\n\r\n"),
            door.raw(_CHUNKED + b"ffffffffffffffffff\r\n"),
            door.raw(_CHUNKED + b"1\r\n[ \r\n0\r\n\r\n"),
            door.raw(_CHUNKED + b"1;" + b"x" * 70_000),
        ],
        _HTTP | {CUT},
        CLOSED,
        "bad_request",
        "head_too_large",
        "invalid_json",
        "request_timeout",
        is_brief=True,
    ),
    attack(
        "HTTP: two lengths",
        lambda door: [
            door.raw(_POST + b"Content-Length: 2\r\nContent-Length: 20\r\n\r\n[]"),
            door.raw(
                _POST
                + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"
            ),
            door.raw(_POST + b"Content-Length: -2\r\n\r\n[]"),
            door.raw(_POST + b"Content-Length: 99999999999999999999999\r\n\r\n[]"),
        ],
        _HTTP | {CUT},
        is_brief=True,
    ),
    attack("HTTP: two hosts", _raw(_GET + b"Host: evil\r\n\r\n"), {400, 421}, is_brief=True),
    attack(
        "HTTP: another host",
        _raw(b"GET /v1/status HTTP/1.1\r\nHost: evil\r\n\r\n"),
        {421},
        "unknown_host",
        is_brief=True,
    ),
    attack(
        "HTTP: odd targets",
        lambda door: [
            door.raw(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n")
            for target in (
                b"/" + b"a" * 60_000,
                b"/../../etc/passwd",
                b"/%00",
                b"/v1/tables/%ff%fe",
                b"http://evil/v1/status",
                b"*",
                b"/v1/views/" + b"%22" * 1000,
                b"/v1/status?" + b"a=1&" * 10_000,
                b"//v1/status",
                b"/v1/tables/..%2f..",
            )
        ],
        _HTTP | {200, CUT},
        is_brief=True,
    ),
    attack(
        "HTTP: odd methods",
        lambda door: [
            door.raw(method + b" /v1/status HTTP/1.1\r\n" + HOST + b"\r\n")
            for method in (b"BREW", b"TRACE", b"CONNECT", b"PROPFIND", b"get", b"G" * 5000)
        ],
        _HTTP | {CUT},
        CLOSED,
        "bad_request",
        "method_not_allowed",
        "no_such_route",
        is_brief=True,
    ),
    attack(
        "HTTP: an upgrade",
        _raw(_GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n"),
        {200, 426},
        is_brief=True,
    ),
    attack(
        "HTTP: control bytes in headers",
        lambda door: [
            door.raw(_GET + b"X: a\x00b\r\n\r\n"),
            door.raw(_GET + b"X: a\rb\r\n\r\n"),
            door.raw(_GET + b"X\x01: a\r\n\r\n"),
            door.raw(_GET + b"Accept: \xff\xfe\r\n\r\n"),
        ],
        _HTTP | {200, CUT},
        is_brief=True,
    ),
    attack(
        "HTTP: a body of GET and of DELETE",
        lambda door: [
            door.request("GET", "/v1/status", content=b"x" * 1_000_000),
            door.request("DELETE", "/v1/views/nosuch", content=b"[" * 1_000_000),
        ],
        {200} | REFUSED | {404},
        is_brief=True,
    ),
)
