"""The door of the service under attack, as a client sees it."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from types import MappingProxyType

import httpx
import orjson

JSON = "application/json"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Reply:
    """An answer: its status, the code of its problem, and the first of its bytes. Status 0 is no answer."""

    status: int
    code: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.status or 'none'} {self.code}".rstrip()


SILENCE = "no_answer"
"""The code of a request that got no answer in time."""
CLOSED = "closed"
"""The code of a request whose connection was closed without an answer."""


@dataclass(frozen=True)
class Door:
    """Requests to the service at a port; none waits longer than `patience` seconds."""

    port: int
    patience: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(self, method: str, path: str, **options: object) -> Reply:
        options = {"timeout": self.patience} | options
        try:
            with httpx.Client(base_url=self.url, verify=False, trust_env=False) as client:
                return reply_of(client.request(method, path, **options))  # type: ignore[arg-type]
        except httpx.TimeoutException:
            return Reply(0, SILENCE)
        except httpx.TransportError as error:
            return Reply(0, CLOSED, repr(error))

    def get(self, path: str, **parameters: object) -> Reply:
        return self.request("GET", path, params=parameters)

    def post(self, path: str, body: bytes, type: str = JSON, headers: Mapping[str, str] = NOTHING) -> Reply:
        given = {"Content-Type": type, **headers}
        return self.request("POST", path, content=body, headers={k: v.encode() for k, v in given.items()})

    def sql(self, text: str, dialect: str = "postgres") -> Reply:
        return self.post("/v1/sql", orjson.dumps({"sql": text, "dialect": dialect}))

    def view(self, name: str, text: str, dialect: str = "postgres") -> Reply:
        return self.post("/v1/views", orjson.dumps({"name": name, "sql": text, "dialect": dialect}))

    def prepare(self, *statements: str) -> None:
        """Runs what an attack needs. Raises AssertionError if it is refused."""
        for statement in statements:
            reply = self.sql(statement)
            assert reply.status == 200, (reply, reply.text)

    def connect(self, seconds: float | None = None) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds or self.patience)

    def raw(self, *pieces: bytes) -> Reply:
        """The answer to bytes as they are, whatever they are."""
        with closing(self.connect()) as connection:
            with suppress(ConnectionError, TimeoutError):
                for piece in pieces:
                    connection.sendall(piece)
            return answer(connection)


def reply_of(response: httpx.Response) -> Reply:
    text = response.text[:300]
    if response.headers.get("content-type") != "application/problem+json":
        return Reply(response.status_code, "", text)
    return Reply(response.status_code, response.json()["code"], text)


def answer(connection: socket.socket) -> Reply:
    """The first answer on a connection, as far as it comes."""
    received = b""
    try:
        while not _is_whole(received) and (piece := connection.recv(65536)):
            received += piece
    except TimeoutError:
        if not received:
            return Reply(0, SILENCE)
    except ConnectionError:
        pass
    head, _, body = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/"):
        return Reply(0, CLOSED)
    code = ""
    if b"application/problem+json" in head:
        with suppress(orjson.JSONDecodeError, KeyError):
            code = orjson.loads(body)["code"]
    return Reply(int(head.split()[1]), code, body[:300].decode(errors="replace"))


def _is_whole(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return bool(end) and len(body) >= int(line.partition(b":")[2])
    return False


def distinct(replies: Iterable[Reply]) -> Sequence[Reply]:
    """One reply of each status and code."""
    return list({(reply.status, reply.code): reply for reply in replies}.values())
