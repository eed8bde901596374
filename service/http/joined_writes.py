"""A transport that joins the small writes of one turn of the event loop.

So an answer's head and its body leave in one call of the system, and arrive as one packet.
"""

from __future__ import annotations

import asyncio
from typing import Any

_LARGE = 1 << 13
"""Bytes that are written at once, with all that was held before them."""


class JoinedWrites:
    """Everything but writing is the transport's own; what is held is written before the end."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._held and len(data) < _LARGE:
            self._loop.call_soon(self._flush)
        self._held.append(data)
        self._size += len(data)
        if self._size >= _LARGE:
            self._flush()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        return self._size + self._transport.get_write_buffer_size()

    def _flush(self) -> None:
        if self._held:
            data = b"".join(self._held)
            self._held.clear()
            self._size = 0
            if not self._transport.is_closing():  # a client that has left gets no more
                self._transport.write(data)
