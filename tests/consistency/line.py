"""A connection that is kept: one request at a time, answers as they come."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import orjson

JSON = "application/json"
NDJSON = "application/x-ndjson"
_TIMEOUT = 120.0


class Refused(Exception):
    """The service answers with something else than success."""


class Line:
    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def post(self, path: str, body: object) -> dict:
        return orjson.loads(self._answer("POST", path, {"Content-Type": JSON}, orjson.dumps(body))[0])

    def get(self, path: str) -> dict:
        return orjson.loads(self._answer("GET", path, {})[0])

    def lines(self, path: str) -> tuple[int, list[dict]]:
        """The epoch and the objects of an NDJSON answer."""
        body, epoch = self._answer("GET", path, {"Accept": NDJSON})
        return epoch, [orjson.loads(line) for line in body.splitlines()]

    def sql(self, text: str) -> list[dict]:
        return self.post("/v1/sql", {"sql": text})["results"]

    def feed(self, path: str) -> Iterator[tuple[int, list[dict]]]:
        """The epochs and changes of an event stream, until the service ends."""
        self._connection.request("GET", path, headers={"Accept": "text/event-stream"})
        response = self._connection.getresponse()
        epoch = 0
        for line in response:
            if line.startswith(b"id: "):
                epoch = int(line[4:])
            elif line.startswith(b"data: "):
                yield epoch, orjson.loads(line[6:])

    def _answer(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[bytes, int]:
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise Refused(f"{method} {path}: {response.status} {content[:300]!r}")
        return content, int(response.headers.get("Freshet-Epoch", 0))
