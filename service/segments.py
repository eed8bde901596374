"""Checkpoints: files with the differences of the tables, in segments by epoch.

A checkpoint is a list of segments that follow each other from epoch 1 on; the log goes
on after the last. Writing one covers the epochs since the newest segment, and takes in
older segments that are not much larger, so that every difference is rewritten a number
of times logarithmic in the size of the whole.

A segment is written under a temporary name, synced, renamed, and its directory synced;
only then does the catalog name it. A file that the catalog does not name is no part of
anything and goes at the next start. Views are not in it: they follow from the tables.

A file is a sequence of payloads (`service/payload.py`), each after its length, u64.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.dictionary import Dictionary
from engine.runtime import Snapshot
from service.catalog import Segment
from service.definitions import Definition
from service.payload import DamagedPayload, decode, encode

FRAME_ROWS = 1 << 19
"""Differences in one payload at most."""
GROWTH = 2
"""A segment is taken in unless it is this many times larger than what follows it."""
_LENGTH = struct.Struct("<Q")


class SegmentFiles:
    """The segment files of one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def write(
        self, snapshot: Snapshot, tables: Sequence[Definition], dictionary: Dictionary, first: int
    ) -> Segment:
        """A segment of the epochs from `first` to the snapshot's newest, durable. Any thread."""
        last = snapshot.upper - 1
        since = max((snapshot.since(table.name) for table in tables), default=0)
        name = f"{first:020d}-{last:020d}.segment"
        temporary = self._directory / f"{name}.writing"
        with open(temporary, "wb") as file:
            for table in tables:
                delta = history(snapshot, table.name, first)
                for at in range(0, delta.shape[1], FRAME_ROWS):
                    part = np.ascontiguousarray(delta[:, at : at + FRAME_ROWS])
                    payload = encode({table.id: (table.schema, part)}, dictionary)
                    file.write(_LENGTH.pack(len(payload)))
                    file.write(payload)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        os.rename(temporary, self._directory / name)
        self._sync()
        return Segment(first, last, name, size, since)

    def read(self, segment: Segment, dictionary: Dictionary) -> Iterator[tuple[int, np.ndarray]]:
        """The differences of a segment, by id of the table. DamagedPayload names a file that is damaged."""
        path = self._directory / segment.file
        try:
            found = path.stat().st_size
        except FileNotFoundError:
            raise DamagedPayload(f"checkpoint file {path} is missing") from None
        if found != segment.size:
            raise DamagedPayload(f"checkpoint file {path} has {found} bytes instead of {segment.size}")
        with open(path, "rb") as file:
            while prefix := file.read(_LENGTH.size):
                (length,) = _LENGTH.unpack(prefix)
                try:
                    yield from decode(file.read(length), dictionary)
                except DamagedPayload as error:
                    raise DamagedPayload(f"checkpoint file {path}: {error}") from None

    def sweep(self, segments: Sequence[Segment]) -> None:
        """Removes the files that are none of `segments`."""
        named = {segment.file for segment in segments}
        for path in self._directory.iterdir():
            if path.name not in named:
                path.unlink()

    def _sync(self) -> None:
        directory = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def first_to_write(segments: Sequence[Segment], log_bytes: int) -> int:
    """The epoch from which to write the next segment, `log_bytes` lying in the log after `segments`."""
    first = segments[-1].last + 1 if segments else 1
    size = log_bytes
    for segment in reversed(segments):
        if segment.size >= GROWTH * size:
            break
        first = segment.first
        size += segment.size
    return first


def history_from(snapshot: Snapshot, tables: Sequence[Definition], first: int) -> int:
    """`first`, or epoch 1 if some table's history does not reach back so far that it could be told apart."""
    return 1 if any(snapshot.since(table.name) >= first for table in tables) else first


def history(snapshot: Snapshot, table: str, first: int) -> np.ndarray:
    """The table's differences int64[W + 2, n] from epoch `first` to the newest.

    What was before the least epoch that is kept counts as that epoch's, if `first` is not after it.
    """
    newest = snapshot.upper - 1
    since = snapshot.since(table)
    if first > since:
        return snapshot.changes(table, first - 1, newest)
    words, counts = snapshot.rows(table, since)
    base = np.vstack((words, np.full(len(counts), since, np.int64), counts))
    return np.concatenate((base, snapshot.changes(table, since, newest)), axis=1)
