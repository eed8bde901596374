"""Request bodies: read up to the limit, decompressed, in the thread that suits their size.

The limit counts what comes out of decompression, and is kept while it comes out, so
that a small body cannot become a large one in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa
from starlette.requests import Request

from service.errors import BadRequest, TooLarge, UnsupportedFormat

T = TypeVar("T")

INLINE = 1 << 15
"""Bytes of a body up to which it is worked on in the event loop; a larger one goes to a thread."""
_CODECS = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd"}


async def read(request: Request, limit: int) -> bytes:
    """The whole body, decompressed. TooLarge, BadRequest or UnsupportedFormat.

    Before decompression the app's gate has kept the limit.
    """
    body = await request.body()
    encoding = request.headers.get("content-encoding")
    if encoding is None or encoding == "identity":
        return body
    codec = _CODECS.get(encoding.lower())
    if codec is None:
        raise UnsupportedFormat(f"content encoding {encoding} is not supported", "gzip and zstd are")
    return await asyncio.to_thread(_decompress, body, codec, limit)


async def work_on(body: bytes, work: Callable[[], T]) -> T:
    """Calls `work`, here for a small body, else in a thread."""
    return work() if len(body) <= INLINE else await asyncio.to_thread(work)


def _decompress(body: bytes, codec: str, limit: int) -> bytes:
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), codec) as stream:
            plain = stream.read(limit + 1)
    except (OSError, pa.ArrowException) as error:
        raise BadRequest(f"the body is not {codec}: {error}", code="invalid_encoding") from None
    if len(plain) > limit:
        raise too_large(limit)
    return plain


def too_large(limit: int) -> TooLarge:
    """What the sender of a body of more than `limit` bytes is told."""
    return TooLarge(
        f"the body has more than {limit} bytes", "send it in several requests, or raise FRESHET_BODY_LIMIT"
    )
