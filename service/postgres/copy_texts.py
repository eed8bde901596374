"""The three formats of COPY TO: what comes before the rows, the rows, and what comes after.

Each row travels in a message of its own, as clients expect; what comes before the rows of the binary format
travels with the first of them.

Source: PostgreSQL's manual, "COPY".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from service.postgres.backend_messages import BINARY, TEXT, WireColumn
from service.postgres.copy_statements import CopyFormat

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_ESCAPES = {
    b"\\": b"\\\\",
    b"\b": b"\\b",
    b"\f": b"\\f",
    b"\n": b"\\n",
    b"\r": b"\\r",
    b"\t": b"\\t",
    b"\v": b"\\v",
}
_ESCAPED = re.compile(b"[\\\\\b\f\n\r\t\v]")
_NULL = b"\xff\xff\xff\xff"
Fields = Sequence[Sequence[bytes | None]]
"""The fields of each column; None for NULL."""
HEAD = SIGNATURE + struct.pack("!ii", 0, 0)
END = b"\xff\xff"


def format_of(form: CopyFormat) -> int:
    """The format of the fields themselves."""
    return BINARY if form.kind == "BINARY" else TEXT


def rows_of(form: CopyFormat, columns: Sequence[WireColumn]) -> Callable[[Fields], list[bytes]]:
    """A function from fields to the bytes of each row."""
    if form.kind == "BINARY":
        return _binary
    null = form.null.encode()
    delimiter = form.delimiter.encode()
    if form.kind == "TEXT":
        escape = _text_escape(delimiter)
        writers = [escape] * len(columns)
    else:
        writers = [_quoting(form, column.name, len(columns) == 1) for column in columns]

    def write(fields: Fields) -> list[bytes]:
        written = [
            [null if field is None else write_field(field) for field in column]
            for write_field, column in zip(writers, fields, strict=True)
        ]
        return [delimiter.join(row) + b"\n" for row in zip(*written, strict=True)]

    return write


def _binary(fields: Fields) -> list[bytes]:
    count = struct.pack("!h", len(fields))
    sized = [
        [_NULL if field is None else struct.pack("!i", len(field)) + field for field in column]
        for column in fields
    ]
    return [count + b"".join(row) for row in zip(*sized, strict=True)]


def _text_escape(delimiter: bytes) -> Callable[[bytes], bytes]:
    other = delimiter if delimiter not in _ESCAPES else None

    def escape(field: bytes) -> bytes:
        if _ESCAPED.search(field):
            field = _ESCAPED.sub(lambda found: _ESCAPES[found[0]], field)
        return field if other is None else field.replace(other, b"\\" + other)

    return escape


def _quoting(form: CopyFormat, name: str, is_alone: bool) -> Callable[[bytes], bytes]:
    quote, escape, null = form.quote.encode(), form.escape.encode(), form.null.encode()
    special = re.compile(b"[" + re.escape(form.delimiter.encode() + quote) + b"\r\n]")
    always = form.force_quote is None or name in form.force_quote

    def write(field: bytes) -> bytes:
        needs = always or field == null or special.search(field) or (is_alone and field == b"\\.")
        if not needs:
            return field
        inner = field if escape == quote else field.replace(escape, escape * 2)
        return quote + inner.replace(quote, escape + quote) + quote

    return write
