"""Compressed answers: texts of some size, in zstd or gzip, as Accept-Encoding prefers.

A body that is whole is compressed at once, a stream piece by piece, so that no answer is in memory as a
whole. Small pieces are compressed by the event loop, others in a thread. Event streams stay as they are,
because each event has to leave at once; so do Arrow and Parquet, which are not texts.
"""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable
from functools import lru_cache

import pyarrow as pa
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.header_fields import field_of
from service.http.negotiation import EVENTS, qualities
from service.reading.lanes import Lane
from service.reading.piece_sink import PieceSink

LEAST = 2_048
"""The smallest body, or first piece of a stream, that is compressed, in bytes."""
INLINE = 1 << 15
"""The largest piece, in bytes, that the event loop compresses."""
_GZIP_LEVEL = 5
_VARY = (b"vary", b"Accept-Encoding")
_TEXTS = frozenset(
    {
        b"application/json",
        b"application/openmetrics-text",
        b"application/problem+json",
        b"application/x-ndjson",
    }
)


class Gzip:
    def __init__(self) -> None:
        self._stream = zlib.compressobj(_GZIP_LEVEL, wbits=16 + zlib.MAX_WBITS)

    def compress(self, piece: bytes, is_last: bool) -> bytes:
        """What is ready to be sent, maybe nothing; all that is left with the last piece."""
        ready = self._stream.compress(piece)
        return ready + self._stream.flush() if is_last else ready


class Zstd:
    """One frame."""

    def __init__(self) -> None:
        self._sink = PieceSink()
        self._stream = pa.CompressedOutputStream(pa.PythonFile(self._sink, "w"), "zstd")

    def compress(self, piece: bytes, is_last: bool) -> bytes:
        """As in `Gzip`."""
        self._stream.write(piece)
        if is_last:
            self._stream.close()
        return self._sink.take()


_CODINGS: dict[str, Callable[[], Gzip | Zstd]] = {"zstd": Zstd, "gzip": Gzip}
"""What we offer, the one that we prefer first."""


class Compression:
    """A bare ASGI layer, because every request passes it. Large pieces are compressed in the lane."""

    def __init__(self, app: ASGIApp, lane: Lane) -> None:
        self._app = app
        self._lane = lane

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            coding = wanted_coding(field_of(scope, b"accept-encoding") or "")
            send = _Compressed(send, coding, self._lane).send
        return self._app(scope, receive, send)


@lru_cache(64)
def wanted_coding(header: str) -> str | None:
    """The coding that an Accept-Encoding header prefers; None for the body as it is."""
    wishes = qualities(header)
    anything = wishes.get("*", 0.0)
    best = max(_CODINGS, key=lambda coding: wishes.get(coding, anything))
    quality = wishes.get(best, anything)
    return best if quality > 0 and quality >= wishes.get("identity", 0.0) else None


class _Compressed:
    """Sends an answer, compressed if it pays. Holds the start back until the body's beginning is known."""

    def __init__(self, send: Send, coding: str | None, lane: Lane) -> None:
        self._send = send
        self._coding = coding
        self._lane = lane
        self._start: Message | None = None
        self._stream: Gzip | Zstd | None = None
        self._held = b""

    def send(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            return self._begin(message)
        if message["type"] == "http.response.body" and (self._start or self._stream):
            return self._body(message.get("body", b""), not message.get("more_body", False))
        return self._send(message)

    async def _begin(self, start: Message) -> None:
        fields: dict[bytes, bytes] = dict(start["headers"])
        media_type = fields.get(b"content-type", b"").partition(b";")[0]
        if not _is_text(media_type) or b"content-encoding" in fields:
            await self._send(start)
            return
        start = {**start, "headers": _varied(start["headers"], b"vary" in fields)}
        if self._coding is None or int(fields.get(b"content-length", LEAST)) < LEAST:
            await self._send(start)
        else:
            self._start = start

    async def _body(self, piece: bytes, is_last: bool) -> None:
        piece = self._held + piece
        if self._stream is None and len(piece) < LEAST:
            self._held = piece
            if is_last:
                await self._send_start()
                await self._send({"type": "http.response.body", "body": piece})
            return
        self._held = b""
        is_first = self._stream is None
        ready = await self._compress(piece, is_last)
        if is_first:
            await self._send_start(self._coding, len(ready) if is_last else None)
        if ready or is_last:
            await self._send({"type": "http.response.body", "body": ready, "more_body": not is_last})

    async def _compress(self, piece: bytes, is_last: bool) -> bytes:
        if self._stream is None:
            self._stream = _CODINGS[self._coding or "gzip"]()
        if len(piece) <= INLINE:
            return self._stream.compress(piece, is_last)
        return await self._lane.run(self._stream.compress, piece, is_last)

    async def _send_start(self, coding: str | None = None, size: int | None = None) -> None:
        start, self._start = self._start, None
        if start is None:
            return
        if coding is not None:
            headers = MutableHeaders(raw=start["headers"])
            headers["Content-Encoding"] = coding
            del headers["Content-Length"]
            if size is not None:
                headers["Content-Length"] = str(size)
            start = {**start, "headers": headers.raw}
        await self._send(start)


def _varied(headers: list[tuple[bytes, bytes]], has_other: bool) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, which say that it depends on Accept-Encoding too."""
    if not has_other:
        return [*headers, _VARY]
    more = MutableHeaders(raw=list(headers))
    more.add_vary_header("Accept-Encoding")
    return more.raw


def _is_text(media_type: bytes) -> bool:
    return media_type in _TEXTS or (media_type.startswith(b"text/") and media_type != EVENTS.encode())
