"""Request bodies: received up to the limit, decompressed, and processed where their size allows.

The event loop processes small bodies, a thread larger ones; the largest take turns in threads of their own,
so that readers do not wait for them. Decompression is part of the processing, so a waiting body is as small
as it was sent. The limit counts decompressed bytes, while they are decompressed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from service.errors import BadRequest, UnsupportedFormat
from service.http.header_fields import declared_length, field_of
from service.reading.lanes import Lane
from service.running.process_memory import LARGE, MemoryMark
from service.settings.budget import too_large

T = TypeVar("T")

INLINE = 1 << 15
"""The largest body, in bytes, that the event loop processes."""
TURNS = 2
"""Large bodies that are processed at a time, and others that are not processed by the event loop."""
_CODECS = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd"}


@dataclass(slots=True)
class Body:
    """A body as it was received. `codec` is its compression, None without one."""

    received: bytes
    codec: str | None
    limit: int

    def plain(self) -> bytes:
        """The decompressed body. Raises BadRequest or TooLarge."""
        return self.received if self.codec is None else _decompress(self.received, self.codec, self.limit)


async def receive(request: Request, limit: int) -> Body:
    """The whole body, which the gate keeps below the limit. Raises UnsupportedFormat before receiving it, and
    ClientDisconnect if the client leaves before its end."""
    given, codec = field_of(request.scope, b"content-encoding"), None
    encoding = "identity" if given is None else given.lower()
    if encoding != "identity":
        codec = _CODECS.get(encoding)
        if codec is None:
            raise UnsupportedFormat(f"content encoding {encoding[:100]} is not supported", "use gzip or zstd")
    parts = []
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return Body(b"".join(parts), codec, limit)


async def read_body(request: Request, limit: int, lane: Lane) -> bytes:
    """The whole body, decompressed in the lane. Raises TooLarge, BadRequest or UnsupportedFormat."""
    body = await receive(request, limit)
    return body.received if body.codec is None else await lane.run(body.plain)


def with_body_limit(request: Request, limit: int) -> Request:
    """The request with its own limit for the body: receiving more raises TooLarge."""
    received = 0

    async def receive() -> Message:
        nonlocal received
        if not received and declared_length(request.scope) > limit:
            raise too_large(limit, "FRESHET_SQL_LIMIT")
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise too_large(limit, "FRESHET_SQL_LIMIT")
        return message

    return Request(request.scope, receive)


class Turns:
    """Runs the processing of bodies, in lanes of their own. The app creates and closes it."""

    def __init__(self, memory: MemoryMark) -> None:
        self._memory = memory
        self._medium = Lane("bodies", TURNS)
        self._large = Lane("large-bodies", TURNS)

    async def work_on(self, body: Body, work: Callable[[], T], may_grow: bool = False) -> T:
        """Calls `work` here, in a thread, or in turn. `may_grow`: few bytes may be much work.

        Raises Unavailable for a body that may become large while there is no memory for it.
        """
        size = len(body.received)
        if size > INLINE and (body.codec is not None or may_grow):
            self._memory.check("a body that may grow")
        if body.codec is not None or may_grow or size > LARGE:
            return await self._large.run(work)
        return work() if size <= INLINE else await self._medium.run(work)

    def close(self) -> None:
        """Stops taking work. Work that has started runs to its end."""
        self._medium.close()
        self._large.close()


def _decompress(body: bytes, codec: str, limit: int) -> bytes:
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), codec) as stream:
            plain = stream.read(limit + 1)
    except (OSError, pa.ArrowException) as error:
        raise BadRequest(f"the body is not {codec}: {error}", code="invalid_encoding") from None
    if len(plain) > limit:
        raise too_large(limit)
    return plain
