"""How many rows files of this machine have at most, found without reading a value.

Spark has to read all of a text to count its records. But there are no more of them than line breaks, or than
braces of JSON, which are found at the speed of memory, and the footer of a file of Parquet has their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from service.pipeline.local_files import SparkNeeded, local_files
from service.pipeline.locations import Location

_MOST = 1 << 30
"""Bytes of the files that are looked at; Spark reads more in parallel."""
_BLOCK = 1 << 22
CLOSE = frozenset({"parquet", "csv", "text"})
"""The formats whose files have about as many rows as they may have."""
_BREAKS = "lineSep"
"""The option that says where lines end."""


def most_rows(format: str, place: Location, options: Mapping[str, str]) -> float:
    """The most rows that the files at a place may have; infinity if that cannot be told."""
    bound = _BOUNDS.get(format)
    if bound is None or _BREAKS in options:
        return inf
    try:
        files = local_files(place.paths, place.base, _MOST)
        return sum(inf if file.is_packed else bound(file.path) for file in files if file.size)
    except (SparkNeeded, OSError, pa.ArrowException):
        return inf


def _of_lines(path: Path) -> int:
    """Line breaks of any kind, and a last line without one."""
    return 1 + _occurrences(path, b"\n", b"\r")


def _of_objects(path: Path) -> int:
    """As `_of_lines`, and objects: a line, or a whole file, may be a list of them."""
    return 1 + _occurrences(path, b"\n", b"\r", b"{")


def _occurrences(path: Path, *wanted: bytes) -> int:
    found = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found += sum(map(block.count, wanted))
    return found


def _of_parquet(path: Path) -> int:
    rows: int = pyarrow.parquet.read_metadata(path).num_rows
    return rows


_BOUNDS: dict[str, Callable[[Path], int]] = {
    "parquet": _of_parquet,
    "csv": _of_lines,
    "json": _of_objects,
    "text": _of_lines,
}
