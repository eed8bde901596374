"""Whole columns of answers as fields in PostgreSQL's text format, by Arrow where it writes the same texts.

Arrow writes integers, texts, booleans, days of the years 1 to 9999, and decimals of up to six places, as
PostgreSQL does. All else is written a value at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from engine.schema import Kind
from service.pgformats.wire_types import WireColumn

_BYTES, _TEXTS = pa.large_binary(), pa.large_string()
_PLACES = 6
_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)
_NUMBERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT})
_STRINGS = frozenset({Kind.TEXT, Kind.UUID, Kind.TIMETZ, Kind.BIT, Kind.JSON})


def fields_by_arrow(array: pa.Array, column: WireColumn) -> pa.Array | None:
    """The fields of a column as large_binary, null for NULL; None if they are written one by one."""
    if column.type.element is not None:
        return None
    kind, of = column.type.kind, array.type
    for kinds, is_of, convert in _WAYS:
        if kind in kinds and is_of(of):
            texts = convert(array)
            return None if texts is None else texts.cast(_BYTES)
    return None


def fields_of_list(fields: list[bytes | None]) -> pa.Array:
    """The same from a list."""
    return pa.array(fields, _BYTES)


def _is_signed(type: pa.DataType) -> bool:
    return pa.types.is_signed_integer(type)


def _is_text(type: pa.DataType) -> bool:
    return pa.types.is_string(type) or pa.types.is_large_string(type)


def _is_short_decimal(type: pa.DataType) -> bool:
    return pa.types.is_decimal128(type) and 0 <= type.scale <= _PLACES


def _cast(array: pa.Array) -> pa.Array:
    return array.cast(_TEXTS)


def _letters(array: pa.Array) -> pa.Array:
    return pc.if_else(array, pa.scalar("t", _TEXTS), pa.scalar("f", _TEXTS))


def _days(array: pa.Array) -> pa.Array | None:
    ends = pc.min_max(array.cast(pa.date32()))
    least, most = ends["min"], ends["max"]
    first, last = (pa.scalar(day, pa.date32()) for day in (_FIRST, _LAST))
    if least.is_valid and (pc.less(least, first).as_py() or pc.greater(most, last).as_py()):
        return None
    return array.cast(pa.date32()).cast(_TEXTS)


_WAYS: tuple[
    tuple[frozenset[Kind], Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array | None]], ...
] = (
    (_NUMBERS, _is_signed, _cast),
    (_STRINGS, _is_text, _cast),
    (frozenset({Kind.BOOLEAN}), pa.types.is_boolean, _letters),
    (frozenset({Kind.DATE}), pa.types.is_date32, _days),
    (frozenset({Kind.NUMERIC}), _is_short_decimal, _cast),
)
