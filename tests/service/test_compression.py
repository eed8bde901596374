"""Answers are compressed as Accept-Encoding prefers, whatever their size and their pieces."""

from __future__ import annotations

import asyncio
import gzip
import random

import pyarrow as pa
import pytest

from service.http.compression import INLINE, LEAST, Compression, wanted_coding
from service.reading.lanes import Lane
from tests.service.client import Client


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("zstd", "zstd"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("GZIP;q=0.8, zstd;q=0.5", "gzip"),
        ("br", None),
        ("*", "zstd"),
        ("*;q=0.1, gzip;q=0", "zstd"),
        ("zstd;q=0, *", "gzip"),
        ("identity", None),
        ("identity;q=1, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=x", None),
    ],
)
def test_the_coding_that_is_wanted(header: str, coding: str | None) -> None:
    assert wanted_coding(header) == coding


def answer(pieces: list[bytes], accepted: str, media_type: str = "text/csv") -> tuple[dict[str, str], bytes]:
    """The headers and the body of an answer in pieces, as the layer sends it."""

    async def app(scope, receive, send) -> None:
        headers = [(b"content-type", media_type.encode())]
        if len(pieces) == 1:
            headers.append((b"content-length", str(len(pieces[0])).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for piece in pieces[:-1]:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": pieces[-1]})

    sent: list = []

    async def send(message) -> None:
        sent.append(message)

    lane = Lane("compressing", 1)
    scope = {"type": "http", "headers": [(b"accept-encoding", accepted.encode())]}
    asyncio.run(Compression(app, lane)(scope, None, send))  # type: ignore[arg-type]
    lane.close()
    start, *bodies = sent
    assert [body.get("more_body", False) for body in bodies] == [True] * (len(bodies) - 1) + [False]
    body = b"".join(body["body"] for body in bodies)
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    if "content-length" in headers:
        assert int(headers["content-length"]) == len(body)
    return headers, body


def plain(coding: str | None, body: bytes) -> bytes:
    if coding == "gzip":
        return gzip.decompress(body)
    if coding == "zstd":
        with pa.CompressedInputStream(pa.BufferReader(body), "zstd") as stream:
            return stream.read()
    assert coding is None
    return body


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_body_in_any_pieces_comes_back(seed: int, coding: str) -> None:
    chance = random.Random(seed)
    sizes = (0, 1, 20, LEAST - 1, LEAST, LEAST + 1, INLINE, INLINE + 1, 300_000)
    pieces = [
        chance.randbytes(chance.choice(sizes) // 2).hex().encode() for _ in range(chance.randrange(1, 6))
    ]
    whole = b"".join(pieces)
    headers, body = answer(pieces, coding)
    assert headers.get("content-encoding") == (coding if len(whole) >= LEAST else None)
    assert headers["vary"] == "Accept-Encoding"
    assert plain(headers.get("content-encoding"), body) == whole


@pytest.mark.parametrize(
    ("media_type", "compressed"),
    [
        ("text/csv; charset=utf-8; header=present", True),
        ("text/html", True),
        ("application/json", True),
        ("application/problem+json", True),
        ("application/x-ndjson", True),
        ("text/event-stream; charset=utf-8", False),
        ("application/vnd.apache.parquet", False),
        ("application/vnd.apache.arrow.stream", False),
        ("image/png", False),
    ],
)
def test_texts_are_compressed(media_type: str, compressed: bool) -> None:
    headers, body = answer([b"x" * 10_000], "gzip", media_type)
    assert ("content-encoding" in headers) == ("vary" in headers) == compressed
    assert (len(body) < 10_000) == compressed


@pytest.mark.parametrize("format", ["json", "ndjson", "csv"])
def test_rows_are_smaller_and_the_same(client: Client, format: str) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    client.insert("t", *({"a": a, "b": f"text {a % 5}"} for a in range(5000)))
    path = f"/v1/tables/t/rows?limit=5000&format={format}"
    whole = client.run(client.http.get(path, headers={"Accept-Encoding": "identity"}))
    assert "content-encoding" not in whole.headers
    for coding in ("gzip", "zstd"):
        answer = client.run(client.http.get(path, headers={"Accept-Encoding": coding}))
        assert answer.headers["content-encoding"] == coding
        assert answer.content == whole.content
        assert answer.num_bytes_downloaded < len(whole.content) / 4
