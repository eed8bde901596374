"""What the service sends: functions from values to the bytes of PostgreSQL's messages.

Source: PostgreSQL's manual, "Message Formats".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from service.pgformats.wire_types import WireColumn


def message(type: bytes, body: bytes = b"") -> bytes:
    return type + struct.pack("!i", len(body) + 4) + body


def _text(text: str) -> bytes:
    return text.replace("\0", "\ufffd").encode(errors="replace") + b"\0"


def authentication(kind: int, data: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!i", kind) + data)


AUTHENTICATED = authentication(0)
ASK_PASSWORD = authentication(3)


def ask_sasl(*mechanisms: str) -> bytes:
    return authentication(10, b"".join(map(_text, mechanisms)) + b"\0")


def sasl_continue(data: bytes) -> bytes:
    return authentication(11, data)


def sasl_final(data: bytes) -> bytes:
    return authentication(12, data)


def parameter_status(name: str, value: str) -> bytes:
    return message(b"S", _text(name) + _text(value))


def backend_key(pid: int, secret: bytes) -> bytes:
    return message(b"K", struct.pack("!i", pid) + secret)


def negotiate_version(minor: int, unknown: Sequence[str]) -> bytes:
    head = struct.pack("!ii", 3 << 16 | minor, len(unknown))
    return message(b"v", head + b"".join(map(_text, unknown)))


def ready(status: bytes) -> bytes:
    """`status` is I outside a block, T inside one, E inside one that has failed."""
    return message(b"Z", status)


def row_description(columns: Sequence[WireColumn], formats: Sequence[int]) -> bytes:
    parts = [struct.pack("!H", len(columns))]
    for column, form in zip(columns, formats, strict=True):
        type = column.type
        parts.append(_text(column.name))
        parts.append(struct.pack("!ihIhih", 0, 0, type.oid, type.size, column.modifier, form))
    return message(b"T", b"".join(parts))


def parameter_description(oids: Sequence[int]) -> bytes:
    return message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def command_complete(tag: str) -> bytes:
    return message(b"C", _text(tag))


def copy_response(type: bytes, form: int, columns: int) -> bytes:
    """CopyInResponse (G) or CopyOutResponse (H)."""
    return message(type, struct.pack(f"!bH{columns}h", form, columns, *[form] * columns))


def copy_data(data: bytes) -> bytes:
    return message(b"d", data)


def error(fields: Mapping[str, str]) -> bytes:
    """`fields` are by their letters, as in "Error and Notice Message Fields"."""
    return message(b"E", _fields(fields.items()))


def notice(fields: Mapping[str, str]) -> bytes:
    return message(b"N", _fields(fields.items()))


def _fields(fields: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(letter.encode() + _text(value) for letter, value in fields) + b"\0"


PARSED = message(b"1")
BOUND = message(b"2")
CLOSED = message(b"3")
NO_DATA = message(b"n")
SUSPENDED = message(b"s")
EMPTY_QUERY = message(b"I")
COPY_DONE = message(b"c")
