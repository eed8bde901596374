"""Requests that ask for an upgrade: they are read as if they did not, as HTTP/1.1 allows.

The server's parser ends at the head of such a request, and would lose its body and what comes behind it.
Another parser gets the head without the upgrade, and continues with the rest.
"""

from __future__ import annotations

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class IgnoredUpgrades(HttpToolsProtocol):
    """A connection whose parser reads all of its requests. CONNECT has no path and is refused."""

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
                    head = self._head_without_upgrade()
                    self.parser = httptools.HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
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
