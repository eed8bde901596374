"""Messages of a client, and the answers that it expects, as bytes that are made before the clock runs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """A request, and the whole answer that a right server gives."""

    request: bytes
    answer: bytes


def framed(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(user: str) -> bytes:
    body = struct.pack("!i", 3 << 16) + f"user\0{user}\0database\0postgres\0\0".encode()
    return struct.pack("!i", len(body) + 4) + body


def query(sql: str) -> bytes:
    return framed(b"Q", sql.encode() + b"\0")


def parse(name: str, sql: str) -> bytes:
    """Parse and Sync."""
    return framed(b"P", f"{name}\0{sql}\0\0\0".encode()) + SYNC


def run(name: str, *values: str) -> bytes:
    """Bind with texts, Execute and Sync."""
    texts = [value.encode() for value in values]
    given = b"".join(struct.pack("!i", len(text)) + text for text in texts)
    bind = f"\0{name}\0".encode() + struct.pack("!HH", 0, len(texts)) + given + b"\0\0"
    return framed(b"B", bind) + framed(b"E", b"\0\0\0\0\0") + SYNC


def answer(tag: str, *rows: Sequence[str]) -> bytes:
    """What a right server answers to `run`."""
    return framed(b"2") + b"".join(map(_data_row, rows)) + framed(b"C", tag.encode() + b"\0") + READY


def _data_row(values: Sequence[str]) -> bytes:
    texts = [value.encode() for value in values]
    fields = b"".join(struct.pack("!i", len(text)) + text for text in texts)
    return framed(b"D", struct.pack("!H", len(texts)) + fields)


SYNC = framed(b"S")
READY = framed(b"Z", b"I")
COPY_DONE = framed(b"c")
