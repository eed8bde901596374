"""Connections of clients that send too much, too slowly, or leave: raw sockets against a service process."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests.service.client import Process
from tests.service.waiting import wait_until

LIMITS = {
    "FRESHET_HEAD_SECONDS": "1",
    "FRESHET_PAUSE_SECONDS": "1",
    "FRESHET_BODY_SECONDS": "4",
    "FRESHET_CONNECTIONS": "30",
    "FRESHET_LOG_LEVEL": "info",
}
HOST = b"Host: localhost\r\n"
POST = b"POST /v1/tables/t/deltas HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    process = Process(tmp_path_factory.mktemp("service") / "data", LIMITS)
    try:
        process.wait_ready()
        sql = (
            "CREATE TABLE t (a BIGINT); INSERT INTO t SELECT generate_series FROM generate_series(1, 200000)"
        )
        assert httpx.post(f"{process.url}/v1/sql", json={"sql": sql}, timeout=240).status_code == 200
        yield process
        written = process.finish()
        assert "Traceback" not in written, written
        said = [line for line in written.splitlines() if "client left" in line]
        assert 4 <= len(said) <= 40, written
    finally:
        process.kill()


def connect(service: Process) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=240)


def answer(connection: socket.socket) -> tuple[int, dict]:
    """The status and the problem that a connection answers before it closes."""
    received = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    assert head, "closed without an answer"
    assert b"connection: close" in head.lower()
    return int(head.split()[1]), json.loads(body)


def flood(connection: socket.socket, piece: bytes, most: int) -> int:
    """Sends a piece over and over, until the service has enough; how many bytes went."""
    sent = 0
    with suppress(ConnectionError):
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
    return sent


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"GET /", b"x" * 10_000),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: ", b"x" * 10_000),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X", b"x" * 10_000),
        (b"GET / HTTP/1.1\r\n" + HOST, b"X: y\r\n" * 1000),
        (b"", b"\r\n" * 5_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n0\r\nX: ", b"x" * 10_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 10_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n0\r\n", b"X: y\r\n" * 1000),
    ],
    ids=["url", "value", "name", "headers", "lines", "trailer", "extension", "trailers"],
)
def test_a_head_that_does_not_end(service: Process, first: bytes, piece: bytes) -> None:
    with closing(connect(service)) as connection:
        connection.sendall(first)
        sent = flood(connection, piece, 80_000_000)
        assert sent < 40_000_000  # what the kernels' buffers hold, and what came while the client lingered
    assert httpx.get(f"{service.url}/healthz", timeout=240).status_code == 200


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_a_large_head_is_told_so(service: Process, size: int) -> None:
    with closing(connect(service)) as connection:
        with suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"x" * size)
        status, problem = answer(connection)
        assert (status, problem["code"]) == (431, "head_too_large")


def test_many_headers_are_told_so(service: Process) -> None:
    with closing(connect(service)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 200 + b"\r\n")
        status, problem = answer(connection)
        assert (status, problem["code"]) == (431, "head_too_large")
    headers = [("X", "y")] * 60
    assert httpx.get(f"{service.url}/healthz", timeout=240, headers=headers).status_code == 200


def drip(connection: socket.socket, pieces: Iterator[bytes], every: float) -> tuple[float, int, dict]:
    """Sends a piece at a time until there is an answer: the seconds until then, and what it is."""
    began = time.monotonic()
    for piece in pieces:
        try:
            connection.sendall(piece)
            connection.settimeout(every)
            if connection.recv(1, socket.MSG_PEEK):
                break
        except TimeoutError:
            pass
    connection.settimeout(240)
    return time.monotonic() - began, *answer(connection)


def test_a_head_that_comes_slowly(service: Process) -> None:
    head = b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 1000
    with closing(connect(service)) as connection:
        seconds, status, problem = drip(connection, (head[i : i + 1] for i in range(len(head))), 0.1)
    assert (status, problem["code"]) == (408, "request_timeout")
    assert seconds > 0.5


def test_a_body_that_comes_slowly(service: Process) -> None:
    with closing(connect(service)) as connection:
        connection.sendall(POST + b"Content-Length: 1000\r\n\r\n")
        seconds, status, problem = drip(connection, (b" " for _ in range(1000)), 0.1)
    assert (status, problem["code"]) == (408, "request_timeout")
    assert seconds > 0.5


def test_a_body_that_takes_too_long(service: Process) -> None:
    """It goes on fast enough, and does not end."""
    with closing(connect(service)) as connection:
        connection.sendall(POST + b"Content-Length: 100000000\r\n\r\n")
        seconds, status, problem = drip(connection, (b" " * 100_000 for _ in range(200)), 0.1)
    assert (status, problem["code"]) == (408, "request_timeout")
    assert seconds > 3


@pytest.mark.parametrize("path", [b"/v1/tables/t/deltas", b"/v1/sql"])
def test_a_body_that_will_be_too_large_is_not_asked_for(service: Process, path: bytes) -> None:
    with closing(connect(service)) as connection:
        head = POST.replace(b"/v1/tables/t/deltas", path)
        connection.sendall(head + b"Expect: 100-continue\r\nContent-Length: 10000000000\r\n\r\n")
        status, problem = answer(connection)
        assert (status, problem["code"]) == (413, "too_large")


def test_a_body_that_is_not_slow_takes_its_time(service: Process) -> None:
    with closing(connect(service)) as connection:
        connection.sendall(POST + b"Content-Length: 500003\r\nConnection: close\r\n\r\n[")
        for _ in range(5):
            connection.sendall(b" " * 100_000)
            time.sleep(0.4)
        connection.sendall(b"1]")
        assert answer(connection)[0] == 422


def test_a_stall_of_the_service_is_not_the_clients(service: Process) -> None:
    """The rest of the head came in time, and nobody was there to read it."""
    with closing(connect(service)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        os.kill(service.pid, signal.SIGSTOP)
        try:
            connection.sendall(HOST + b"Connection: close\r\n")
            time.sleep(2 * int(LIMITS["FRESHET_HEAD_SECONDS"]))
            connection.sendall(b"\r\n")
        finally:
            os.kill(service.pid, signal.SIGCONT)
        head = connection.recv(65536)
        assert head.startswith(b"HTTP/1.1 200"), head


def test_a_connection_that_says_nothing(service: Process) -> None:
    with closing(connect(service)) as connection:
        assert connection.recv(1) == b""


def test_a_second_request_has_its_own_time(service: Process) -> None:
    with closing(connect(service)) as connection:
        for _ in range(3):
            connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
            while not connection.recv(65536).endswith(b"}"):
                pass
            time.sleep(0.7)
        connection.sendall(b"GET /hea")
        status, problem = answer(connection)
        assert (status, problem["code"]) == (408, "request_timeout")


def test_what_is_not_http(service: Process) -> None:
    with closing(connect(service)) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert answer(connection)[0] == 400


def test_an_upgrade_is_answered_as_it_is(service: Process) -> None:
    with closing(connect(service)) as connection:
        upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n"
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + upgrade)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_connections_are_bounded(service: Process) -> None:
    held = [connect(service) for _ in range(40)]
    try:
        status, problem = answer(held[-1])
        assert (status, problem["code"]) == (503, "too_many_connections")
    finally:
        for connection in held:
            connection.close()

    def answers() -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{service.url}/healthz", timeout=240).status_code == 200
        return False

    wait_until(answers)


def leave(connection: socket.socket) -> None:
    """Ends a connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 1000\r\n\r\n[",
        POST + b"Content-Length: 100000000\r\n\r\n" + b" " * 1_000_000,
        b"POST /v1/sql HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        b"POST /v1/tables HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        b"GET /v1/tables/t/rows HTTP/1.1\r\nAccept: application/x-ndjson\r\n" + HOST + b"\r\n",
        b"GET /v1/tables/t/changes HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /v1/tables/t/changes?since=0 HTTP/1.1\r\nAccept: text/event-stream\r\n" + HOST + b"\r\n",
        b"GET /v1/tables/t/changes HTTP/1.1\r\nAccept: text/event-stream\r\n" + HOST + b"\r\n",
        b"GET /v1/tables/t/rows?limit=100000 HTTP/1.1\r\n" + HOST + b"\r\n",
    ],
    ids=["body", "large-body", "sql", "definition", "stream", "changes", "events", "waiting", "page"],
)
@pytest.mark.parametrize("patience", [0.0, 0.3])
def test_a_client_that_leaves(service: Process, sent: bytes, patience: float) -> None:
    """The fixture looks at the log when all is over."""
    connection = connect(service)
    connection.sendall(sent)
    time.sleep(patience)
    leave(connection)
    assert httpx.get(f"{service.url}/healthz", timeout=240).status_code == 200


def test_a_query_that_the_end_of_the_service_cuts_short_is_told_so(tmp_path: Path) -> None:
    """Half of the seconds of the end are for requests."""
    process = Process(tmp_path / "data", {"FRESHET_SHUTDOWN_SECONDS": "4"})
    sql = "SELECT count(*) AS n FROM range(9000000) AS t (a), range(9000000) AS s (b) WHERE a * b % 7 = 3"
    body = json.dumps({"sql": sql}).encode()
    try:
        process.wait_ready()
        with closing(connect(process)) as connection:
            head = POST.replace(b"/v1/tables/t/deltas", b"/v1/sql")
            connection.sendall(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            time.sleep(0.5)
            os.kill(process.pid, signal.SIGTERM)
            status, problem = answer(connection)
        assert (status, problem["code"]) == (503, "shutting_down")
        exit_code, written = process.wait(240)
        assert exit_code == 0 and "Traceback" not in written, written
    finally:
        process.kill()


def test_a_client_that_sends_no_more_gets_the_answer_that_is_complete(service: Process) -> None:
    for _ in range(20):
        with closing(connect(service)) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        assert received.startswith(b"HTTP/1.1 200 OK\r\n"), received
