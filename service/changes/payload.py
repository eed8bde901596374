"""The bytes that the log holds: differences of tables, with the texts they need.

A payload stands for itself: it carries every text that its words refer to, so that it
can be read into an empty dictionary. Layout, little-endian:

    version u8 | compression u8 | CRC-32 u32 of all that follows | body, maybe compressed
    body: length u64 | header length u32 | header, JSON | padding to 8 | int64 matrices | text words

The header says whose the matrices are and of what shape, and has the texts in the order
of their words. Tables are called by the ids of their definitions. A payload that is
damaged is an error, never less data.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import orjson
import pyarrow as pa

from engine.codec.numerals import explained
from engine.schema import Schema
from engine.state.dictionary import Dictionary

_VERSION = 1
_PLAIN, _ZSTD = 0, 1
_COMPRESS_FROM = 1 << 12
"""Bytes of a body from which on compression is worth its time."""
_PREFIX = struct.Struct("<BBI")
_LENGTHS = struct.Struct("<QI")
_codec = pa.Codec("zstd", compression_level=1)


class DamagedPayload(Exception):
    """Bytes of the log that are not what was written."""


def encode(deltas: Mapping[int, tuple[Schema, np.ndarray]], dictionary: Dictionary) -> bytes:
    """Differences, int64[W + 2, n] by the id of their table, as a payload."""
    texts = [
        explained(delta[i], schema.types[i]) for schema, delta in deltas.values() for i in _explained(schema)
    ]
    words, entries = dictionary.entries(np.concatenate(texts) if texts else np.zeros(0, np.int64))
    shapes = [[id, *delta.shape] for id, (_, delta) in deltas.items()]
    header = orjson.dumps({"tables": shapes, "texts": entries.to_pylist()})
    padding = -(_LENGTHS.size + len(header)) % 8
    pieces = [header, b"\0" * padding]
    pieces += [_bytes(delta) for _, delta in deltas.values()]
    pieces.append(_bytes(words))
    length = _LENGTHS.size + sum(map(len, pieces))
    body = b"".join([_LENGTHS.pack(length, len(header)), *pieces])
    compression = _PLAIN
    if length >= _COMPRESS_FROM:
        compression = _ZSTD
        body = struct.pack("<Q", length) + _codec.compress(body, asbytes=True)
    return _PREFIX.pack(_VERSION, compression, zlib.crc32(body)) + body


def decode(payload: bytes, dictionary: Dictionary) -> list[tuple[int, np.ndarray]]:
    """The differences of a payload, by id of the table; its texts become entries of the dictionary.

    DamagedPayload if the bytes are not those that `encode` gave.
    """
    if len(payload) < _PREFIX.size:
        raise DamagedPayload(f"a payload has {len(payload)} bytes")
    version, compression, checksum = _PREFIX.unpack_from(payload)
    if version != _VERSION:
        raise DamagedPayload(f"a payload has version {version}; this release reads {_VERSION}")
    body = memoryview(payload)[_PREFIX.size :]
    if zlib.crc32(body) != checksum:
        raise DamagedPayload("a payload's checksum does not match")
    if compression == _ZSTD:
        (length,) = struct.unpack_from("<Q", body)
        body = memoryview(_codec.decompress(pa.py_buffer(body[8:]), length, asbytes=True))
    _, header_length = _LENGTHS.unpack_from(body)
    header = orjson.loads(body[_LENGTHS.size : _LENGTHS.size + header_length])
    end = _LENGTHS.size + header_length
    numbers = np.frombuffer(body, "<i8", offset=end + -end % 8).astype(np.int64, copy=False)
    deltas = []
    at = 0
    for id, rows, columns in header["tables"]:
        deltas.append((id, numbers[at : at + rows * columns].reshape(rows, columns)))
        at += rows * columns
    if header["texts"]:
        dictionary.absorb(numbers[at:], header["texts"])
    return deltas


@lru_cache(maxsize=4096)
def _explained(schema: Schema) -> tuple[int, ...]:
    """The columns with words that the dictionary explains."""
    return tuple(i for i, type in enumerate(schema.types) if type.is_interned or type.may_be_wide)


def _bytes(matrix: np.ndarray) -> bytes:
    return matrix.astype("<i8", copy=False).tobytes()
