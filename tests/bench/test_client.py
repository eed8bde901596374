"""The measuring client against a small threaded server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.client import BadResponse, drive, post


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = (409, b"no") if body == b"refuse" else (200, b"a" * 70_000)
        self.server.received.append((self.path, self.headers["Content-Type"], body))  # type: ignore[attr-defined]
        self.server.peers.add(self.client_address)  # type: ignore[attr-defined]
        self.send_response(status)
        if self.path != "/endless":
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        else:
            self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.received = []  # type: ignore[attr-defined]
        running.peers = set()  # type: ignore[attr-defined]
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("clients", [1, 4])
def test_every_request_is_sent_once_over_kept_connections(server: ThreadingHTTPServer, clients: int) -> None:
    bodies = [str(number).encode() for number in range(25)]
    durations = drive(server.server_address, [post("/a", body, "text/plain") for body in bodies], clients)
    assert len(durations) == 25
    assert min(durations) > 0
    assert sorted(server.received) == sorted(("/a", "text/plain", body) for body in bodies)
    assert len(server.peers) == clients


def test_a_body_larger_than_the_socket_takes_at_once(server: ThreadingHTTPServer) -> None:
    body = b"x" * 20_000_000
    assert len(drive(server.server_address, [post("/a", body, "text/plain")], 1)) == 1
    assert server.received[0][2] == body


def test_more_clients_than_requests(server: ThreadingHTTPServer) -> None:
    assert len(drive(server.server_address, [post("/a", b"", "text/plain")] * 2, 8)) == 2


def test_an_error_ends_the_run(server: ThreadingHTTPServer) -> None:
    with pytest.raises(BadResponse, match="409"):
        drive(server.server_address, [post("/a", b"refuse", "text/plain")], 1)


def test_a_response_without_a_length_ends_the_run(server: ThreadingHTTPServer) -> None:
    with pytest.raises(BadResponse, match="without a length"):
        drive(server.server_address, [post("/endless", b"", "text/plain")], 1)
