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
        rest = memoryview(data)
        try:
            while True:
                try:
                    self.parser.feed_data(rest)
                    return
                except httptools.HttpParserUpgrade as upgrade:
                    rest = rest[upgrade.args[0] :]
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
        super().on_message_begin()
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(b": \r\n") + len(value))
        if len(self.headers) >= _HEADERS:
            self._stop(
                Problem(431, code="head_too_large", detail=f"the request has more than {_HEADERS} headers")
            )
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def _count(self, size: int) -> None:
        """Counts what the parser has found in the head, for a head may arrive as a whole."""
        self._head_bytes += size
        if self._head_bytes > self.limits.head_bytes:
            self._stop(self.large_head())

    def _stop(self, refusal: Problem) -> None:
        """Makes the parser end with this refusal."""
        self.refusal = refusal
        raise ValueError(refusal.detail)

    def complete_scope(self) -> None:
        """Puts what the parser knows of the request into its scope."""
        scope, version, url = self.scope, self.parser.get_http_version(), httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        scope["method"] = self.parser.get_method().decode("ascii")
        scope["http_version"] = version
        scope["path"] = unquote(path) if "%" in path else path
        scope["raw_path"] = url.path
        scope["query_string"] = url.query or b""

    def large_head(self) -> Problem:
        return Problem(
            431,
            code="head_too_large",
            detail=f"the request's head has more than {self.limits.head_bytes} bytes",
            hint="send long data in the body",
        )
