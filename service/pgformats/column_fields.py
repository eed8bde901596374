"""Whole columns of answers as fields in PostgreSQL's text format, by Arrow where it writes the same texts.

All else is written a value at a time.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.column_texts import TEXTS, column_texts
from engine.schema import Kind
from service.pgformats.wire_types import WireColumn

_BYTES = pa.large_binary()


def fields_by_arrow(array: pa.Array, column: WireColumn) -> pa.Array | None:
    """The fields of a column as large_binary, null for NULL; None if they are written one by one."""
    if column.type.element is not None:
        return None
    is_boolean = column.type.kind is Kind.BOOLEAN and pa.types.is_boolean(array.type)
    texts = _letters(array) if is_boolean else column_texts(array, column.type.kind)
    return None if texts is None else texts.cast(_BYTES)


def fields_of_list(fields: list[bytes | None]) -> pa.Array:
    """The same from a list."""
    return pa.array(fields, _BYTES)


def _letters(array: pa.Array) -> pa.Array:
    return pc.if_else(array, pa.scalar("t", TEXTS), pa.scalar("f", TEXTS))
