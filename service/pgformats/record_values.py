"""Records, PostgreSQL's composite values, in both formats: `(1,"a b",)`, and their fields with lengths.

A record is a tuple of its fields' values. In texts, a field that is NULL is empty, and an empty text quoted.

Source: PostgreSQL's manual, "Composite Types", and `record_out` and `record_send`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

from engine.errors import InvalidValue
from engine.scalar.written import record_fields
from service.pgformats.wire_types import BINARY, WireType

_PLAIN = re.compile(r'[^\s(),"\\]+')

Formats = Callable[[WireType, int], Callable[[Any], Any]]
"""The writer or reader of a type in a format."""


def text_record(value: Sequence[Any], writers: Sequence[Callable[[Any], str]]) -> str:
    """The text of a record, whose fields are written by these functions."""
    fields = zip(value, writers, strict=True)
    return f"({','.join('' if part is None else _field(write(part)) for part, write in fields)})"


def _field(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + re.sub(r'(["\\])', r"\1\1", text) + '"'


def record_of_text(text: str, readers: Sequence[Callable[[str], Any]]) -> tuple[Any, ...]:
    """The record of a text, whose fields are read by these functions. Raises InvalidValue."""
    fields = record_fields(text)
    if fields is None or len(fields) != len(readers):
        raise InvalidValue(f"{text[:100]} is not a record of {len(readers)} fields", 'write it as (1,"a b",)')
    return tuple(None if part is None else read(part) for part, read in zip(fields, readers, strict=True))


def binary_record(value: Sequence[Any], type: WireType, writer: Formats) -> bytes:
    """The binary form of a record."""
    parts = [struct.pack("!i", len(type.fields))]
    for part, (_, field) in zip(value, type.fields, strict=True):
        data = None if part is None else writer(field, BINARY)(part)
        parts.append(struct.pack("!Ii", field.oid, -1 if data is None else len(data)) + (data or b""))
    return b"".join(parts)


def record_of_binary(data: bytes, type: WireType, reader: Formats) -> tuple[Any, ...]:
    """The record of a binary form. Raises InvalidValue."""
    if len(data) < 4 or struct.unpack("!i", data[:4])[0] != len(type.fields):
        raise InvalidValue(f"a binary record does not have {len(type.fields)} fields")
    at, found = 4, []
    for _, field in type.fields:
        if len(data) < at + 8:
            raise InvalidValue("a binary record is too short")
        oid, size = struct.unpack("!Ii", data[at : at + 8])
        at += 8
        if oid != field.oid or size < -1 or len(data) < at + size:
            raise InvalidValue("a field of a binary record does not fit its type")
        found.append(None if size < 0 else reader(field, BINARY)(data[at : at + size]))
        at += max(size, 0)
    return tuple(found)
