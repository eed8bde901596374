"""The three formats of COPY TO: what comes before the rows, the rows, and what comes after.

Rows are put together a column at a time. Each travels in a message of its own, as clients expect; what comes
before the rows of the binary format travels with the first of them.

Source: PostgreSQL's manual, "COPY".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.pgformats.wire_types import BINARY, TEXT
from service.postgres.copy_statements import CopyFormat

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
HEAD = SIGNATURE + struct.pack("!ii", 0, 0)
END = b"\xff\xff"
_ESCAPES = {
    b"\\": b"\\\\",
    b"\b": b"\\b",
    b"\f": b"\\f",
    b"\n": b"\\n",
    b"\r": b"\\r",
    b"\t": b"\\t",
    b"\v": b"\\v",
}
_ESCAPED = b"\\\\\b\f\n\r\t\v"
_NULL = b"\xff\xff\xff\xff"
Fields = Sequence[Sequence[bytes | None]]
"""The fields of each column; None for NULL."""
BYTES = pa.large_binary()


def format_of(form: CopyFormat) -> int:
    """The format of the fields themselves."""
    return BINARY if form.kind == "BINARY" else TEXT


@dataclass(frozen=True)
class ColumnText:
    """How a column is written: `write` gives a field's text, which differs from the field only if it matches
    `special` or is the text of NULL, or `always`."""

    write: Callable[[bytes], bytes]
    special: re.Pattern[bytes]
    null: bytes
    always: bool = False

    def written(self, fields: pa.Array) -> pa.Array:
        """The texts of a column of fields, with that of NULL in its places."""
        if self.always or self._has_special(fields):
            texts = [None if field is None else self.write(field) for field in fields.to_pylist()]
            fields = pa.array(texts, BYTES)
        return fields.fill_null(self.null) if fields.null_count else fields

    def _has_special(self, fields: pa.Array) -> bool:
        if self.special.search(_data(fields)) is not None:
            return True
        return bool(pc.any(pc.equal(fields, pa.scalar(self.null, BYTES))).as_py())


def column_texts(form: CopyFormat, names: Sequence[str]) -> list[ColumnText]:
    """How the columns of the formats text and csv are written."""
    if form.kind == "TEXT":
        return [_text_column(form)] * len(names)
    return [_csv_column(form, name, len(names) == 1) for name in names]


def lines(form: CopyFormat, columns: Sequence[ColumnText], fields: Sequence[pa.Array]) -> pa.Array:
    """The lines of rows, without their ends, from the fields of each column as bytes."""
    if len(columns) == 1:
        return columns[0].written(fields[0])
    written = [column.written(part) for column, part in zip(columns, fields, strict=True)]
    return pc.binary_join_element_wise(*written, pa.scalar(form.delimiter.encode(), BYTES))


def messages(lines: pa.Array) -> bytes:
    """A CopyData message for each line, which ends it."""
    sizes = pc.binary_length(lines).to_numpy(zero_copy_only=False)
    heads = np.empty((len(lines), 5), np.uint8)
    heads[:, 0] = ord("d")
    heads[:, 1:] = (sizes + 5).astype(">i4").view(np.uint8).reshape(-1, 4)
    offsets = np.arange(len(lines) + 1, dtype=np.int64) * 5
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(heads)]
    framed = pc.binary_join_element_wise(
        pa.Array.from_buffers(BYTES, len(lines), parts), lines, pa.scalar(b"\n", BYTES), pa.scalar(b"", BYTES)
    )
    return _data(framed).tobytes()


def _data(array: pa.Array) -> memoryview:
    """The bytes of all values of a large_binary, one after another."""
    _, ends, data = array.buffers()
    if data is None or not len(array):
        return memoryview(b"")
    offsets = np.frombuffer(ends, np.int64)
    return memoryview(data)[offsets[array.offset] : offsets[array.offset + len(array)]]


def binary_rows(fields: Fields) -> list[bytes]:
    """The rows of the binary format."""
    count = struct.pack("!h", len(fields))
    sized = [
        [_NULL if field is None else struct.pack("!i", len(field)) + field for field in column]
        for column in fields
    ]
    return [count + b"".join(row) for row in zip(*sized, strict=True)]


def _text_column(form: CopyFormat) -> ColumnText:
    delimiter = form.delimiter.encode()
    other = delimiter if delimiter not in _ESCAPES else None
    special = re.compile(b"[" + _ESCAPED + re.escape(delimiter) + b"]")
    escaped = re.compile(b"[" + _ESCAPED + b"]")

    def write(field: bytes) -> bytes:
        field = escaped.sub(lambda found: _ESCAPES[found[0]], field)
        return field if other is None else field.replace(other, b"\\" + other)

    return ColumnText(write, special, form.null.encode())


def _csv_column(form: CopyFormat, name: str, is_alone: bool) -> ColumnText:
    quote, escape, null = form.quote.encode(), form.escape.encode(), form.null.encode()
    marks = re.escape(form.delimiter.encode() + quote)
    marked = re.compile(b"[" + marks + b"\r\n]")
    special = re.compile(marked.pattern + rb"|\\\.") if is_alone else marked
    always = form.force_quote is None or name in form.force_quote

    def write(field: bytes) -> bytes:
        is_end = is_alone and field == b"\\."
        if not (always or is_end or field == null or marked.search(field)):
            return field
        inner = field if escape == quote else field.replace(escape, escape * 2)
        return quote + inner.replace(quote, escape + quote) + quote

    return ColumnText(write, special, null, always)
