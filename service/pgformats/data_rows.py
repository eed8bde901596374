"""Rows of answers as DataRow messages, each column in the format that the client has asked for."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from engine.schema import Kind
from service.errors import Conflict
from service.pgformats.answer_values import values_of_column
from service.pgformats.column_fields import fields_by_arrow, fields_of_list
from service.pgformats.value_formats import writer
from service.pgformats.wire_types import OF_CATALOGS, TEXT, WIRE_NUMERIC, WireColumn, modifier_of, of_duckdb
from service.reading.duck import Answer
from service.reading.results import column_type
from service.reading.session_zones import UTC_ZONE, SessionZone

_NULL = b"\xff\xff\xff\xff"
_length = struct.Struct("!i").pack
_head = struct.Struct("!ciH").pack
_INTEGERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT})


def columns_of(answer: Answer) -> tuple[WireColumn, ...]:
    """The columns of an answer. A HUGEINT is a NUMERIC if a value needs it."""
    return tuple(_column(answer, place) for place in range(len(answer.names)))


def _column(answer: Answer, place: int) -> WireColumn:
    name, type = answer.names[place], answer.types[place]
    if type == "HUGEINT" and column_type(answer, place) != "BIGINT":
        return WireColumn(name, WIRE_NUMERIC)
    special = OF_CATALOGS.get(answer.named[place]) if len(answer.named) == len(answer.names) else None
    return WireColumn(name, special or of_duckdb(type), modifier_of(type))


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """The rows of an answer, with the columns that the client knows."""

    answer: Answer
    columns: tuple[WireColumn, ...]

    @classmethod
    def of(cls, answer: Answer, described: tuple[WireColumn, ...] | None = None) -> AnswerRows:
        """With the columns as they were `described`. Raises Conflict if the answer has others."""
        columns = columns_of(answer)
        if described is None:
            return cls(answer, columns)
        if len(described) != len(columns) or not all(map(_fits, columns, described)):
            raise columns_changed()
        return cls(answer, described)

    @property
    def size(self) -> int:
        return self.answer.table.num_rows

    def fields(
        self, formats: Sequence[int], start: int, stop: int, zone: SessionZone = UTC_ZONE
    ) -> Sequence[Sequence[bytes | None]]:
        """The values of each column from row `start` to `stop` as bytes; None for NULL."""
        part = self.answer.table.slice(start, stop - start)
        try:
            return [
                _fields(part.column(place).combine_chunks(), self.answer.types[place], column, form, zone)
                for place, (column, form) in enumerate(zip(self.columns, formats, strict=True))
            ]
        except struct.error:
            raise columns_changed() from None

    def texts(self, start: int, stop: int, zone: SessionZone) -> list[pa.Array]:
        """The values of each column from row `start` to `stop` in the text format, as large_binary."""
        part = self.answer.table.slice(start, stop - start)
        found = []
        for place, column in enumerate(self.columns):
            array = part.column(place).combine_chunks()
            texts = fields_by_arrow(array, column)
            if texts is None:
                texts = fields_of_list(_fields(array, self.answer.types[place], column, TEXT, zone))
            found.append(texts)
        return found

    def messages(self, formats: Sequence[int], start: int, stop: int, zone: SessionZone = UTC_ZONE) -> bytes:
        """The rows from `start` to `stop` as DataRow messages."""
        return b"".join(data_rows(self.fields(formats, start, stop, zone), stop - start))


def columns_changed() -> Conflict:
    """The error of an answer that does not fit what the client was told of it."""
    return Conflict(
        "the columns of the statement have changed since it was prepared",
        "prepare it again",
        code="columns_changed",
    )


def data_rows(columns: Sequence[Sequence[bytes | None]], rows: int) -> Iterator[bytes]:
    """DataRow messages of so many rows from the fields of each column."""
    return map(data_row, zip(*columns, strict=True)) if columns else iter([data_row(())] * rows)


def data_row(fields: Sequence[bytes | None]) -> bytes:
    """A DataRow message."""
    body = b"".join([_NULL if field is None else _length(len(field)) + field for field in fields])
    return _head(b"D", len(body) + 6, len(fields)) + body


def _fields(
    array: pa.Array, duckdb_type: str, column: WireColumn, form: int, zone: SessionZone
) -> list[bytes | None]:
    write = writer(column.type, form, zone)
    values: list[Any] = values_of_column(array, duckdb_type, column.type)
    return [None if value is None else write(value) for value in values]


def _fits(actual: WireColumn, described: WireColumn) -> bool:
    """Whether values of the actual type can be written as the described one, without loss. A HUGEINT may be
    described as a BIGINT and be a NUMERIC without digits, or the other way round."""
    if actual.type.oid == described.type.oid:
        return True
    kinds = actual.type.kind, described.type.kind
    is_whole = actual.type.kind in _INTEGERS or (actual.type is WIRE_NUMERIC and actual.modifier == -1)
    return is_whole and kinds[1] in _INTEGERS | {Kind.NUMERIC}
