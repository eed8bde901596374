"""CSV files read in this process, as Spark reads them: all fields as texts, ragged rows as no records.

What the two readers agree on is CSV in which every quote is in its place
(`engine.kernels.scanning.csv_structure`). All else is Spark's.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from engine.kernels.scanning.csv_structure import LINE, ODD, QUOTED, csv_state
from service.pipeline.local_files import (
    LocalFile,
    SparkNeeded,
    about_as_many,
    numbered,
    value_column,
    with_values,
)

_BLOCK = 1 << 22
"""Bytes that are parsed at once, and so the longest row."""
_OPTIONS = frozenset({"header", "sep", "quote", "escape", "nullValue", "multiLine"})
_MOST_COLUMNS = 20_000
"""Spark reads some more."""


class LocalCsv:
    """Some files of CSV. Their first rows are read when it is made, which may raise SparkNeeded."""

    corrupt: str = "_corrupt_record"

    def __init__(self, files: Sequence[LocalFile], options: Mapping[str, str], names: Sequence[str]) -> None:
        self.progress = 0.0
        self._form = _Form(options)
        self._files = [file for file in files if file.size]
        if not self._files:
            raise SparkNeeded("all files are empty")
        first, *others = (self._form.first_row(file) for file in self._files)
        if any(other != first for other in others if self._form.has_header or len(other) != len(first)):
            raise SparkNeeded("the files have different columns")
        self.expected = about_as_many(self._files)
        self._names = first if self._form.has_header else _named(names, len(first))
        self.columns = with_values(dict.fromkeys(self._names, pa.string()), self._files[0])
        if len(self.columns) < len(self._names) or "" in self.columns or len(first) > _MOST_COLUMNS:
            raise SparkNeeded("columns without a name of their own")

    def look(self) -> None:
        """All columns are known from the beginning."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns with these names, and the texts of ragged rows."""
        size = sum(file.unpacked_size for file in self._files)
        done = 0
        for file in self._files:
            rows = _Rows(file, self._form, self._names)
            for batch, records in rows.batches():
                self.progress = min(1.0, (done + rows.read) / size)
                columns = [
                    value_column(file, name, len(records)) if name in file.values else batch.column(name)
                    for name in names
                    if name != self.corrupt
                ]
                yield numbered([*columns, records])
            done += file.unpacked_size


def _named(names: Sequence[str], width: int) -> list[str]:
    """The names of the columns of rows without a header; Spark's where there are none."""
    return [names[place] if place < len(names) else f"_c{place}" for place in range(width)]


class _Form:
    """How the files are written, from Spark's options. Raises SparkNeeded for what only Spark reads."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.separator = options.get("sep", ",")
        self.quote = options["quote"]
        self.null = options["nullValue"]
        self.has_header = options["header"] == "true"
        self.has_breaks = options.get("multiLine") == "true"
        odd = sorted(name for name in options if name not in _OPTIONS)
        if odd:
            raise SparkNeeded(f"the option {odd[0]}")
        marks = (self.separator, self.quote)
        if any(len(mark) != 1 or not mark.isascii() or mark in "\r\n\0 " for mark in marks):
            raise SparkNeeded("the marks of the fields")
        if options["escape"] != self.quote or self.separator == self.quote:
            raise SparkNeeded("the mark of an escape")
        if not {options["header"], options.get("multiLine", "true")} <= {"true", "false"}:
            raise SparkNeeded("an option that is neither true nor false")

    def parsing(self, keep: object = None, width: int = 0) -> pyarrow.csv.ParseOptions:
        """How rows of this width are read: where there is one column, a blank line is a NULL."""
        return pyarrow.csv.ParseOptions(
            delimiter=self.separator,
            quote_char=self.quote,
            newlines_in_values=self.has_breaks,
            ignore_empty_lines=width != 1,
            invalid_row_handler=keep,
        )

    def first_row(self, file: LocalFile) -> list[str]:
        """The fields of a file's first row."""
        reading = pyarrow.csv.ReadOptions(
            use_threads=False, block_size=_BLOCK, autogenerate_column_names=True
        )
        parsing = self.parsing(lambda row: "skip")
        with file.reading():
            with (
                file.open() as stream,
                pyarrow.csv.open_csv(stream, reading, parsing, _texts(["f0"])) as some,
            ):
                names = some.schema.names
            with (
                file.open() as stream,
                pyarrow.csv.open_csv(stream, reading, parsing, _texts(names)) as every,
            ):
                first: list[dict[str, str | None]] = next(
                    (batch.slice(0, 1).to_pylist() for batch in every), []
                )
            with file.open() as stream:
                begins_blank = stream.read(1) in (b"\r", b"\n")
        if not first:
            raise SparkNeeded(f"{file.path.name} has no rows")
        if begins_blank and self.has_header and len(names) == 1:
            raise SparkNeeded(f"{file.path.name} begins with a blank line")
        return [value or "" for value in first[0].values()]


