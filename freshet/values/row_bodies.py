"""Rows as a caller has them, as bodies of changes: Arrow streams for tables, NDJSON for Python's objects.

A table is whatever offers Arrow's C stream: PyArrow's, pandas' and Polars' tables, DuckDB's relations, the
client's own `Rows`. Objects are mappings and instances of dataclasses, one or many. Values that JSON lacks
are written as the REST contract says; a value that has no exact form is an InvalidRequestError.
"""

from __future__ import annotations

import dataclasses
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.ipc

from freshet.errors import InvalidRequestError

ARROW = "application/vnd.apache.arrow.stream"
NDJSON = "application/x-ndjson"
OPERATION = "_op"
"""The column of a table that names each row's operation."""
OPERATIONS = ("insert", "upsert", "delete")

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_INT64 = range(-(2**63), 2**63)
_ROWS = "pass mappings, dataclasses, or a table of PyArrow, pandas or Polars"


def is_tabular(rows: object) -> bool:
    """Whether rows come as Arrow."""
    return hasattr(rows, "__arrow_c_stream__") or isinstance(rows, pa.RecordBatch)


def arrow_table(rows: Any) -> pa.Table:
    """The rows of a table of any library, without a copy where that can be."""
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    unnamed = [name for name in table.schema.names if _PANDAS_INDEX.fullmatch(name)]
    return table.drop_columns(unnamed) if unnamed else table


def body_of(operation: str, rows: object) -> tuple[str, bytes]:
    """The content type and the bytes of rows that all have one operation."""
    if is_tabular(rows):
        table = arrow_table(rows)
        if OPERATION in table.schema.names:
            raise InvalidRequestError(
                f"the table has a column {OPERATION}", "pass it to apply, which reads operations from there"
            )
        return ARROW, _stream(_with_operation(table, operation))
    return NDJSON, _lines({operation: row} for row in json_rows(rows))


def body_of_changes(changes: object) -> tuple[str, bytes]:
    """The same for changes that name their operations: `{"upsert": {...}}`, or a column `_op`."""
    if is_tabular(changes):
        return ARROW, _stream(arrow_table(changes))
    return NDJSON, _lines(json_changes(changes))


def json_changes(changes: object) -> Iterator[dict[str, dict[str, object]]]:
    """Changes that name their operations, ready for JSON."""
    for change in _each(changes):
        if not isinstance(change, Mapping) or len(change) != 1 or next(iter(change)) not in OPERATIONS:
            raise InvalidRequestError(
                f"not a change: {_shown(change)}",
                'a change is {"insert": row}, {"upsert": row} or {"delete": row}',
            )
        ((operation, row),) = change.items()
        yield {operation: _json_row(row)}


def json_rows(rows: object) -> Iterator[dict[str, object]]:
    """Rows that are Python's objects, ready for JSON."""
    return map(_json_row, _each(rows))


def _each(rows: object) -> Iterator[object]:
    """The rows; one row if it is a single object."""
    if isinstance(rows, Mapping) or (dataclasses.is_dataclass(rows) and not isinstance(rows, type)):
        return iter((rows,))
    if isinstance(rows, Iterable) and not isinstance(rows, str | bytes):
        return iter(rows)
    raise InvalidRequestError(f"not rows: {_shown(rows)}", _ROWS)


def _json_row(row: object) -> dict[str, object]:
    if isinstance(row, Mapping):
        return {name: json_value(value) for name, value in row.items()}
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: json_value(getattr(row, field.name)) for field in dataclasses.fields(row)}
    raise InvalidRequestError(f"not a row: {_shown(row)}", _ROWS)


def json_value(value: object) -> object:
    """A column's value as the REST contract writes it."""
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is int:
        return value if value in _INT64 else str(value)  # type: ignore[operator]
    if kind is float:
        return value if math.isfinite(value) else _float_name(value)  # type: ignore[arg-type]
    return _other_value(value)


def _other_value(value: Any) -> object:
    match value:
        case Enum():
            return json_value(value.value)
        case Decimal() | UUID():
            return str(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return _duration(0, value.days, value.seconds * 10**9 + value.microseconds * 1000)
        case pa.MonthDayNano():
            return _duration(value.months, value.days, value.nanoseconds)
        case bytes() | bytearray() | memoryview():
            return b64encode(bytes(value)).decode()
        case np.generic():
            return json_value(value.item())
        case Mapping():
            return {str(name): _document(inner) for name, inner in value.items()}
        case list() | tuple() | np.ndarray():
            return [json_value(inner) for inner in value]
        case bool() | int() | float() | str():  # of a class of the caller's own
            return json_value(
                next(kind(value) for kind in (bool, int, float, str) if isinstance(value, kind))
            )
    raise InvalidRequestError(f"a value of {type(value).__name__} has no form in SQL: {_shown(value)}")


def _document(value: object) -> object:
    """A value inside a JSON document: JSON's own kinds alone, for nothing may change on the way."""
    match value:
        case Mapping():
            return {str(name): _document(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_document(inner) for inner in value]
        case None | bool() | str():
            return value
        case int() if value in _INT64:
            return value
        case float() if math.isfinite(value):
            return value
    raise InvalidRequestError(f"JSON cannot hold {_shown(value)}", "write it as a text")


def _float_name(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _duration(months: int, days: int, nanoseconds: int) -> str:
    """An ISO 8601 duration; each part has its own sign."""
    sign = "-" if nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(nanoseconds), 10**9)
    decimals = f".{fraction:09}".rstrip("0") if fraction else ""
    return f"P{months}M{days}DT{sign}{seconds}{decimals}S"


def _lines(values: Iterable[object]) -> bytes:
    return b"".join(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE) for value in values)


def _with_operation(table: pa.Table, operation: str) -> pa.Table:
    """The table with the operation of all its rows; inserts need no column."""
    if operation == "insert":
        return table
    places = pa.array(np.zeros(table.num_rows, np.int32))
    return table.append_column(OPERATION, pa.DictionaryArray.from_arrays(places, [operation]))


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
