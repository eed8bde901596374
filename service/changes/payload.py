"""The log's payloads: differences of tables, with the texts they need, as bytes.

A payload stands alone: it carries every text that its words refer to, so an empty dictionary is enough to
read it. Layout, little-endian:

    version u8 | compression u8 | CRC-32 u32 of all that follows | body, maybe compressed
    body: length u64 | header length u32 | header, JSON | padding to 8 | int64 matrices | text words

The header has each matrix's table and shape, and the texts in the order of their words. A table appears as
the id of its definition. A damaged payload raises an error; it never yields part of the data.
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
"""Size of a body, in bytes, from which compression pays."""
_PREFIX = struct.Struct("<BBI")
_LENGTHS = struct.Struct("<QI")
_codec = pa.Codec("zstd", compression_level=1)


class DamagedPayload(Exception):
    """Bytes of the log that differ from what was written."""


def encode_payload(deltas: Mapping[int, tuple[Schema, np.ndarray]], dictionary: Dictionary) -> bytes:
    """A payload of differences, int64[W + 2, n] by the id of their table."""
    explaining = [
        explained(delta[i], schema.types[i]) for schema, delta in deltas.values() for i in _explained(schema)
    ]
    words, texts = np.zeros(0, np.int64), []
    if explaining:
        words, entries = dictionary.entries(np.concatenate(explaining))
        texts = entries.to_pylist()
    shapes = [[id, *delta.shape] for id, (_, delta) in deltas.items()]
    header = orjson.dumps({"tables": shapes, "texts": texts})
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


def decode_payload(payload: bytes, dictionary: Dictionary) -> list[tuple[int, np.ndarray]]:
    """The differences of a payload, by the id of the table. Adds its texts to the dictionary.

    Raises DamagedPayload if the bytes are not those that `encode_payload` returned.
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
    """The columns whose words need the dictionary's texts."""
    return tuple(i for i, type in enumerate(schema.types) if type.is_interned or type.may_be_wide)


def _bytes(matrix: np.ndarray) -> bytes:
    return matrix.astype("<i8", copy=False).tobytes()
