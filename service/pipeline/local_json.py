"""Files of JSON lines read in this process, as Spark reads them: each value as its text.

A line that is not JSON is no record. Lines on which the readers differ are Spark's: a name twice or with
escapes, and what Jackson, Spark's parser, takes although it is not JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import orjson
import pyarrow as pa

from engine.codec.json_cells import UNKNOWN, JsonCells, is_unicode, line_at, scan_lines
from engine.kernels.scanning.json_lines import NESTED, STRANGE, TAKEN
from service.pipeline.local_files import (
    ColumnsFound,
    LocalFile,
    SparkNeeded,
    about_as_many,
    numbered,
    value_column,
    with_values,
)
from service.pipeline.local_text import blocks

_ROWS = 1 << 15
"""Lines that are scanned at once."""
_MOST_NAMES = 2_000
_LENIENT = (b"'", b"NaN", b"nfinity", b"INF")
"""Parts of lines that Spark may take although they are not JSON."""


class LocalJson:
    """Some files of lines of JSON.

    The first block of each is read for the names when it is made. If there are more further on, `batches`
    raises ColumnsFound; then `look` reads all files for them.
    """

    corrupt: str = "_corrupt_record"

    def __init__(self, files: Sequence[LocalFile], options: Mapping[str, str], names: Sequence[str]) -> None:
        if options:
            raise SparkNeeded(f"the option {min(options)}")
        self.progress = 0.0
        self._files = [file for file in files if file.size]
        self.expected = about_as_many(self._files)
        self._names: list[str] = []
        self._read = 0
        self.look(1)

    def look(self, blocks_of_each: int | None = None) -> None:
        """Reads the files for their columns, or so many blocks of each. Raises SparkNeeded."""
        for file in self._files:
            for _ in self._cells(file, blocks_of_each):
                pass
        if not self._names or self.corrupt in self._names:
            raise SparkNeeded("there are no names")
        self.columns = with_values(dict.fromkeys(sorted(self._names), pa.string()), self._files[0])

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns with these names, and the lines that are no records."""
        self._read = 0
        size = sum(file.unpacked_size for file in self._files)
        for file in self._files:
            for cells, records in self._cells(file):
                if len(self._names) + len(file.values) > len(self.columns):
                    raise ColumnsFound
                self.progress = min(1.0, self._read / size)
                columns = [self._column(file, cells, records, name) for name in names if name != self.corrupt]
                yield numbered([*columns, records])

    def _column(self, file: LocalFile, cells: JsonCells, records: pa.Array, name: str) -> pa.Array:
        if len(cells) == 0:
            return pa.nulls(len(records), pa.string())
        if name in file.values:
            return value_column(file, name, len(cells))
        texts = cells.texts(self._names.index(name))
        if texts is None:
            raise SparkNeeded(f"{file.path.name} has an escape that readers take differently")
        return texts

    def _cells(self, file: LocalFile, most: int | None = None) -> Iterator[tuple[JsonCells, pa.Array]]:
        """The cells of lines, and a text for each line that is no record; such a line has no cells. Reads all
        blocks, or the first ones."""
        for block in islice(blocks(file), most):
            data = np.frombuffer(bytearray(block), np.uint8)
            self._read += len(block)
            if not is_unicode(data) or (b"\r" in block and b"\r" in block.replace(b"\r\n", b"")):
                raise SparkNeeded(f"{file.path.name} has characters that readers take differently")
            at = 0
            while at < len(data):
                cells = scan_lines(data, at, self._names, False, _ROWS)
                self._check_nested(file, cells)
                yield cells, pa.nulls(len(cells), pa.string())
                at = cells.end
                line = line_at(data, at) if cells.why != TAKEN else b""
                if cells.why == STRANGE or (cells.why == UNKNOWN and not self._learn(line)):
                    yield self._strange(file, cells, line)
                    at += len(line) + 1

    def _check_nested(self, file: LocalFile, cells: JsonCells) -> None:
        """Raises SparkNeeded for a line whose arrays or objects are not JSON."""
        for row in np.flatnonzero((cells.kinds == NESTED).any(axis=0)).tolist():
            try:
                orjson.loads(cells.line(row))
            except orjson.JSONDecodeError:
                raise SparkNeeded(f"{file.path.name} has a broken array or object") from None

    def _learn(self, line: bytes) -> bool:
        """Adds the names of a line; False if it is not JSON."""
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            return False
        self._names += [name for name in found if name not in self._names]
        if len(self._names) > _MOST_NAMES:
            raise SparkNeeded(f"more than {_MOST_NAMES} names")
        return True

    def _strange(self, file: LocalFile, cells: JsonCells, line: bytes) -> tuple[JsonCells, pa.Array]:
        """A line that is no record."""
        text = line.removesuffix(b"\r").decode()
        if any(part in line for part in _LENIENT) or line.lstrip()[:1] != b"{" or _begins_with_json(text):
            raise SparkNeeded(f"{file.path.name} has a line that readers take differently: {text[:80]}")
        nothing = scan_lines(cells.data, len(cells.data), self._names, False, 1)
        return nothing, pa.array([text], pa.string())


def _begins_with_json(text: str) -> bool:
    try:
        json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return True
