"""Rows of COPY TO, put together by columns: as one would write them field by field."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from service.pgformats.data_rows import AnswerRows
from service.postgres.copy_statements import CopyFormat
from service.postgres.copy_texts import column_texts, lines, messages
from service.reading.duck import Answer
from service.reading.session_zones import UTC_ZONE
from tests.pgwire.door import framed

TEXTS = ("", "a", "\\.", "\\N", "x,y", 'q"q', "l\nm", "t\tt", "ü", "NULL", "\\", "a\\.b", "\r", "1")
KINDS: dict[str, tuple[str, pa.DataType, tuple]] = {
    "i": ("BIGINT", pa.int64(), (0, -5, 2**62)),
    "s": ("SMALLINT", pa.int16(), (1, -1)),
    "t": ("VARCHAR", pa.string(), TEXTS),
    "b": ("BOOLEAN", pa.bool_(), (True, False)),
    "d": ("DATE", pa.date32(), (date.min, date.max, date(2024, 2, 29), -719163, 2932897)),
    "n": ("DECIMAL(10,2)", pa.decimal128(10, 2), (Decimal("0.00"), Decimal("-1.50"))),
    "m": ("DECIMAL(18,6)", pa.decimal128(18, 6), (Decimal("0.000001"), Decimal("1.000000"))),
    "z": ("DECIMAL(18,9)", pa.decimal128(18, 9), (Decimal("1e-9"), Decimal("0e-9"))),
    "f": ("DOUBLE", pa.float64(), (1.5, 1e20, -0.0, float("nan"), 1e-7)),
    "at": ("TIMESTAMP", pa.timestamp("us"), (datetime(2024, 1, 1), datetime(1969, 12, 31, 1, 2, 3, 4))),
}
ESCAPES = {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def in_text(form: CopyFormat) -> Callable[[str, str, bool], str]:
    def write(field: str, name: str, is_alone: bool) -> str:
        found = "".join(ESCAPES.get(letter, letter) for letter in field)
        return found if form.delimiter == "\t" else found.replace(form.delimiter, "\\" + form.delimiter)

    return write


def in_csv(form: CopyFormat) -> Callable[[str, str, bool], str]:
    def write(field: str, name: str, is_alone: bool) -> str:
        forced = form.force_quote is None or name in form.force_quote
        marked = re.search(f'[{re.escape(form.delimiter)}"\r\n]', field)
        if not (forced or marked or field == form.null or (is_alone and field == "\\.")):
            return field
        return '"' + field.replace('"', '""') + '"'

    return write


def expected(rows: AnswerRows, form: CopyFormat, start: int, stop: int) -> bytes:
    """The messages, from the fields of each row."""
    names = [column.name for column in rows.columns]
    write = in_text(form) if form.kind == "TEXT" else in_csv(form)
    found = []
    for row in zip(*rows.fields((0,) * len(names), start, stop), strict=True):
        fields = [
            form.null if field is None else write(field.decode(), name, len(names) == 1)
            for field, name in zip(row, names, strict=True)
        ]
        found.append(framed(b"d", (form.delimiter.join(fields) + "\n").encode()))
    return b"".join(found)


@pytest.mark.parametrize("kind", ["TEXT", "CSV"])
def test_columns_are_written_as_fields_are(kind: str) -> None:
    random = Random(5)
    for _ in range(400):
        count = random.randrange(6)
        names = random.sample(list(KINDS), random.choice([1, 1, 2, 3, 5]))
        columns = [
            pa.array([random.choice((None, *KINDS[name][2])) for _ in range(count)], KINDS[name][1])
            for name in names
        ]
        table = pa.Table.from_arrays(columns, names)
        rows = AnswerRows.of(Answer(tuple(names), tuple(KINDS[name][0] for name in names), table))
        delimiter = random.choice("\t,|1" if kind == "TEXT" else ",;1")
        null = random.choice(("\\N", "x", "", "a") if kind == "TEXT" else ("", "NULL", "a", "1"))
        force = random.choice([frozenset(), None, frozenset({"t"})])
        form = CopyFormat(kind, delimiter=delimiter, null=null, force_quote=force)
        start = random.randrange(count + 1)
        found = messages(lines(form, column_texts(form, names), rows.texts(start, count, UTC_ZONE)))
        assert found == expected(rows, form, start, count), (form, columns)
