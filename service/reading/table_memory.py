"""Tables in memory that two processes map: Arrow streams, one behind the other, in a file without a name.

The file is in memory alone. It is gone when neither process has it open.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.ipc


@dataclass(frozen=True)
class TablePlaces:
    """The names of the tables, and the bytes of the file at which each begins and ends."""

    names: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


def write_tables(tables: Mapping[str, pa.Table]) -> tuple[int, TablePlaces]:
    """Writes the tables, one that has several names once. Returns the descriptor, which is the caller's to
    close, and their places."""
    descriptor = os.memfd_create("freshet-tables")
    spans: dict[int, tuple[int, int]] = {}
    try:
        with open(descriptor, "wb", closefd=False) as file:
            for table in tables.values():
                if id(table) in spans:
                    continue
                start = file.tell()
                with pyarrow.ipc.new_stream(file, table.schema) as writer:
                    writer.write_table(table)
                spans[id(table)] = start, file.tell()
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, TablePlaces(tuple(tables), tuple(spans[id(table)] for table in tables.values()))


def read_tables(descriptor: int, places: TablePlaces) -> dict[str, pa.Table]:
    """The tables, which stay in the file: nothing is copied. Closes the descriptor."""
    try:
        memory = pa.py_buffer(mmap.mmap(descriptor, 0, prot=mmap.PROT_READ))
    finally:
        os.close(descriptor)
    return {
        name: pyarrow.ipc.open_stream(memory.slice(start, end - start)).read_all()
        for name, (start, end) in zip(places.names, places.spans, strict=True)
    }
