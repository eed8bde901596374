"""Lines of CSV: the line in which a row begins, for error messages.

Python's reader counts lines as an editor does, including those within quotes, and treats quotes as PyArrow
does. It reads the body again from its beginning, which only errors have to wait for.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

_MARK = b"end of the body"
_BREAK = re.compile(r"\r\n|\r|\n")


def line_of(body: bytes, row: int) -> int | None:
    """The line, from 1, at which a row begins; rows count from 0 after the header. None if it is unknown."""
    for number, (line, _) in enumerate(_rows(body), -1):
        if number == row:
            return line
    return None


def ragged(body: bytes) -> tuple[int, int, int] | None:
    """The line of the first row with another number of fields than the header, then both numbers. None if
    there is no such row or the body cannot be read."""
    width = None
    for line, count in _rows(body):
        if width is None:
            width = count
        elif count != width:
            return line, count, width
    return None


def unclosed(body: bytes) -> int | None:
    """The line of the quote that is still open at the end of the body; None if all are closed."""
    reader = csv.reader(_text(body + b"\n" + _MARK))
    begins, last = 1, [""]
    try:
        for fields in reader:
            last = fields or last
            begins = reader.line_num + 1
    except csv.Error:  # a field is longer than Python reads
        return begins
    return None if last == [_MARK.decode()] else reader.line_num - len(_BREAK.findall(last[-1]))


def undecodable(body: bytes) -> int | None:
    """The line of the first byte that is not UTF-8; None if there is none."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return body.count(b"\n", 0, error.start) + 1
    return None


def rows_of(body: bytes, delimiter: str, quote: str | None, escape: str | None) -> Iterator[tuple[int, int]]:
    """The line and the number of fields of each row in a form of its own, where blank lines are rows too."""
    if quote is None:
        for line, text in enumerate(_BREAK.split(body.decode(errors="replace").rstrip("\r\n")), 1):
            yield line, text.count(delimiter) + 1
        return
    reader = csv.reader(
        _text(body),
        delimiter=delimiter,
        quotechar=quote,
        doublequote=escape == quote,
        escapechar=None if escape == quote else escape,
    )
    begins = 1
    try:
        for fields in reader:
            yield begins, max(len(fields), 1)
            begins = reader.line_num + 1
    except csv.Error:
        return


def _rows(body: bytes) -> Iterator[tuple[int, int]]:
    """The line and the number of fields of each row. Blank lines are rows only where there is one column."""
    reader = csv.reader(_text(body))
    begins, width = 1, 0
    try:
        for fields in reader:
            width = width or len(fields)
            if fields or width == 1:
                yield begins, max(len(fields), 1)
            begins = reader.line_num + 1
    except csv.Error:
        return


def _text(body: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(body), "utf-8", errors="replace", newline="")
