"""The bodies of COPY FROM in the binary format, decoded a column at a time.

A column whose fields all have the length of its type, and values that every row may have, is decoded as a
whole. Any other is decoded a field at a time, which names the row that is wrong.

Source: PostgreSQL's manual, "COPY", and the send functions of its types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from engine.codec.json import encode_rows
from engine.codec.timestamps import EPOCH_DAY
from engine.errors import InvalidValue
from engine.kernels.floats import words_of
from engine.kernels.scanning.binary_tuples import (
    CUT,
    DONE,
    MORE,
    UNEVEN,
    find_fields,
    gather_fields,
    read_numbers,
)
from engine.kernels.words import NULL
from engine.schema import INTEGER_RANGES, Column, Kind, Schema
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import BadRequest
from service.pgformats.value_binaries import DAY, DAY_2000
from service.pgformats.value_formats import reader
from service.pgformats.wire_types import BINARY, wire_type
from service.postgres.copy_texts import SIGNATURE
from service.postgres.parameter_values import said

_BATCH = 10_000
"""Rows that are decoded together."""
_FIRST, _LAST = 1 - EPOCH_DAY, 3_652_059 - EPOCH_DAY
"""The days from year 1 to 9999."""


class ColumnFields(NamedTuple):
    """The fields of a column: field i is `sizes[i]` bytes of `data`, uint8[...], from `starts[i]` on, or NULL
    if its size is -1."""

    data: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    def each(self) -> Iterator[bytes | None]:
        """The bytes of each field; None for NULL."""
        for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
            yield None if size < 0 else self.data[start : start + size].tobytes()

    def numbers(self, size: int) -> np.ndarray | None:
        """The numbers int64[n] of fields of so many bytes, 0 for NULL; None if a field has others."""
        found = np.empty(len(self.starts), np.int64)
        return found if read_numbers(self.data, self.starts, self.sizes, size, found) else None

    def binaries(self) -> pa.LargeBinaryArray:
        """The fields as they are."""
        is_null = self.sizes < 0
        offsets = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(np.where(is_null, 0, self.sizes), out=offsets[1:])
        found = np.empty(int(offsets[-1]), np.uint8)
        gather_fields(self.data, self.starts, self.sizes, offsets, found)
        validity = pa.array(~is_null).buffers()[1] if is_null.any() else None
        parts = [validity, pa.py_buffer(offsets), pa.py_buffer(found)]
        return pa.Array.from_buffers(pa.large_binary(), len(self.sizes), parts)


def changes_of_binary(
    body: bytes, definition: Definition, columns: Sequence[int], dictionary: Dictionary
) -> Iterator[TableChanges]:
    """The rows as inserts. Raises InvalidValue and BadRequest that name the row."""
    first = 1
    for rows, fields in _batches(body, len(columns)):
        words = np.repeat(definition.defaults()[:, np.newaxis], rows, axis=1)
        for place, part in zip(columns, fields, strict=True):
            column = definition.loose.columns[place]
            found = _together(part, column, dictionary)
            words[place] = _one_by_one(part, first, column, dictionary) if found is None else found
        yield TableChanges.of(ChangeOp.INSERT, definition.schema, words)
        first += rows


def _batches(body: bytes, width: int) -> Iterator[tuple[int, list[ColumnFields]]]:
    """Some rows after others: their number, and the fields of each column. Raises BadRequest."""
    if body[: len(SIGNATURE)] != SIGNATURE or len(body) < len(SIGNATURE) + 8:
        raise BadRequest("the data does not begin as the binary format does", code="invalid_body")
    at = len(SIGNATURE) + 4
    at += 4 + int.from_bytes(body[at : at + 4], "big")
    before, end, data = 0, MORE, np.frombuffer(body, np.uint8)
    while end == MORE:
        starts, sizes = np.empty((width, _BATCH), np.int64), np.empty((width, _BATCH), np.int64)
        rows, at, end = find_fields(data, at, starts, sizes)
        if end not in (MORE, DONE):
            raise _not_tuples(end, before + rows + 1, body[at - 2 : at], width)
        yield rows, [ColumnFields(data, starts[c, :rows], sizes[c, :rows]) for c in range(width)]
        before += rows


def _not_tuples(end: int, row: int, count: bytes, width: int) -> BadRequest:
    """The error of the row at which a scan has stopped; `count` is its number of fields."""
    fact = f"row {row}: a field is longer than the data"
    if end == CUT:
        fact = f"row {row}: the data ends before its end mark"
    elif end == UNEVEN:
        number = int.from_bytes(count, "big", signed=True)
        fact = f"row {row} has {number} fields, and the COPY {width}"
    return BadRequest(fact, code="invalid_body")


def _one_by_one(fields: ColumnFields, first: int, column: Column, dictionary: Dictionary) -> np.ndarray:
    """The words of a column whose first field is of the row with the number `first`. Raises InvalidValue."""
    wire, part = wire_type(column.type), Schema((column,))
    read = reader(wire, BINARY)
    found = np.empty(len(fields.sizes), np.int64)
    for number, field in enumerate(fields.each()):
        try:
            value = None if field is None else said(read(field), wire)
            found[number] = encode_rows([[value]], part, dictionary)[0, 0]
        except InvalidValue as error:
            fact = error.message.removeprefix(f"column {column.name}: ")
            raise InvalidValue(f"row {first + number}: column {column.name}: {fact}", error.hint) from None
    return found


def _together(fields: ColumnFields, column: Column, dictionary: Dictionary) -> np.ndarray | None:
    """The words of a column; None if its fields have to be decoded one by one."""
    kind = column.type.kind
    if kind is Kind.TEXT:
        return _texts(fields, dictionary)
    if kind not in _NUMBERS:
        return None
    size, words = _NUMBERS[kind]
    numbers = fields.numbers(size)
    found = None if numbers is None else words(numbers, kind)
    if found is None or (column.type.whole and _between(found, *column.type.bounds) is None):
        return None
    found[fields.sizes < 0] = NULL
    return found


def _texts(fields: ColumnFields, dictionary: Dictionary) -> np.ndarray | None:
    try:
        texts = fields.binaries().cast(pa.large_string())  # which refuses what is not UTF-8
    except pa.ArrowInvalid:
        return None
    return dictionary.intern(texts)


def _integers(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    return _between(numbers, *INTEGER_RANGES[kind])


def _reals(numbers: np.ndarray, kind: Kind) -> np.ndarray:
    return words_of(numbers.astype(np.int32).view(np.float32).astype(np.float64))  # type: ignore[no-any-return]


def _doubles(numbers: np.ndarray, kind: Kind) -> np.ndarray:
    return words_of(numbers.view(np.float64))  # type: ignore[no-any-return]


def _booleans(numbers: np.ndarray, kind: Kind) -> np.ndarray:
    return (numbers != 0).astype(np.int64)


def _days(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    return _between(numbers + DAY_2000, _FIRST, _LAST)


def _moments(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    words = _between(numbers, (_FIRST - DAY_2000) * DAY, (_LAST - DAY_2000 + 1) * DAY - 1)
    return None if words is None else words + DAY_2000 * DAY


def _clocks(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    return _between(numbers, 0, DAY - 1)


def _between(words: np.ndarray, low: int, high: int) -> np.ndarray | None:
    return None if len(words) and (words.min() < low or words.max() > high) else words


_NUMBERS: dict[Kind, tuple[int, Callable[[np.ndarray, Kind], np.ndarray | None]]] = {
    Kind.SMALLINT: (2, _integers),
    Kind.INTEGER: (4, _integers),
    Kind.BIGINT: (8, _integers),
    Kind.REAL: (4, _reals),
    Kind.DOUBLE: (8, _doubles),
    Kind.BOOLEAN: (1, _booleans),
    Kind.DATE: (4, _days),
    Kind.TIME: (8, _clocks),
    Kind.TIMESTAMP: (8, _moments),
    Kind.TIMESTAMPTZ: (8, _moments),
}
"""The bytes of the numbers of a kind, and the words of such numbers; None if they are decoded one by one."""
