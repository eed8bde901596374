"""Files of text read in this process: a row for each line, in the column `value`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from service.pipeline.local_files import (
    LocalFile,
    SparkNeeded,
    about_as_many,
    numbered,
    value_column,
    with_values,
)

_BLOCK = 1 << 22
"""Bytes that are read at once."""
_LONGEST = 1 << 28
"""The most bytes of a line."""
_MARK = b"\xef\xbb\xbf"


class LocalText:
    """Some files of text."""

    corrupt: str = ""

    def __init__(self, files: Sequence[LocalFile], options: Mapping[str, str], names: Sequence[str]) -> None:
        if options:
            raise SparkNeeded(f"the option {min(options)}")
        self.progress = 0.0
        self._files = files
        self.expected = about_as_many(files)
        self.columns = with_values({"value": pa.string()}, files[0])

    def look(self) -> None:
        """All columns are known from the beginning."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns with these names."""
        for number, file in enumerate(self._files):
            self.progress = number / len(self._files)
            for block in blocks(file):
                lines = pa.array(block.splitlines(), pa.binary()).view(pa.string())
                columns = [
                    lines if name == "value" else value_column(file, name, len(lines)) for name in names
                ]
                yield numbered(columns)


def blocks(file: LocalFile) -> Iterator[bytes]:
    """The bytes of a file in blocks of whole lines, without the mark of UTF-8. Raises SparkNeeded."""
    with file.reading(), file.open() as stream:
        rest = stream.read(len(_MARK)).removeprefix(_MARK)
        while more := stream.read(_BLOCK):
            end = more.rfind(b"\n") + 1
            if end:
                yield rest + more[:end]
            rest = more[end:] if end else rest + more
            if len(rest) > _LONGEST:
                raise SparkNeeded(f"{file.path.name} has a line of more than {_LONGEST} bytes")
        if rest:
            yield rest
