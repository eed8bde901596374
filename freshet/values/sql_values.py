"""Values by their SQL types: from the JSON of the REST contract to Python's and Arrow's.

A value is the same Python value whether it came as Arrow or as JSON: NUMERIC is a Decimal, INTERVAL is
Arrow's MonthDayNano, JSON is what its text means, UUID and an enumeration's label are texts, STRUCT and MAP
are dicts. A date or time that Python cannot hold stays text.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from freshet.values.type_parts import TypeParts, parts_of_type

TYPE_KEY = b"freshet.type"
"""The metadata of an Arrow field that has the column's SQL type."""

Convert = Callable[[Any], object]

_NUMBER = r"([+-]?\d+)"
_DURATION = re.compile(
    rf"P(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}D)?"
    rf"(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:([+-]?)(\d+)(?:\.(\d+))?S)?)?"
)


def interval_value(text: str) -> pa.MonthDayNano:
    """The interval of an ISO 8601 duration as the service writes it."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a duration: {text}")
    *parts, sign, seconds, fraction = match.groups()
    years, months, days, hours, minutes = (int(part or 0) for part in parts)
    nanoseconds = int(f"{sign or ''}{seconds or 0}{fraction or '':0<9}")
    return pa.MonthDayNano([12 * years + months, days, (60 * hours + minutes) * 60 * 10**9 + nanoseconds])


def _moment(parse: Callable[[str], object]) -> Convert:
    def read(text: str) -> object:
        try:
            return parse(text)
        except ValueError:
            return text  # a year that Python does not have

    return read


_ZONED_TIME = _moment(time.fromisoformat)
"""A time of day with an offset; 24:00, which Python does not have, stays text."""
OF_TEXTS: dict[str, Convert] = {"JSON": json.loads, "TIMETZ": _ZONED_TIME}
"""Types whose values Arrow has as texts, and Python as something else."""
_CONVERT: dict[str, Convert] = {
    "NUMERIC": Decimal,
    "REAL": lambda value: float(np.float32(value)),
    "DOUBLE PRECISION": float,
    "DATE": _moment(date.fromisoformat),
    "TIME": time.fromisoformat,
    "TIMETZ": _ZONED_TIME,
    "TIMESTAMP": _moment(datetime.fromisoformat),
    "TIMESTAMPTZ": _moment(datetime.fromisoformat),
    "INTERVAL": interval_value,
    "BYTEA": b64decode,
}

_ARROW: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "REAL": pa.float32(),
    "DOUBLE PRECISION": pa.float64(),
    "DATE": pa.date32(),
    "TIME": pa.time64("us"),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMPTZ": pa.timestamp("us", "UTC"),
    "INTERVAL": pa.month_day_nano_interval(),
    "BYTEA": pa.large_binary(),
}


def python_value(type: str) -> Convert | None:
    """The function from the JSON of a type's value, not null, to Python's; None if they are the same."""
    parts = parts_of_type(type)
    return _CONVERT.get(_head(type)) if parts is None else _nested_value(parts)


def _nested_value(parts: TypeParts) -> Convert | None:
    """The same for a type made of others; a map is a list of pairs, as Arrow has it."""
    convert = [_part_value(type) for type in parts.types]
    match parts.kind:
        case "ARRAY":
            (element,) = convert
            return lambda values: [element(value) for value in values]
        case "STRUCT":
            fields = dict(zip(parts.names, convert, strict=True))
            return lambda row: {name: read(row.get(name)) for name, read in fields.items()}
    key, value = convert
    return lambda entries: [
        (key(each), value(other))
        for each, other in (entries.items() if isinstance(entries, dict) else entries)
    ]


def _part_value(type: str) -> Convert:
    """The function for a value that may be null, inside of another. What Arrow has as a text is one there."""
    convert = as_text(type) if type in OF_TEXTS else python_value(type)
    return lambda value: value if value is None or convert is None else convert(value)


def as_text(type: str) -> Convert | None:
    """The function from the JSON of a type of `OF_TEXTS` to its text; None if they are the same."""
    return (lambda value: json.dumps(value, ensure_ascii=False)) if type == "JSON" else None


def arrow_type_of(type: str) -> pa.DataType:
    """Arrow's type for the values of an SQL type; text for JSON and whatever else is written as text."""
    parts = parts_of_type(type)
    if parts is not None:
        types = list(map(arrow_type_of, parts.types))
        if parts.kind == "STRUCT":
            return pa.struct(list(zip(parts.names, types, strict=True)))
        return pa.map_(*types) if parts.kind == "MAP" else pa.list_(*types)
    if type.startswith("NUMERIC"):
        precision, scale = (int(part) for part in re.findall(r"\d+", type)) if "(" in type else (38, 0)
        return pa.decimal128(precision, scale)
    return _ARROW.get(type, pa.large_string())


def arrow_field(name: str, type: str, nullable: bool = True) -> pa.Field:
    """A field that says which SQL type its column has."""
    return pa.field(name, arrow_type_of(type), nullable, metadata={TYPE_KEY: type.encode()})


def sql_type_of(field: pa.Field) -> str:
    """The SQL type that a field says; empty for a field that does not come from Freshet."""
    return (field.metadata or {}).get(TYPE_KEY, b"").decode()


def _head(type: str) -> str:
    """A type without its parameters."""
    return type.partition("(")[0].rstrip()
