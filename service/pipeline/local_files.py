"""Files that this process reads itself: which ones, and their directories' values as columns.

A load whose files lie on this machine, and are not too large, needs no Spark. The readers here and Spark's
give the same columns and the same records, and one judge takes both. Where the two might differ, the file is
Spark's: a reader that meets an option, a character or a file that it does not read exactly as Spark does
raises `SparkNeeded`, at any time, and the load begins again on Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

import pyarrow as pa

_ESCAPED = re.compile(r"\\([\\*?\[\]{}^,])")
_SCHEME = "file://"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_UNPACKED = 8
"""The size of a compressed text file when it is unpacked, in sizes of the packed one."""
_SAMPLE = 1 << 20
"""The first bytes of a file, whose lines are counted."""
_MORE = 1.05
_PACKINGS = {".gz": "gzip", ".bz2": "bz2"}
_SPARKS = frozenset({".deflate", ".lz4", ".snappy", ".zst", ".zstd", ".xz", ".lzo", ".br"})
"""Endings of the names of packed text files that only Spark unpacks."""


class SparkNeeded(Exception):
    """The data has something that Spark has to read. The message says what."""


class ColumnsFound(Exception):
    """A reader has found columns that it did not know when it was made."""


class LocalReader(Protocol):
    """`columns` are those of the data, with their types; `corrupt` names the last column of a batch, which
    has the texts of what is no record, or is empty. `expected` is about how many rows there are, 0 if nothing
    tells it. `progress` goes from 0 to 1."""

    columns: dict[str, pa.DataType]
    corrupt: str
    expected: int
    progress: float

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns with these names. Raises SparkNeeded, and ColumnsFound if there are more."""

    def look(self) -> None:
        """Finds all columns. Raises SparkNeeded."""


@dataclass(frozen=True)
class LocalFile:
    """A file, and the values of the directories below the load's base, such as `day=1`."""

    path: Path
    values: Mapping[str, str | None]
    size: int

    @property
    def is_packed(self) -> bool:
        return self.path.suffix in _PACKINGS

    @property
    def unpacked_size(self) -> int:
        """About the size of the file's bytes when they are unpacked."""
        return self.size * (_UNPACKED if self.is_packed else 1)

    def open(self) -> pa.NativeFile:
        """The file's bytes, unpacked."""
        return pa.input_stream(str(self.path), compression=_PACKINGS.get(self.path.suffix))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within this context, what Arrow or the disk refuses is left to Spark: SparkNeeded."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise SparkNeeded(f"{self.path.name} cannot be read here: {error}") from None


def local_files(paths: Iterable[str], base: str, most: int) -> list[LocalFile]:
    """The files at paths as Spark takes them. Raises SparkNeeded if they are not here, or larger than
    `most` bytes together."""
    files = []
    size = 0
    for path in paths:
        if not path.startswith(_SCHEME):
            raise SparkNeeded(f"{path} is not on this machine")
        place = _path(path)
        found = LocalFile(place, _values(place, Path(base.removeprefix(_SCHEME))), place.stat().st_size)
        size += found.unpacked_size
        if size > most:
            raise SparkNeeded(f"the files have more than {most} bytes")
        if place.suffix in _SPARKS:
            raise SparkNeeded(f"{place.name} is packed")
        files.append(found)
    if len({tuple(file.values) for file in files}) > 1:
        raise SparkNeeded("the files are in directories with different names of columns")
    return files


def any_larger(paths: Iterable[str], most: int) -> bool:
    """Whether the files of this machine among the paths have more than `most` bytes together."""
    return sum(_path(path).stat().st_size for path in paths if path.startswith(_SCHEME)) > most > 0


def _path(path: str) -> Path:
    """A path, from the form that Spark takes."""
    return Path(_ESCAPED.sub(r"\1", path.removeprefix(_SCHEME)))


def _values(path: Path, base: Path) -> dict[str, str | None]:
    """The values in the names of a file's directories."""
    values: dict[str, str | None] = {}
    for part in path.relative_to(base).parts[:-1]:
        name, is_value, text = part.partition("=")
        if is_value and name and text:
            values[unquote(name)] = None if text == _NO_VALUE else unquote(text)
        elif values:
            raise SparkNeeded(f"the directory {part} has no value of a column")
    return values


def with_values(columns: Mapping[str, pa.DataType], file: LocalFile) -> dict[str, pa.DataType]:
    """The columns of a file, with those of its directories. Raises SparkNeeded for names that Spark takes
    for one."""
    names = [*columns, *file.values]
    if len({name.lower() for name in names}) < len(names):
        raise SparkNeeded("two columns have the same name, without regard to case")
    return {**columns, **dict.fromkeys(file.values, pa.string())}


def about_as_many(files: Iterable[LocalFile]) -> int:
    """A few more rows than files of text have, if all lines are about as long as the first ones; 0 if they
    are packed."""
    rows = 0.0
    for file in files:
        if file.is_packed:
            return 0
        with file.reading(), file.open() as opened:
            begun: bytes = opened.read(_SAMPLE)
        rows += begun.count(b"\n") * file.size / max(len(begun), 1)
    return int(_MORE * rows)


def numbered(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """A batch of columns that are called by their places."""
    return pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(columns))])


def value_column(file: LocalFile, name: str, rows: int) -> pa.Array:
    """The value of a directory for each row of a file."""
    value = file.values[name]
    places = pa.array([None if value is None else 0], pa.int32()).take(pa.array([0] * rows, pa.int32()))
    return pa.DictionaryArray.from_arrays(places, pa.array(["" if value is None else value], pa.string()))