def _texts(names: Sequence[str]) -> pyarrow.csv.ConvertOptions:
    """All columns as texts; a field is NULL if it is empty and not quoted."""
    return pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


class _Rows:
    """The rows of one file, in their order. `read` is the number of bytes that were read."""

    def __init__(self, file: LocalFile, form: _Form, names: Sequence[str]) -> None:
        self.read = 0
        self._file = file
        self._form = form
        self._names = names
        self._ragged: list[tuple[int, str]] = []
        self._found = 0

    def batches(self) -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
        """Batches, with the texts of ragged rows, whose fields are NULL."""
        reading = pyarrow.csv.ReadOptions(
            use_threads=False,
            block_size=_BLOCK,
            column_names=self._names,
            skip_rows_after_names=int(self._form.has_header),
        )
        parsing, converting = self._form.parsing(self._keep, len(self._names)), _texts(self._names)
        with self._file.reading(), self._file.open() as stream:
            checked = _Checked(stream, self._form)
            source = pa.PythonFile(checked, "r")
            with pyarrow.csv.open_csv(source, reading, parsing, converting) as reader:
                rows = 0
                for batch in reader:
                    self.read = checked.seen
                    yield self._with_ragged(batch, rows, False)
                    rows += batch.num_rows
                nothing = pa.RecordBatch.from_arrays(
                    [pa.nulls(0, field.type) for field in reader.schema], schema=reader.schema
                )
                yield self._with_ragged(nothing, rows, True)
        if checked.state in (QUOTED, ODD):
            raise SparkNeeded(f"{self._file.path.name} has a quote or a line that readers take differently")

    def _keep(self, row: pyarrow.csv.InvalidRow) -> str:
        """Notes a ragged row with the number of good ones before it."""
        before = (row.number or 1) - 1 - self._form.has_header - self._found
        self._found += 1
        self._ragged.append((before, row.text))
        return "skip"

    def _with_ragged(
        self, batch: pa.RecordBatch, before: int, is_last: bool
    ) -> tuple[pa.RecordBatch, pa.Array]:
        """The batch with the ragged rows that come in it. `before` is the number of good rows before it."""
        end = before + batch.num_rows
        here = [each for each in self._ragged if is_last or each[0] < end]
        self._ragged = self._ragged[len(here) :]
        batch = self._nulled(batch)
        if not here:
            return batch, pa.nulls(batch.num_rows, pa.string())
        places = np.clip([place - before for place, _ in here], 0, batch.num_rows)
        order = np.insert(np.arange(batch.num_rows), places, -1)
        bad = order < 0
        texts = np.full(len(order), None, object)
        texts[bad] = [text for _, text in here]
        return batch.take(pa.array(order, mask=bad)), pa.array(texts, pa.string())

    def _nulled(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with NULL for the text that the options name."""
        null = self._form.null
        if null == "\0":
            return batch
        arrays = [pc.if_else(pc.equal(a, null), pa.scalar(None, a.type), a) for a in batch.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)


class _Checked(io.RawIOBase):
    """A stream whose bytes are looked at as they pass."""

    def __init__(self, stream: pa.NativeFile, form: _Form) -> None:
        self.state = LINE
        self.seen = 0
        self._stream = stream
        self._marks = np.uint8(ord(form.separator)), np.uint8(ord(form.quote)), form.has_breaks

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.seen += len(data)
        if self.state != ODD and data:
            self.state = int(csv_state(np.frombuffer(buffer, np.uint8, len(data)), self.state, *self._marks))
        return len(data)
