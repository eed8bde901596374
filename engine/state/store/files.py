"""What is known of a file of the state directory without opening it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchFile:
    """A batch of `rows` rows of `columns` words each, `size` bytes in all.

    `key` is the number of words that its index is by, as a trace has it. Its rows are those of
    shard `shard` out of `shards`. `checksum` is the CRC-32 of what follows it in the file.
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
    """`entries` texts of the dictionary with their words; `checksum` is the CRC-32 of all `size` bytes."""

    name: str
    entries: int
    size: int
    checksum: int
