"""Sizes of an Arrow stream's messages, read before anything in them is decoded.

Buffers of a stream may be compressed; each then begins with its uncompressed size. This module reads the
sizes and row counts from the messages' metadata, which are flatbuffers as the Arrow format's `Message.fbs`
describes them. PyArrow offers no way to ask for them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.ipc

_HEADER_TYPE, _HEADER = 1, 2  # fields of Message
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # types of header
_DATA = 1  # of DictionaryBatch
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # of RecordBatch


def message_sizes(body: bytes) -> Iterator[tuple[int, int]]:
    """The rows (0 for a dictionary) and the uncompressed bytes of each message of a stream.

    Raises pyarrow's errors if the body is not a stream.
    """
    for message in pyarrow.ipc.MessageReader.open_stream(pa.BufferReader(body)):
        try:
            yield _message_size(message.metadata.to_pybytes(), message.body)
        except (struct.error, IndexError) as error:
            raise pa.ArrowInvalid(f"metadata of a message cannot be read: {error}") from None


def _message_size(metadata: bytes, body: pa.Buffer | None) -> tuple[int, int]:
    message = _Table(metadata, struct.unpack_from("<I", metadata)[0])
    kind = message.scalar(_HEADER_TYPE, "B")
    header = message.table(_HEADER)
    if header is None or kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return 0, 0
    batch = header.table(_DATA) if kind == _DICTIONARY_BATCH else header
    if batch is None or body is None:
        return 0, 0
    rows = batch.scalar(_LENGTH, "q") if kind == _RECORD_BATCH else 0
    if batch.table(_COMPRESSION) is None:
        return rows, body.size
    return rows, sum(_decompressed(body, at, size) for at, size in batch.pairs(_BUFFERS))


def _decompressed(body: pa.Buffer, at: int, size: int) -> int:
    """The uncompressed size of a buffer. A size of -1 at its front means that it is not compressed."""
    if size < 8 or not 0 <= at <= body.size - 8:
        return 0
    (said,) = struct.unpack("<q", body.slice(at, 8).to_pybytes())
    return size if said < 0 else said


class _Table:
    """A table of a flatbuffer. Its vtable says where the fields are."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - struct.unpack_from("<i", data, at)[0]
        (self._size,) = struct.unpack_from("<H", data, self._fields)

    def _find(self, field: int) -> int:
        """The offset of a field; 0 if the table leaves it out."""
        place = 4 + 2 * field
        if place >= self._size:
            return 0
        (offset,) = struct.unpack_from("<H", self._data, self._fields + place)
        return self._at + offset if offset else 0

    def _follow(self, field: int) -> int:
        at = self._find(field)
        return at and at + struct.unpack_from("<I", self._data, at)[0]

    def scalar(self, field: int, form: str) -> int:
        at = self._find(field)
        return struct.unpack_from(f"<{form}", self._data, at)[0] if at else 0

    def table(self, field: int) -> _Table | None:
        at = self._follow(field)
        return _Table(self._data, at) if at else None

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The elements of a vector of structs of two int64."""
        at = self._follow(field)
        if at:
            (count,) = struct.unpack_from("<I", self._data, at)
            yield from struct.iter_unpack("<qq", self._data[at + 4 : at + 4 + 16 * count])
