"""A service in this process whose PostgreSQL door is open on a free port."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.generators import execute
from psycopg.pq.abc import PGresult

from service.settings.settings import Settings
from tests.service.client import Client


class PostgresDoor(Client):
    def __init__(self, settings: Settings, certificate: Callable[[], ssl.SSLContext] | None = None) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.postgres_port = listening.getsockname()[1]
        self._raws: list[Raw] = []
        super().__init__(settings, postgres=listening, certificate=certificate)

    def connect(self, **options: Any) -> psycopg.Connection:
        """A connection of psycopg, in autocommit unless an option says otherwise."""
        options = {"user": "tester", "autocommit": True, "connect_timeout": 240, **options}
        return psycopg.connect(host="127.0.0.1", port=self.postgres_port, dbname="freshet", **options)

    def raw(self) -> Raw:
        """A client that is closed with the service at the latest."""
        self._raws.append(Raw(self.postgres_port))
        return self._raws[-1]

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for raw in self._raws:
            raw.close()


class Raw:
    """A client that speaks the protocol by hand, so that it can say anything."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 240)
        self._rest = b""

    def start(self, minor: int = 0, **parameters: str) -> list[tuple[bytes, bytes]]:
        """Starts a session; the messages up to the first ReadyForQuery, or an error."""
        given = {"user": "tester", "database": "freshet", **parameters}
        body = b"".join(f"{name}\0{value}\0".encode() for name, value in given.items()) + b"\0"
        self.startup(struct.pack("!i", 3 << 16 | minor) + body)
        return self.until(b"Z", b"E")

    def startup(self, body: bytes) -> None:
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)

    def send(self, type: bytes, body: bytes = b"") -> None:
        self.socket.sendall(framed(type, body))

    def message(self) -> tuple[bytes, bytes] | None:
        """The next message; None at the end."""
        head = self._exactly(5)
        if head is None:
            return None
        (size,) = struct.unpack("!i", head[1:])
        body = self._exactly(size - 4)
        return None if body is None else (head[:1], body)

    def until(self, *types: bytes) -> list[tuple[bytes, bytes]]:
        """The messages up to one of these types, or the end."""
        found: list[tuple[bytes, bytes]] = []
        while (message := self.message()) is not None:
            found.append(message)
            if message[0] in types:
                break
        return found

    def query(self, sql: str) -> list[tuple[bytes, bytes]]:
        self.send(b"Q", sql.encode() + b"\0")
        return self.until(b"Z")

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, size: int) -> bytes | None:
        while len(self._rest) < size:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self._rest += more
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def framed(type: bytes, body: bytes = b"") -> bytes:
    return type + struct.pack("!i", len(body) + 4) + body


def fields(body: bytes) -> dict[str, str]:
    """The fields of an ErrorResponse or NoticeResponse, by letter."""
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


def errors(messages: list[tuple[bytes, bytes]]) -> list[str]:
    """The SQLSTATEs of the errors."""
    return [fields(body)["C"] for type, body in messages if type == b"E"]


def tags(messages: list[tuple[bytes, bytes]]) -> list[str]:
    return [body.rstrip(b"\0").decode() for type, body in messages if type == b"C"]


def asked(connection: psycopg.Connection, call: str, *arguments: Any) -> PGresult:
    """The result of one of libpq's calls: of `send_query` and those like it. Libpq's calls that wait would
    stop the service too, which is in this process."""
    getattr(connection.pgconn, call)(*arguments)
    return connection.wait(execute(connection.pgconn))[-1]


@contextmanager
def refused(sqlstate: str) -> Iterator[None]:
    """Fails unless the context raises an error of this SQLSTATE."""
    try:
        yield
    except psycopg.Error as error:
        assert error.sqlstate == sqlstate, f"{error.sqlstate}: {error}"
    else:
        raise AssertionError(f"no error {sqlstate}")
