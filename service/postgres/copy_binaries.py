"""The bodies of COPY FROM in the binary format, decoded a column at a time.

A column whose fields all have the length of its type, and values that every row may have, is decoded as a
whole. Any other is decoded a field at a time, which names the row that is wrong.

Source: PostgreSQL's manual, "COPY", and the send functions of its types.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from engine.codec.json import encode_rows
from engine.codec.timestamps import EPOCH_DAY
from engine.errors import InvalidValue
from engine.kernels.floats import words_of
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

Fields = Sequence[bytes | None]
"""Those of a column; None for NULL."""
_BATCH = 10_000
"""Rows that are decoded together."""
_count = struct.Struct("!h").unpack_from
_size = struct.Struct("!i").unpack_from
_FIRST, _LAST = 1 - EPOCH_DAY, 3_652_059 - EPOCH_DAY
"""The days from year 1 to 9999."""


def changes_of_binary(
    body: bytes, definition: Definition, columns: Sequence[int], dictionary: Dictionary
) -> Iterator[TableChanges]:
    """The rows as inserts. Raises InvalidValue and BadRequest that name the row."""
    rows: list[list[bytes | None]] = []
    first = 1
    for fields in _tuples(body, len(columns)):
        rows.append(fields)
        if len(rows) == _BATCH:
            yield _changes(rows, first, definition, columns, dictionary)
            first, rows = first + len(rows), []
    yield _changes(rows, first, definition, columns, dictionary)


def _tuples(body: bytes, width: int) -> Iterator[list[bytes | None]]:
    """The fields of each row. Raises BadRequest."""
    if body[: len(SIGNATURE)] != SIGNATURE or len(body) < len(SIGNATURE) + 8:
        raise BadRequest("the data does not begin as the binary format does", code="invalid_body")
    at = len(SIGNATURE) + 4
    at += 4 + int.from_bytes(body[at : at + 4], "big")
    row, end, places = 0, len(body), range(width)
    while True:
        if end < at + 2:
            raise BadRequest(f"row {row + 1}: the data ends before its end mark", code="invalid_body")
        (count,) = _count(body, at)
        at += 2
        if count == -1:
            return
        row += 1
        if count != width:
            raise BadRequest(f"row {row} has {count} fields, and the COPY {width}", code="invalid_body")
        fields: list[bytes | None] = []
        for _ in places:
            (size,) = _size(body, at) if at + 4 <= end else (-2,)
            at += 4
            if size == -1:
                fields.append(None)
                continue
            if size < 0 or at + size > end:
                raise BadRequest(f"row {row}: a field is longer than the data", code="invalid_body")
            fields.append(body[at : at + size])
            at += size
        yield fields


def _changes(
    rows: Sequence[Fields],
    first: int,
    definition: Definition,
    columns: Sequence[int],
    dictionary: Dictionary,
) -> TableChanges:
    """The rows of a batch, whose first has the number `first`, with defaults in the other columns."""
    words = np.repeat(definition.defaults()[:, np.newaxis], len(rows), axis=1)
    for place, fields in zip(columns, zip(*rows, strict=True), strict=False):
        column = definition.loose.columns[place]
        found = _together(fields, column, dictionary)
        words[place] = _one_by_one(fields, first, column, dictionary) if found is None else found
    return TableChanges.of(ChangeOp.INSERT, definition.schema, words)


def _one_by_one(fields: Fields, first: int, column: Column, dictionary: Dictionary) -> np.ndarray:
    """The words of a column. Raises InvalidValue."""
    wire, part = wire_type(column.type), Schema((column,))
    read = reader(wire, BINARY)
    found = np.empty(len(fields), np.int64)
    for number, field in enumerate(fields):
        try:
            value = None if field is None else said(read(field), wire)
            found[number] = encode_rows([[value]], part, dictionary)[0, 0]
        except InvalidValue as error:
            fact = error.message.removeprefix(f"column {column.name}: ")
            raise InvalidValue(f"row {first + number}: column {column.name}: {fact}", error.hint) from None
    return found


def _together(fields: Fields, column: Column, dictionary: Dictionary) -> np.ndarray | None:
    """The words of a column; None if its fields have to be decoded one by one."""
    kind = column.type.kind
    if kind is Kind.TEXT:
        return _texts(fields, dictionary)
    if kind not in _NUMBERS:
        return None
    form, words = _NUMBERS[kind]
    size = np.dtype(form).itemsize
    if set(map(len, filter(None, fields))) - {size} or b"" in fields:
        return None
    null = np.array([field is None for field in fields], np.bool_)
    nothing = bytes(size)
    data = b"".join([nothing if field is None else field for field in fields])
    found = words(np.frombuffer(data, form), kind)
    if found is None:
        return None
    found[null] = NULL
    return found


def _texts(fields: Fields, dictionary: Dictionary) -> np.ndarray | None:
    array = pa.array(fields, pa.large_binary())
    try:
        texts = array.cast(pa.large_string())  # which refuses what is not UTF-8
    except pa.ArrowInvalid:
        return None
    return dictionary.intern(texts)


def _integers(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    words, (low, high) = numbers.astype(np.int64), INTEGER_RANGES[kind]
    return None if len(words) and (words.min() < low or words.max() > high) else words


def _floats(numbers: np.ndarray, kind: Kind) -> np.ndarray:
    return words_of(numbers.astype(np.float64))  # type: ignore[no-any-return]


def _booleans(numbers: np.ndarray, kind: Kind) -> np.ndarray:
    return (numbers != 0).astype(np.int64)


def _days(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    return _between(numbers.astype(np.int64) + DAY_2000, _FIRST, _LAST)


def _moments(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    words = _between(numbers.astype(np.int64), (_FIRST - DAY_2000) * DAY, (_LAST - DAY_2000 + 1) * DAY - 1)
    return None if words is None else words + DAY_2000 * DAY


def _clocks(numbers: np.ndarray, kind: Kind) -> np.ndarray | None:
    return _between(numbers.astype(np.int64), 0, DAY - 1)


def _between(words: np.ndarray, low: int, high: int) -> np.ndarray | None:
    return None if len(words) and (words.min() < low or words.max() > high) else words


_NUMBERS: dict[Kind, tuple[str, Callable[[np.ndarray, Kind], np.ndarray | None]]] = {
    Kind.SMALLINT: (">i2", _integers),
    Kind.INTEGER: (">i4", _integers),
    Kind.BIGINT: (">i8", _integers),
    Kind.REAL: (">f4", _floats),
    Kind.DOUBLE: (">f8", _floats),
    Kind.BOOLEAN: ("u1", _booleans),
    Kind.DATE: (">i4", _days),
    Kind.TIME: (">i8", _clocks),
    Kind.TIMESTAMP: (">i8", _moments),
    Kind.TIMESTAMPTZ: (">i8", _moments),
}
"""The form of the numbers of a kind, and the words of such numbers; None if they are decoded one by one."""
