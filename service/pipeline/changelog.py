"""A view's changes as a directory of parquet files, one for a range of epochs.

A file has the view's columns, `_epoch` and `_diff`; summing `_diff` over the files gives
the view. It is written aside under a hidden name, synced, renamed, and its directory
synced, so that a file that can be seen is whole. Its name says its epochs and the sink
that it is of: one that is there need not be written again.

One way of writing serves all sizes, PyArrow's: what a view's output changed by since
the last file is an increment that lies in this process's memory already, and a Spark
job would first have to be sent it.
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
    """The columns of the files of a view."""
    return Schema((*schema.columns, Column(EPOCH, BIGINT, False), Column(DIFF, BIGINT, False)))


def changes(snapshot: Snapshot, name: str, done: int | None, until: int) -> np.ndarray:
    """The relation's differences int64[W + 2, n] after epoch `done` up to `until`.

    Without `done`, all that is kept, up to `until`: what was before the least such epoch
    counts as that epoch's. EpochError where `done` is before it.
    """
    if done is not None:
        return snapshot.changes(name, done, until)
    since = snapshot.since(name)
    words, counts = snapshot.rows(name, since)
    base = np.vstack((words, np.full(len(counts), since, np.int64), counts))
    return np.concatenate((base, snapshot.changes(name, since, until)), axis=1)


def file_name(sink: str, done: int | None, until: int) -> str:
    """What the file of a sink with the epochs after `done` up to `until` is called."""
    return f"{0 if done is None else done + 1:020d}-{until:020d}-{sink}.parquet"


def row_count(path: Path) -> int:
    """The rows of a file that `write` made."""
    return pyarrow.parquet.read_metadata(path).num_rows


def write(path: Path, delta: np.ndarray, schema: Schema, dictionary: Dictionary) -> None:
    """Makes the file of differences int64[W + 2, n] of rows of `schema`, durable on return. OSError."""
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
