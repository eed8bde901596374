"""The state directory: a flat folder of files that are never overwritten.

Any process and any thread may write, each file under a name of its own, and a file is durable before its name
is passed on. A manifest, kept elsewhere, says which files are part of the state; the others are garbage, from
failed attempts or from state that was replaced.
"""

from __future__ import annotations

import os
import re
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from engine.kernels.narrow.narrow_rows import Batch
from engine.state.layer import Layer
from engine.state.store import batch_files as batches
from engine.state.store import text_files as texts
from engine.state.store.files import BatchFile, TextFile

_BATCH, _TEXTS = ".batch", ".texts"
_TOKEN = re.compile(r"t(\d+)\.")


class Writing:
    """Files that are written together; syncing them together costs less than one by one."""

    def __init__(self, path: Path, prefix: str) -> None:
        self._path = path
        self.prefix = prefix
        self._files: list[Path] = []

    def write(self, rows: Batch, key: int = 0, shard: int = 0, shards: int = 1) -> BatchFile:
        """Write a new file with a sorted batch, int64[n, columns], indexed by `key` words."""
        layer = Layer(rows).indexed(key)
        checksum, pieces = batches.pieces(layer, key)
        name, size = self._write(_BATCH, pieces)
        return BatchFile(name, len(rows), rows.shape[1], key, size, checksum, shard, shards)

    def write_texts(self, words: np.ndarray, values: pa.LargeStringArray) -> TextFile:
        """Write a new file with words int64[n] and their texts."""
        content = texts.text_bytes(words, values)
        name, size = self._write(_TEXTS, [content])
        return TextFile(name, len(words), size, zlib.crc32(content))

    def _write(self, suffix: str, pieces: Iterable[bytes | memoryview | pa.Buffer]) -> tuple[str, int]:
        """Write a new file; returns its name and size."""
        name = self.prefix + uuid.uuid4().hex + suffix
        self._files.append(self._path / name)
        with open(self._files[-1], "xb") as file:
            for piece in pieces:
                file.write(piece)
            return name, file.tell()

    def sync(self) -> None:
        """Make all files durable, with their names."""
        for path in (*self._files, self._path) if self._files else ():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def remove(self) -> None:
        """Remove the files that were written."""
        for path in self._files:
            path.unlink(missing_ok=True)


class StateDirectory:
    """The files of the state in one folder."""

    def __init__(self, path: Path, prefix: str = "") -> None:
        """Make the folder if it does not exist. The names of new files begin with the prefix."""
        self.path = path
        self.prefix = prefix
        self._token = 0
        path.mkdir(parents=True, exist_ok=True)
        self._reserved: dict[str, frozenset[str]] = {}
        self._unswept: set[object] = set()

    def lead(self, token: int) -> None:
        """Put the token of the leader into the names of all new files."""
        self._token, self.prefix = token, f"t{token}."

    def prefixed(self, prefix: str) -> StateDirectory:
        """The same directory for a writer whose new files have the prefix."""
        return StateDirectory(self.path, prefix)

    @contextmanager
    def reserving(self, names: Iterable[str] = ()) -> Iterator[str]:
        """In this context, no sweep removes these files, nor any whose name begins with the prefix that it
        gives."""
        prefix = f"{self.prefix}{uuid.uuid4().hex}-"
        self._reserved[prefix] = frozenset(names)
        try:
            yield prefix
        finally:
            del self._reserved[prefix]

    @contextmanager
    def unswept(self) -> Iterator[None]:
        """In this context, no sweep that begins removes anything; a later one makes up for it."""
        holder = object()
        self._unswept.add(holder)
        try:
            yield
        finally:
            self._unswept.discard(holder)

    @contextmanager
    def scratch(self, prefix: str = "") -> Iterator[Writing]:
        """Files that exist only in this context, and need not be durable."""
        writing = Writing(self.path, prefix or self.prefix)
        try:
            yield writing
        finally:
            writing.remove()

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Files to be written in this context: durable when it ends, removed if it raises."""
        writing = Writing(self.path, self.prefix)
        try:
            yield writing
            writing.sync()
        except BaseException:
            writing.remove()
            raise

    def write(self, rows: Batch, key: int = 0, shard: int = 0, shards: int = 1) -> BatchFile:
        """Write a new file with a sorted batch, int64[n, columns], indexed by `key` words; durable on
        return."""
        with self.writing() as writing:
            return writing.write(rows, key, shard, shards)

    def write_texts(self, words: np.ndarray, values: pa.LargeStringArray) -> TextFile:
        """Write a new file with words int64[n] and their texts; durable on return."""
        with self.writing() as writing:
            return writing.write_texts(words, values)

    def open(self, file: BatchFile) -> Layer:
        """The batch of a file, mapped; StoreError if the file is missing or not the one that was written."""
        return batches.open_batch(self.path / file.name, file)

    def verify(self, file: BatchFile) -> None:
        """Read the whole file; StoreError if it is missing or damaged."""
        batches.verify(self.path / file.name, file)

    def read_texts(self, file: TextFile) -> texts.Texts:
        """The words and texts of a file; StoreError if it is missing or damaged."""
        return texts.read_texts(self.path / file.name, file)

    def sweep(self, kept: Collection[str]) -> int:
        """Remove the files whose names are neither among `kept` nor reserved, nor a later leader's; returns
        their number.

        No other thread or process may be writing a file that is to stay, unless it is reserved.
        """
        if self._unswept:
            return 0
        found = [path for path in self.path.iterdir() if path.suffix in (_BATCH, _TEXTS)]
        reserved = dict(self._reserved)
        kept = set(kept).union(*reserved.values())
        orphans = [
            path
            for path in found
            if path.name not in kept
            and not path.name.startswith(tuple(reserved))
            and _token_of(path.name) <= self._token
        ]
        for path in orphans:
            path.unlink(missing_ok=True)
        return len(orphans)


def _token_of(name: str) -> int:
    """The token of the leader that wrote a file; 0 where there are no leaders."""
    found = _TOKEN.match(name)
    return int(found[1]) if found else 0
