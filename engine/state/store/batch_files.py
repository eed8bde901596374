"""The layout of a batch file: a header, the rows, and the slots of the index.

  magic 8 bytes | version u32 | CRC-32 u32 of all that follows
  rows | columns | key | keys | slots | place bits, int64 each
  the rows | the index's slots, uint32

Numbers are little-endian. `key` is the trace's; without an index, the last three are 0. The rows of a small
batch are int64, row by row: version 1. Those of a large one are narrow (`engine.kernels.narrow`): version 2.
Before these are the least and the greatest word of each column, int64 each, which give the format, and behind
them eight to fifteen zeros. With a radix index, these are versions 3 and 4. Earlier releases wrote files of
version 1 alone, and later ones of versions 1 and 2.

The header has 64 bytes, so that rows and slots are aligned: a file is mapped and read in place. It is mapped
copy-on-write, because kernels take writable arrays, though none writes to a batch. Reading a small file is
cheaper than mapping it, and then the checksum costs nothing extra.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from engine.errors import StoreError
from engine.kernels.narrow.batch_type import WORD
from engine.kernels.narrow.narrow_rows import Batch, NarrowRows, as_matrix, format_for
from engine.state.batch_index import Index
from engine.state.layer import NARROW, Layer
from engine.state.store.files import BatchFile

MATRIX, NARROWED = 1, 2
"""Versions: what the rows are."""
RADIX = 2
"""Added to the version of a file with a radix index."""
SMALL = 1 << 17
"""Files of up to this many bytes are read instead of mapped."""
_MAGIC = b"freshetB"
_PREFIX = struct.Struct("<8sII")
_SHAPE = struct.Struct("<6q")
_HEADER = _PREFIX.size + _SHAPE.size


def pieces(layer: Layer, key: int) -> tuple[int, list[bytes | memoryview]]:
    """The checksum of a batch's file, and its content piece by piece."""
    rows, index = layer.rows, layer.index
    slots = np.empty(0, np.uint32) if index is None else index.slots
    keys, place_bits = (0, 0) if index is None else (index.keys, index.place_bits)
    shape = _SHAPE.pack(*rows.shape, key, keys, len(slots), place_bits)
    version, kept = _kept(rows)
    version += RADIX if place_bits < 0 else 0
    content: list[bytes | memoryview] = [shape, *kept, slots.astype("<u4", copy=False).data]
    checksum = 0
    for piece in content:
        checksum = zlib.crc32(piece, checksum)
    return checksum, [_PREFIX.pack(_MAGIC, version, checksum), *content]


def _kept(rows: Batch) -> tuple[int, list[bytes | memoryview]]:
    """The version of a file of these rows, and what it has of them."""
    if len(rows) < NARROW:
        return MATRIX, [np.ascontiguousarray(as_matrix(rows), "<i8").reshape(-1).data]
    narrow = rows
    # A reader has the format from the ends, and a merge may have left one with room for other words.
    if not isinstance(narrow, NarrowRows) or (narrow.format != format_for(narrow.ends)[0]).any():
        narrow = NarrowRows.of(np.ascontiguousarray(as_matrix(rows)))
    ends = np.ascontiguousarray(narrow.ends, "<i8").reshape(-1)
    size = len(rows) * narrow.stride
    return NARROWED, [ends.data, narrow.data[:size].data, bytes(_size(len(rows), narrow.stride) - size)]


def _size(rows: int, stride: int) -> int:
    """The bytes of narrow rows, with what fills up behind them."""
    return (rows * stride + 2 * WORD - 1) // WORD * WORD


def open_batch(path: Path, file: BatchFile) -> Layer:
    """The batch, mapped. StoreError if the file is missing, or not the one that was written.

    Of a large file, only the header and the size are checked.
    """
    content = _content(path, file)
    rows, columns, _, keys, slots, place_bits = _SHAPE.unpack_from(content.data, _PREFIX.size)
    end = len(content) - 4 * slots
    words = content[_HEADER:end].view(np.int64)
    batch: Batch = _narrow(words, rows, columns) if _is_narrow(content) else words.reshape(rows, columns)
    index = Index(content[end:].view(np.uint32), place_bits, file.key, keys) if slots else None
    return Layer(batch, index, file)


def _narrow(words: np.ndarray, rows: int, columns: int) -> NarrowRows:
    """The narrow batch in a file's words, its ends first."""
    ends = words[: 2 * columns].reshape(2, columns)
    format, stride = format_for(ends)
    return NarrowRows(words[2 * columns :].view(np.uint8), rows, format, stride, ends)


def _is_narrow(content: np.ndarray) -> bool:
    version = _PREFIX.unpack_from(content.data)[1]
    return version in (NARROWED, NARROWED + RADIX)


def _room(content: np.ndarray, rows: int, columns: int) -> int:
    """The bytes that so many rows take in a file."""
    if not _is_narrow(content):
        return WORD * rows * columns
    ends = content[_HEADER : _HEADER + 2 * WORD * columns].view(np.int64)
    return ends.nbytes + _size(rows, format_for(ends.reshape(2, columns))[1])


def verify(path: Path, file: BatchFile) -> None:
    """Read the whole file; StoreError if a byte of it has changed."""
    _check_sum(path, file, _content(path, file))


def _content(path: Path, file: BatchFile) -> np.ndarray:
    """The file's bytes, uint8[size], with a checked header."""
    try:
        size = path.stat().st_size
        if size != file.size or size < _HEADER:
            raise StoreError(f"the state's file {path} has {size} bytes instead of {file.size}")
        mapped = size > SMALL
        content = np.asarray(np.memmap(path, np.uint8, "c") if mapped else np.fromfile(path, np.uint8))
    except FileNotFoundError:
        raise StoreError(f"the state's file {path} is missing") from None
    magic, version, checksum = _PREFIX.unpack_from(content.data)
    if magic == _MAGIC and not MATRIX <= version <= NARROWED + RADIX:
        raise StoreError(
            f"the state's file {path} has version {version}; this release reads up to {NARROWED + RADIX}"
        )
    rows, columns, key, _, slots, _ = _SHAPE.unpack_from(content.data, _PREFIX.size)
    known = (magic, checksum, rows, columns, key)
    promised = (_MAGIC, file.checksum, file.rows, file.columns, file.key)
    if known != promised or _HEADER + _room(content, rows, columns) + 4 * slots != file.size:
        raise StoreError(f"the state's file {path} is not the one that was written")
    if not mapped:
        _check_sum(path, file, content)
    return content


def _check_sum(path: Path, file: BatchFile, content: np.ndarray) -> None:
    if zlib.crc32(content.data[_PREFIX.size :]) != file.checksum:
        raise StoreError(f"the state's file {path} is damaged: its checksum does not match")
