"""Where the rows of CSV are: the line of a row, for the one that an error is about.

Python's reader counts lines as an editor does, also those within quotes, and takes quotes as PyArrow
does. It reads a body again from its beginning, which only errors have to wait for.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator


def line_of(body: bytes, row: int) -> int | None:
    """The line, from 1, at which a row begins, counted from 0 after the header; None if it cannot be told."""
    for number, (line, _) in enumerate(_rows(body), -1):
        if number == row:
            return line
    return None


def ragged(body: bytes) -> tuple[int, int, int] | None:
    """The line of the first row that has not as many fields as the header, its number of fields, and that
    of the header; None if there is none, or it cannot be told."""
    width = None
    for line, count in _rows(body):
        if width is None:
            width = count
        elif count != width:
            return line, count, width
    return None


def undecodable(body: bytes) -> int | None:
    """The line of the first byte that is not UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return body.count(b"\n", 0, error.start) + 1
    return None


def _rows(body: bytes) -> Iterator[tuple[int, int]]:
    """The line at which each row begins, and how many fields it has; blank lines are no rows."""
    text = io.TextIOWrapper(io.BytesIO(body), "utf-8", errors="replace", newline="")
    reader = csv.reader(text)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, len(fields)
            begins = reader.line_num + 1
    except csv.Error:
        return
