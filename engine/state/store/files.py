"""Descriptions of the state directory's files, known without opening them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchFile:
    """A file with a batch of `rows` rows of `columns` words each, `size` bytes in all.

    `key` is the number of words that its index is by, as in a trace. Its rows belong to shard `shard` of
    `shards`. `checksum` is the CRC-32 of what follows it in the file.
    """

    name: str
    rows: int
    columns: int
    key: int
    size: int
    checksum: int
    shard: int = 0
    shards: int = 1


@dataclass(frozen=True)
class TextFile:
    """A file with `entries` texts of the dictionary; `checksum` is the CRC-32 of all `size` bytes."""

    name: str
    entries: int
    size: int
    checksum: int
