"""Messages between shards, and from a shard to itself in the next superstep.

A message has a head, a small tuple of JSON values, and may have an int64 array. A large array that a shard
keeps for itself lies in a file of its own, whose name no other attempt has: a task that runs again writes
another file, and the reader takes the one that its message names.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from engine.kernels.narrow.narrow_rows import Batch

SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("kind", pa.large_string()),
        ("head", pa.large_binary()),
        ("body", pa.large_binary()),
    ]
)
"""The shard it goes to, the kind, the head, and the array's bytes."""
INLINE = 1 << 18
"""Arrays of at least this many bytes go to a file, if a shard keeps them for itself."""
CHUNK = 1 << 25
"""Most bytes of rows in one message."""


class MessageKind(StrEnum):
    """The kinds of messages.

    SEED: a shard begins. ROWS: a part of an arrangement's batch. WIDE: another shard's part of such a batch.
    KEPT: a shard's own state. OFFER: what enters a loop. FLAGS: a shard's place and what it has to do. TEXTS:
    a file of new texts. REPORT: a shard's results.
    """

    SEED = "seed"
    ROWS = "rows"
    WIDE = "wide"
    KEPT = "kept"
    OFFER = "offer"
    FLAGS = "flags"
    TEXTS = "texts"
    REPORT = "report"


@dataclass(frozen=True, eq=False)
class Message:
    """A message to shard `to`. `about` describes the array, or is the whole content, depending on the
    kind."""

    to: int
    kind: MessageKind
    about: Any
    array: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """The message's array; RuntimeError if it has none."""
        if self.array is None:
            raise RuntimeError(f"a message of {self.kind} has no array")
        return self.array


def encode_messages(messages: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    """The messages as record batches of `SCHEMA`."""
    waiting: list[Message] = []
    size = 0
    for message in messages:
        waiting.append(message)
        size += 0 if message.array is None else message.array.nbytes
        if size >= CHUNK:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(messages: list[Message]) -> pa.RecordBatch:
    heads = [
        orjson.dumps((message.about, None if message.array is None else message.array.shape))
        for message in messages
    ]
    columns = [
        pa.array([message.to for message in messages], pa.int32()),
        pa.array([message.kind for message in messages], pa.large_string()),
        pa.array(heads, pa.large_binary()),
        _bodies([message.array for message in messages]),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def _bodies(arrays: list[np.ndarray | None]) -> pa.Array:
    """The arrays' bytes, one after the other, copied once."""
    offsets = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([0 if array is None else array.nbytes for array in arrays], out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    for start, end, array in zip(offsets[:-1].tolist(), offsets[1:].tolist(), arrays, strict=True):
        if array is not None:
            data[start:end].view(np.int64).reshape(array.shape)[...] = array
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(arrays), buffers)


def decode_messages(batch: pa.RecordBatch) -> Iterator[Message]:
    """The messages of a record batch; their arrays are writable copies."""
    bodies = batch.column("body").cast(pa.large_binary())
    _, offsets, data = bodies.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(bodies) + 1, 8 * bodies.offset).tolist()
    shards = batch.column("shard").to_pylist()
    kinds = batch.column("kind").to_pylist()
    for row, head in enumerate(batch.column("head").to_pylist()):
        about, shape = orjson.loads(head)
        array = None
        if shape is not None:
            array = np.empty(shape, np.int64)
            size = bounds[row + 1] - bounds[row]
            if size:
                flat = np.frombuffer(data, np.uint8, size, bounds[row])
                array.reshape(-1).view(np.uint8)[:] = flat
        yield Message(shards[row], MessageKind(kinds[row]), about, array)


class Scratch:
    """Files of arrays that live as long as the epoch."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, array: np.ndarray) -> str:
        """Write the array to a new file; returns the file's name."""
        name = uuid.uuid4().hex
        np.ascontiguousarray(array).tofile(self._directory / name)
        return name

    def read(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array, mapped copy-on-write: writing to it does not change the file."""
        if not all(shape):
            return np.empty(shape, np.int64)
        return np.asarray(np.memmap(self._directory / name, np.int64, "c", shape=tuple(shape)))


def chunks(rows: Batch) -> Iterator[np.ndarray]:
    """Rows in pieces that fit into a message."""
    most = max(CHUNK // (8 * rows.shape[1]), 1)
    for start in range(0, len(rows), most):
        yield rows[start : start + most]
