"""Heads of requests: their limits while they are parsed, and upgrades, which are ignored, as HTTP/1.1 allows.

The server's parser ends at the head of a request that asks for an upgrade, and would lose its body and what
comes behind it. Another parser gets the head without the upgrade, and continues with the rest.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.errors import Problem
from service.settings.connection_limits import ConnectionLimits

_HEADERS = 100
"""The most headers of a request, trailers included."""
_AROUND = len(b": \r\n")
"""The bytes of a header that are neither in its name nor in its value."""


class ParsedHeads(HttpToolsProtocol):
    """A connection whose parser reads all of its requests. CONNECT is one like any other, without an upgrade.

    `refusal` is the problem of a head that has stopped the parser, if it is HTTP.
    """

    limits: ConnectionLimits

    def __init__(self, *server: Any, **options: Any) -> None:
        super().__init__(*server, **options)
        self._head_bytes = 0
        self.refusal: Problem | None = None

    def parse(self, data: bytes) -> None:
        """Parses what has arrived. Calls `send_400_response` if that is no request."""
        rest: bytes | memoryview = data
        try:
            while True:
                try:
                    self.parser.feed_data(rest)
                    return
                except httptools.HttpParserUpgrade as upgrade:
                    rest = memoryview(rest)[upgrade.args[0] :]
                    head = self._head_without_upgrade() if self.will_be_parsed_again() else b""
                    self.parser = httptools.HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                    if head:
                        self.parser.feed_data(head)
        except httptools.HttpParserError as error:
            self.send_400_response(str(error))

    def will_be_parsed_again(self) -> bool:
        """Whether the parser ends at this head, and another gets it."""
        return bool(self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT")

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        return b"".join([*lines, b"\r\n"])

    def on_message_begin(self) -> None:
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self.url += url
        self._head_bytes += len(url)
        if self._head_bytes > self.limits.head_bytes:  # it may arrive as a whole
            self._stop(self.large_head())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + _AROUND + len(value)
        if self._head_bytes > self.limits.head_bytes:
            self._stop(self.large_head())
        if len(self.headers) >= _HEADERS:
            self._stop(
                Problem(431, code="head_too_large", detail=f"the request has more than {_HEADERS} headers")
            )
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def _stop(self, refusal: Problem) -> None:
        """Makes the parser end with this refusal."""
        self.refusal = refusal
        raise ValueError(refusal.detail)

    def make_scope(self) -> None:
        """Makes the scope of the request whose head the parser has found."""
        url = httptools.parse_url(self.url)
        raw_path = url.path
        path = raw_path.decode("ascii")
        self.scope = {  # type: ignore[typeddict-item]
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": self.parser.get_http_version(),
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": self.parser.get_method().decode("ascii"),
            "root_path": self.root_path,
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": url.query or b"",
            "headers": self.headers,
            "state": self.app_state.copy(),
        }

    def large_head(self) -> Problem:
        return Problem(
            431,
            code="head_too_large",
            detail=f"the request's head has more than {self.limits.head_bytes} bytes",
            hint="send long data in the body",
        )
