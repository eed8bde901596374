"""Columns of answers as the values that `value_formats` writes.

Moments and days become numbers first, because Python has no values for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import islice
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.durations import interval_of
from engine.schema import Kind
from service.errors import Invalid
from service.pgformats.wire_types import WireType
from service.reading.results import column_values

_MOST_INT8 = 2**63 - 1


def values_of_column(array: pa.Array, duckdb_type: str, type: WireType) -> list[Any]:
    """The values of a column of DuckDB's type that clients get as `type`; None for NULL."""
    if duckdb_type.startswith("MAP("):
        return _as_json(column_values(duckdb_type, "JSON", array))
    return _values(array, type)


def _as_json(values: list[Any]) -> list[str | None]:
    return [None if value is None else orjson.dumps(value).decode() for value in values]


def _int8(number: int) -> int:
    if not -_MOST_INT8 - 1 <= number <= _MOST_INT8:
        raise Invalid(
            f"{number} is out of range for the column's type, bigint",
            "cast the expression to NUMERIC(38, 0)",
            code="invalid_value",
        )
    return number


def _values(array: pa.Array, type: WireType) -> list[Any]:
    of = array.type
    if pa.types.is_dictionary(of):
        return _values(array.dictionary_decode(), type)
    if pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of):
        return _lists(array, type)
    if pa.types.is_struct(of):
        return _records(array, type.element or type)
    if pa.types.is_map(of):
        return _as_json(column_values("", "JSON", array))
    if pa.types.is_decimal(of) and (type.element or type).kind is Kind.BIGINT:
        return [None if number is None else _int8(int(number)) for number in array.to_pylist()]
    if pa.types.is_integer(of) and (type.element or type).kind is Kind.NUMERIC:
        return [None if number is None else Decimal(number) for number in array.to_pylist()]
    if pa.types.is_string(of) and type.kind is Kind.NUMERIC:  # with NaN or an infinity
        return [None if text is None else Decimal(text) for text in array.to_pylist()]
    for is_of, convert in _CONVERTERS:
        if is_of(of):
            return convert(array)
    return array.to_pylist()


def _records(array: pa.StructArray, type: WireType) -> list[Any]:
    fields = zip(array.flatten(), type.fields, strict=True)
    rows = zip(*(_values(part, field) for part, (_, field) in fields), strict=True)
    return [
        row if is_there else None for is_there, row in zip(array.is_valid().to_pylist(), rows, strict=True)
    ]


def _lists(array: pa.Array, type: WireType) -> list[Any]:
    elements = iter(_values(array.flatten(), type))
    lengths = pc.list_value_length(array).to_pylist()
    return [None if n is None else list(islice(elements, n)) for n in lengths]


def _moments(array: pa.Array) -> list[Any]:
    return array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.int64()).to_pylist()


def _intervals(array: pa.Array) -> list[Any]:
    return [None if value is None else interval_of(value) for value in array.to_pylist()]


_CONVERTERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]], ...] = (
    (pa.types.is_date, lambda array: array.cast(pa.date32()).cast(pa.int32()).to_pylist()),
    (pa.types.is_time, lambda array: array.cast(pa.time64("us")).cast(pa.int64()).to_pylist()),
    (pa.types.is_timestamp, _moments),
    (pa.types.is_interval, _intervals),
    (pa.types.is_uint64, lambda array: array.cast(pa.decimal128(20, 0)).to_pylist()),
)
