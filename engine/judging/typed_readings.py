"""Values that have types of Arrow, as a column of the table's takes them.

An array that fits no column of the type at all is told apart before anything is read (`may_fit`). A value
fits if it is exactly one of the column's type. Any value can be text; structures and maps are JSON.
"""

from __future__ import annotations

import base64
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import orjson
import pyarrow as pa

from engine.codec.arrow import encode_column, fits_column
from engine.codec.arrow_texts import is_binary, is_list, is_text, may_nest
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import NESTED, Column, Kind, Type
from engine.state.dictionary import Dictionary

REFUSED = (InvalidValue, pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError)
"""What an encoder raises for a value that does not fit."""


def may_fit(source: pa.DataType, type: Type) -> bool:
    """Whether values of an Arrow type may be values of a column's."""
    if is_text(source) or pa.types.is_null(source) or type.kind is Kind.TEXT:
        return True
    match type.kind:
        case Kind.JSON:
            return pa.types.is_nested(source) or pa.types.is_boolean(source) or pa.types.is_integer(source)
        case Kind.UUID:
            return is_binary(source)
        case kind if kind in NESTED:
            return may_nest(source, type, may_fit)
        case Kind.TIMESTAMP | Kind.DATE:
            return pa.types.is_timestamp(source) or pa.types.is_date(source)
    return fits_column(source, type)


def words_of_typed(array: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of an array whose type may fit. Raises one of `REFUSED`."""
    prepared = _prepared(array, type)
    return np.asarray(encode_column(prepared, Column("", type, True), dictionary))


def refused(array: pa.Array, type: Type, dictionary: Dictionary) -> tuple[np.ndarray, np.ndarray]:
    """The words of an array, and which values do not fit, bool[n]. Searches by halves."""
    try:
        return words_of_typed(array, type, dictionary), np.zeros(len(array), np.bool_)
    except REFUSED:
        if len(array) == 1:
            return np.full(1, NULL), np.ones(1, np.bool_)
    middle = len(array) // 2
    halves = [refused(part, type, dictionary) for part in (array[:middle], array[middle:])]
    words, bad = zip(*halves, strict=True)
    return np.concatenate(words), np.concatenate(bad)


def shown(value: object) -> str:
    """A value as a message shows it, and as a column of texts has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case datetime():
            text = value.replace(tzinfo=None).isoformat(" ")
            return text.rstrip("0") if value.microsecond else text
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case dict() | list():
            return orjson.dumps(_plain(value)).decode()
    return str(value)


def _prepared(array: pa.Array, type: Type) -> pa.Array:
    """The array in a type that the codec takes for the column's."""
    source = array.type
    if pa.types.is_timestamp(source) and source.tz not in (None, "UTC"):
        return array.cast(pa.timestamp(source.unit, "UTC"))
    match type.kind:
        case Kind.TEXT if not is_text(source):
            return _texts(array)
        case Kind.JSON if pa.types.is_struct(source) or pa.types.is_map(source) or is_list(source):
            return _texts(array)
        case Kind.JSON if not is_text(source):
            return array.cast(pa.string())
        case Kind.UUID if is_binary(source) and not pa.types.is_fixed_size_binary(source):
            return array.cast(pa.binary(16))
    return array


def _texts(array: pa.Array) -> pa.Array:
    source = array.type
    if is_binary(source):
        return array.cast(pa.large_binary()).cast(pa.large_string())  # raises unless it is UTF-8
    if pa.types.is_integer(source) or pa.types.is_boolean(source):
        return array.cast(pa.large_string())
    if pa.types.is_floating(source) and source != pa.float64():
        floats = array.to_numpy(zero_copy_only=False)
        valid = array.is_valid().to_pylist()
        return pa.array(
            [str(f) if v else None for f, v in zip(floats, valid, strict=True)], pa.large_string()
        )
    if pa.types.is_timestamp(source):
        array = array.cast(pa.timestamp("us", source.tz))
    values = array.to_pylist(maps_as_pydicts="strict")
    return pa.array([None if value is None else shown(value) for value in values], pa.large_string())


def _plain(value: object) -> object:
    """A nested value in types that JSON has. Numbers keep their digits."""
    match value:
        case dict():
            return {_key(key): _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case Decimal():
            return orjson.Fragment(format(value, "f"))
        case bytes():
            return base64.b64encode(value).decode()
        case float() if value != value or value in (float("inf"), float("-inf")):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        case str() | int() | float() | None:
            return value
    return shown(value)


def _key(key: object) -> str:
    return key if isinstance(key, str) else shown(key)
