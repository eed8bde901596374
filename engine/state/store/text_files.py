"""The layout of a text file: an Arrow IPC file of words and their texts."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa

from engine.errors import StoreError
from engine.state.store.files import TextFile

_SCHEMA = pa.schema([("word", pa.int64()), ("text", pa.large_string())])

Texts = tuple[np.ndarray, pa.LargeStringArray]
"""Words int64[n], and the text of each."""


def text_bytes(words: np.ndarray, texts: pa.LargeStringArray) -> pa.Buffer:
    """The content of a file with these words and texts."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_batch(pa.record_batch([pa.array(words, pa.int64()), texts], schema=_SCHEMA))
    return sink.getvalue()


def read_texts(path: Path, file: TextFile) -> Texts:
    """The content of a file; StoreError if it is missing or damaged."""
    try:
        content = np.fromfile(path, np.uint8)
    except FileNotFoundError:
        raise StoreError(f"the state's file {path} is missing") from None
    if len(content) != file.size:
        raise StoreError(f"the state's file {path} has {len(content)} bytes instead of {file.size}")
    if zlib.crc32(content.data) != file.checksum:
        raise StoreError(f"the state's file {path} is damaged: its checksum does not match")
    batch = pa.ipc.open_file(pa.py_buffer(content)).get_batch(0)
    return batch.column(0).to_numpy(), batch.column(1)
