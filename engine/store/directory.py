"""The state directory: a flat folder of files that nobody ever overwrites.

Any process and any thread may write, each file under a name of its own, and a file is durable
before its name is known to anybody. Which files are part of the state is said elsewhere, by a
manifest; the others are garbage, of attempts that failed or of state that was replaced.
"""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from engine.layer import Layer
from engine.store import batches, texts
from engine.store.files import BatchFile, TextFile

_BATCH, _TEXTS = ".batch", ".texts"


class StateDirectory:
    def __init__(self, path: Path) -> None:
        """Makes the folder if there is none."""
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def write(self, rows: np.ndarray, key: int = 0, shard: int = 0, shards: int = 1) -> BatchFile:
        """A new file of a sorted batch, int64[n, columns], indexed by `key` words; durable on return."""
        layer = Layer(rows).indexed(key)
        checksum, pieces = batches.pieces(layer, key)
        name, size = self._write(_BATCH, pieces)
        return BatchFile(name, len(rows), rows.shape[1], key, size, checksum, shard, shards)

    def open(self, file: BatchFile) -> Layer:
        """The batch of a file, mapped; StoreError if it is missing or not the one that was written."""
        return batches.open_batch(self.path / file.name, file)

    def verify(self, file: BatchFile) -> None:
        """Reads all of a file; StoreError if it is missing or damaged."""
        batches.verify(self.path / file.name, file)

    def write_texts(self, words: np.ndarray, values: pa.LargeStringArray) -> TextFile:
        """A new file of words int64[n] and their texts; durable on return."""
        content = texts.text_bytes(words, values)
        name, size = self._write(_TEXTS, [content])
        return TextFile(name, len(words), size, zlib.crc32(content))

    def read_texts(self, file: TextFile) -> texts.Texts:
        """The words and texts of a file; StoreError if it is missing or damaged."""
        return texts.read_texts(self.path / file.name, file)

    def sweep(self, kept: Collection[str]) -> int:
        """Removes the files whose names are not among `kept`; how many these were.

        Nobody may be writing a file that is to stay.
        """
        found = [path for path in self.path.iterdir() if path.suffix in (_BATCH, _TEXTS)]
        orphans = [path for path in found if path.name not in kept]
        for path in orphans:
            path.unlink(missing_ok=True)
        return len(orphans)

    def _write(self, suffix: str, pieces: Iterable[bytes | memoryview | pa.Buffer]) -> tuple[str, int]:
        """A new file, synced with its directory; its name and size."""
        name = uuid.uuid4().hex + suffix
        path = self.path / name
        try:
            with open(path, "xb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._sync()
        return name, size

    def _sync(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
