"""Bodies of CSV: read by PyArrow, all columns as text, and refused if their end is within quotes.

PyArrow takes the end of a body for the end of a quotation too, so a body that was cut would look whole. So a
row that nobody can have sent, the mark, follows the body. The last row is the mark, or a quotation has
swallowed it.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from service.decoding import csv_lines
from service.errors import BadRequest, Invalid
from service.settings.budget import Budget

_BLOCK = 1 << 22
"""Bytes that are parsed at once, and so the longest row."""
_HEADER = 1 << 20
"""The longest header, in bytes."""
_PARSING = pyarrow.csv.ParseOptions(newlines_in_values=True)
_PARSING_ONE = pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
"""For one column: there a blank line is a NULL."""
_READING = pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK)


def read_csv(body: bytes, most: int, budget: Budget) -> Iterator[pa.RecordBatch]:
    """Reads all columns as text. A field is NULL if it is empty and not quoted."""
    if len(body) > _HEADER and body.find(b"\n", 0, _HEADER) < 0:
        raise BadRequest(f"the header has more than {_HEADER} bytes", code="invalid_body")
    try:
        yield from _batches(body)
    except pa.ArrowInvalid as error:
        raise _broken(body, error) from None


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows, sent first, so that an unknown column is reported before anything is decoded."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _batches(body: bytes) -> Iterator[pa.RecordBatch]:
    with pyarrow.csv.open_csv(pa.BufferReader(body), _READING, _PARSING) as reader:
        header = reader.schema.names
    if len(set(header)) != len(header):
        raise Invalid("the header names a column twice", code="duplicate_column")
    parsing, converting = _PARSING, _as_texts(header, "")
    if len(header) == 1:
        parsing, body = _PARSING_ONE, body[len(body) - len(body.lstrip(b"\r\n")) :]
    mark = secrets.token_hex(16)
    marked = pa.PythonFile(_Followed(body, _last_row(body, mark, len(header), ",")), "r")
    with pyarrow.csv.open_csv(marked, _READING, parsing, converting) as reader:
        try:
            yield from _until_mark(reader, mark)
        except _NoMark:
            raise _unclosed(csv_lines.unclosed(body)) from None


@dataclass(frozen=True)
class CsvForm:
    """CSV in a form of its own: its columns, its marks, the text of NULL if it is not quoted, and whether a
    line of names comes first. Without a `quote` nothing is quoted, and a row is a line."""

    columns: tuple[str, ...]
    delimiter: str
    quote: str | None
    escape: str | None
    null: str
    header: bool

    def rows(self, body: bytes) -> Iterator[tuple[int, int]]:
        """The line, from 1, and the number of fields of each row, for error messages."""
        return csv_lines.rows_of(body, self.delimiter, self.quote, self.escape)

    def line_of(self, body: bytes, row: int) -> int | None:
        """The line at which a row begins; rows count from 0, without the header."""
        found = (line for number, (line, _) in enumerate(self.rows(body)) if number == row + self.header)
        return next(found, None)


def read_formed(body: bytes, form: CsvForm) -> Iterator[pa.RecordBatch]:
    """Reads all columns as text, in a form that the reader of the body has been told."""
    parsing = pyarrow.csv.ParseOptions(
        delimiter=form.delimiter,
        quote_char=form.quote or False,
        double_quote=form.escape == form.quote,
        escape_char=form.escape if form.escape != form.quote else False,
        newlines_in_values=form.quote is not None,
        ignore_empty_lines=False,
    )
    reading = pyarrow.csv.ReadOptions(
        use_threads=False, block_size=_BLOCK, column_names=form.columns, skip_rows=int(form.header)
    )
    converting = _as_texts(form.columns, form.null)
    mark = secrets.token_hex(16)
    try:
        last_row = _last_row(body, mark, len(form.columns), form.delimiter)
        marked = pa.PythonFile(_Followed(body, last_row), "r")
        with pyarrow.csv.open_csv(marked, reading, parsing, converting) as reader:
            yield from _until_mark(reader, mark)
    except pa.ArrowInvalid as error:
        raise _broken_form(body, form, error) from None
    except _NoMark:
        raise _unclosed(None) from None


def _broken_form(body: bytes, form: CsvForm, error: pa.ArrowInvalid) -> BadRequest:
    width = len(form.columns)
    for line, count in form.rows(body):
        if count != width:
            return BadRequest(
                f"line {line} has {count} fields, and {width} are expected", code="invalid_body"
            )
    bad = csv_lines.undecodable(body)
    reason = f"line {bad} is not UTF-8" if bad is not None else f"the data cannot be read: {error}"
    return BadRequest(reason, code="invalid_body")


class _NoMark(Exception):
    """The last row is not the mark."""


def _last_row(body: bytes, mark: str, width: int, delimiter: str) -> bytes:
    """The row of the mark, on a line of its own behind the body."""
    begin = "" if not body or body.endswith((b"\n", b"\r")) else "\n"
    return f"{begin}{mark}{delimiter * (width - 1)}\n".encode()


def _until_mark(reader: pa.RecordBatchReader, mark: str) -> Iterator[pa.RecordBatch]:
    """The batches without the last row, which has to be the mark."""
    last = no_rows(reader.schema)
    for batch in reader:
        yield last
        last = batch
    if not last.num_rows or last.column(0)[-1].as_py() != mark:
        raise _NoMark
    yield last.slice(0, last.num_rows - 1)


def _as_texts(names: Iterable[str], null: str) -> pyarrow.csv.ConvertOptions:
    """All columns as text; a field is NULL if it is `null` and not quoted."""
    return pyarrow.csv.ConvertOptions(
        column_types={name: pa.large_string() for name in names},
        null_values=[null],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


class _Followed(io.RawIOBase):
    """A file of a body and an end, which are not copied into one."""

    def __init__(self, body: bytes, end: bytes) -> None:
        self._parts = [memoryview(body), memoryview(end)]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while self._parts and not self._parts[0]:
            del self._parts[0]
        if not self._parts:
            return 0
        some = self._parts[0][: len(buffer)]
        buffer[: len(some)] = some
        self._parts[0] = self._parts[0][len(some) :]
        return len(some)


def _unclosed(line: int | None) -> BadRequest:
    where = "" if line is None else f"that opens in line {line} "
    return BadRequest(
        f"a quote {where}is still open at the end of the body",
        "the body may have been cut; a quote within a quoted field is written twice",
        code="invalid_body",
    )


def _broken(body: bytes, error: pa.ArrowInvalid) -> BadRequest:
    """The error for broken CSV, with the line if it can be found."""
    open_quote = csv_lines.unclosed(body)
    if open_quote is not None:
        return _unclosed(open_quote)
    found = csv_lines.ragged(body)
    if found is not None:
        line, count, width = found
        return BadRequest(
            f"line {line} has {count} fields, and the header has {width}",
            "put a field that contains a comma, a quote or a line break in double quotes",
            code="invalid_body",
        )
    bad = csv_lines.undecodable(body)
    if bad is not None:
        return BadRequest(f"line {bad} is not UTF-8", code="invalid_body")
    return BadRequest(f"the body is not text/csv: {error}", code="invalid_body")
