"""Changelog files: a view's changes as a directory of Parquet files, one for a range of epochs.

A file has the view's columns, `_epoch` and `_diff`; adding up `_diff` over all files gives the view. A file
is written under a hidden name, synced and renamed, and its directory is synced, so a visible file is
complete. Its name has its epochs and its sink: a file that exists need not be written again.

PyArrow writes files of all sizes: the changes since the last file are in this process's memory already, and
a Spark job would first have to receive them.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from engine.codec.parquet import decode_parquet, parquet_type
from engine.runtime.engine import Snapshot
from engine.schema import BIGINT, Column, Schema
from engine.state.dictionary import Dictionary
from service.privacy import make_public, publish

EPOCH, DIFF = "_epoch", "_diff"
_GROUP_ROWS = 1 << 17


def changelog_schema(schema: Schema) -> Schema:
    """The columns of a view's files."""
    return Schema((*schema.columns, Column(EPOCH, BIGINT, False), Column(DIFF, BIGINT, False)))


def changes_after(snapshot: Snapshot, name: str, done: int | None, until: int) -> np.ndarray:
    """The relation's differences int64[W + 2, n] after epoch `done` up to `until`.

    Without `done`, all that is kept up to `until`; earlier differences count as those of the oldest kept
    epoch. Raises EpochError if `done` is no longer kept.
    """
    if done is not None:
        return snapshot.changes(name, done, until)
    since = snapshot.since(name)
    words, counts = snapshot.rows(name, since)
    base = np.vstack((words, np.full(len(counts), since, np.int64), counts))
    return np.concatenate((base, snapshot.changes(name, since, until)), axis=1)


def file_name(sink: str, done: int | None, until: int) -> str:
    """The name of a sink's file with the epochs after `done` up to `until`."""
    return f"{0 if done is None else done + 1:020d}-{until:020d}-{sink}.parquet"


def file_row_count(path: Path) -> int:
    """The number of rows in a file that `write_file` made."""
    return pyarrow.parquet.read_metadata(path).num_rows


def write_file(path: Path, delta: np.ndarray, schema: Schema, dictionary: Dictionary) -> None:
    """Writes differences int64[W + 2, n] of rows of `schema` to a file, durable on return. Raises OSError."""
    columns = changelog_schema(schema)
    fields = [pa.field(c.name, parquet_type(c.type), c.nullable) for c in columns.columns]
    make_public(path.parent)
    aside = path.with_name(f".{path.name}.writing")
    with open(aside, "wb") as file:
        with pyarrow.parquet.ParquetWriter(file, pa.schema(fields), compression="zstd") as writer:
            for at in range(0, delta.shape[1], _GROUP_ROWS):
                part = np.ascontiguousarray(delta[:, at : at + _GROUP_ROWS])
                writer.write_table(decode_parquet(part, columns, dictionary))
        file.flush()
        os.fsync(file.fileno())
    publish(aside)
    os.replace(aside, path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
