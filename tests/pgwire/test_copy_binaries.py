"""Columns of the binary format: decoded together they give the words that each field gives alone."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from engine.errors import InvalidValue
from engine.schema import Column, Kind, Type
from engine.state.dictionary import Dictionary
from service.errors import BadRequest
from service.postgres import copy_binaries
from service.postgres.copy_binaries import ColumnFields, _batches, _one_by_one, _together
from service.postgres.copy_texts import END, HEAD

DAY = 86_400_000_000
FORMS: dict[Kind, tuple[str, tuple]] = {
    Kind.BOOLEAN: ("!?", (True, False)),
    Kind.SMALLINT: ("!h", (0, -(2**15), 2**15 - 1)),
    Kind.INTEGER: ("!i", (0, -(2**31), 2**31 - 1)),
    Kind.BIGINT: ("!q", (0, 1 - 2**63, 2**63 - 1)),
    Kind.REAL: ("!f", (0.1, -0.0, float("nan"), float("-inf"))),
    Kind.DOUBLE: ("!d", (0.1, -0.0, float("nan"), float("inf"), 5e-324)),
    Kind.DATE: ("!i", (0, -730_119, 2_921_939, -10_957)),
    Kind.TIME: ("!q", (0, DAY - 1)),
    Kind.TIMESTAMP: ("!q", (0, -730_119 * DAY, 2_921_940 * DAY - 1, -10_957 * DAY)),
    Kind.TIMESTAMPTZ: ("!q", (0, -1, 10**15)),
}
APART: dict[Kind, tuple] = {
    Kind.BIGINT: (-(2**63),),
    Kind.DATE: (-730_120, 2_921_940, 2**31 - 1, -(2**31)),
    Kind.TIME: (DAY, -1),
    Kind.TIMESTAMP: (-730_119 * DAY - 1, 2_921_940 * DAY, 2**63 - 1, -(2**63)),
}
"""Values that not every row may have, or that mean something else."""


def fields_of(fields: list[bytes | None]) -> ColumnFields:
    """The fields as parts of a body, with other bytes between them."""
    body, starts = b"", []
    for field in fields:
        body += b"?"
        starts.append(len(body))
        body += field or b""
    sizes = [-1 if field is None else len(field) for field in fields]
    return ColumnFields(np.frombuffer(body, np.uint8), np.array(starts, np.int64), np.array(sizes, np.int64))


def body_of(rows: list[list[bytes | None]]) -> bytes:
    """A body without its end mark."""
    body = HEAD
    for row in rows:
        body += struct.pack("!h", len(row))
        for field in row:
            body += struct.pack("!i", -1) if field is None else struct.pack("!i", len(field)) + field
    return body


def rows_of(body: bytes, width: int) -> list[list[bytes | None]]:
    """The rows that a body is cut into."""
    found: list[list[bytes | None]] = []
    for rows, columns in _batches(body, width):
        found += map(list, zip(*[column.each() for column in columns], strict=True))
        assert all(len(column.sizes) == rows for column in columns)
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7])
@pytest.mark.parametrize("width", [1, 3])
def test_bodies_are_cut_into_rows(count: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_binaries, "_BATCH", 3)
    choices = [None, b"", b"a", b"\xff\xff", b"\0\1\0\0\0\0"]
    rows = [[choices[(row * 7 + place * 3) % 5] for place in range(width)] for row in range(count)]
    body = body_of(rows)
    assert rows_of(body + END, width) == rows_of(body + END + b"more", width) == rows
    for size in range(len(HEAD), len(body) + 1):
        with pytest.raises(BadRequest, match=r"row \d+: (a field is longer than|the data ends before)"):
            rows_of(body[:size], width)
    with pytest.raises(BadRequest, match=rf"row {count + 1} has {width + 1} fields, and the COPY {width}"):
        rows_of(body + body_of([[b""] * (width + 1)])[len(HEAD) :] + END, width)
    with pytest.raises(BadRequest, match=rf"row {count + 1}: a field is longer than the data"):
        rows_of(body + struct.pack("!hi", width, -2) + END, width)


@pytest.mark.parametrize("kind", FORMS)
def test_together_as_alone(kind: Kind) -> None:
    form, values = FORMS[kind]
    fields = fields_of([None, *(struct.pack(form, value) for value in values), None])
    column, dictionary = Column("c", Type(kind), True), Dictionary()
    found = _together(fields, column, dictionary)
    assert found is not None
    assert found.tolist() == _one_by_one(fields, 1, column, dictionary).tolist()
    null = fields_of([None])
    assert _together(null, column, dictionary).tolist() == _one_by_one(null, 1, column, dictionary).tolist()


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in APART for value in APART[kind]])
def test_what_is_unusual_is_decoded_alone(kind: Kind, value: int) -> None:
    field = struct.pack(FORMS[kind][0], value)
    assert _together(fields_of([field]), Column("c", Type(kind), True), Dictionary()) is None


@pytest.mark.parametrize("kind", [*FORMS, Kind.TEXT])
def test_what_is_wrong_is_told_with_its_row(kind: Kind) -> None:
    form, values = FORMS.get(kind, ("!3s", (b"abc",)))
    wrong = b"\xff" if kind is Kind.TEXT else struct.pack(form, values[0]) + b"x"
    fields = fields_of([struct.pack(form, values[0]), None, wrong])
    column, dictionary = Column("c", Type(kind), True), Dictionary()
    assert _together(fields, column, dictionary) is None
    with pytest.raises(InvalidValue, match=r"^row 12: column c: "):
        _one_by_one(fields, 10, column, dictionary)


def test_texts_are_interned_once() -> None:
    column, dictionary = Column("c", Type(Kind.TEXT), True), Dictionary()
    fields = fields_of([b"a", None, "ü".encode(), b"", b"a"])
    found = _together(fields, column, dictionary)
    assert found is not None and dictionary.texts(found) == ["a", None, "ü", "", "a"]
    assert found.dtype == np.int64 and found[0] == found[4]
