"""DuckDB's answers as JSON: columns with SQL types, rows as arrays of values.

The codec writes the kinds of values that tables have. DuckDB has more:

| DuckDB | type | JSON |
|---|---|---|
| HUGEINT | BIGINT, or NUMERIC(38, 0) if a value needs it, or TEXT for one of 39 digits | number, string |
| UBIGINT | NUMERIC(20, 0) | string |
| a list of these | the element's type and [] | array |
| STRUCT, MAP | JSON | object; for a MAP with keys other than text, an array of pairs |
| any other | TEXT | as DuckDB prints it |
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.arrow import encode_column
from engine.codec.durations import duration, interval_of
from engine.codec.json import decode_rows
from engine.errors import InvalidValue
from engine.schema import BIGINT, DATE, DOUBLE, REAL, TIME, TIMESTAMP, TIMESTAMPTZ, Column, Schema, Type
from engine.state.dictionary import Dictionary
from planner.errors import Unsupported
from planner.sql_types import UNTYPED, from_duckdb
from service.reading.duck import Answer
from service.reading.found_rows import FoundRows

_NESTED = ("STRUCT(", "TUPLE(", "MAP(")
_HUGE_NAMES = (("BIGINT", -(2**63), 2**63 - 1), ("NUMERIC(38, 0)", -(10**38) + 1, 10**38 - 1))
"""SQL names of a HUGEINT, with the least and the greatest number of each."""


def is_written(type: str) -> bool:
    """Whether `answer_document` writes columns of a DuckDB type. Columns of others come as text."""
    return answer_type(type) is not None


def answer_type(type: str) -> str | None:
    """The SQL name of a DuckDB type; None for a type that is only printed."""
    if type.endswith("]"):
        element = answer_type(type[: type.rindex("[")])
        return None if element is None else f"{element}[]"
    try:
        found = from_duckdb(type, huge=BIGINT)
    except Unsupported:
        return "JSON" if type.startswith(_NESTED) else None
    return "INTEGER" if found is UNTYPED else str(found)


def answer_document(
    answer: Answer, start: int = 0, stop: int | None = None
) -> tuple[list[dict[str, str]], list[list]]:
    """The columns and the rows of an answer, ready for JSON: the rows from `start` to `stop`.

    `is_written` holds for all of its types. A column has the same type in every part.
    """
    if isinstance(answer, FoundRows):
        return answer.document(start, stop)
    part = answer.table.slice(start, None if stop is None else stop - start)
    columns, values = [], []
    for place, (name, type) in enumerate(zip(answer.names, answer.types, strict=True)):
        written = column_type(answer, place)
        columns.append({"name": name, "type": written})
        values.append(column_values(type, written, part.column(place).combine_chunks()))
    return columns, [list(row) for row in zip(*values, strict=True)]


def column_type(answer: Answer, place: int) -> str:
    """The SQL name of a column's type, which its values may decide."""
    type = answer.types[place]
    if type.startswith("HUGEINT"):
        return _huge_name(answer.table.column(place)) + type.removeprefix("HUGEINT")
    return answer_type(type) or "TEXT"


def _huge_name(column: pa.ChunkedArray) -> str:
    """The SQL name of the numbers of a HUGEINT, or of lists of them."""
    numbers = column
    while pa.types.is_list(numbers.type):
        numbers = pc.list_flatten(numbers)
    bounds = pc.min_max(numbers).as_py()
    ends = [int(end) for end in bounds.values() if end is not None]
    return next(
        (name for name, *range in _HUGE_NAMES if all(range[0] <= end <= range[1] for end in ends)), "TEXT"
    )


def column_values(type: str, written: str, array: pa.Array) -> list:
    """The values of a column in JSON's form, of the DuckDB type `type` that is called `written` in SQL."""
    if type.startswith(("JSON", *_NESTED)):
        try:
            return _by_codec(from_duckdb(type))(array)
        except (Unsupported, InvalidValue):
            pass  # a type or a value that no table could have
    if type.startswith("HUGEINT") and written.startswith("BIGINT"):
        return _counted(array.to_pylist())
    return _values(array)


def _counted(numbers: list) -> list:
    """Whole numbers, and lists of them, as Python's."""
    return [
        None if number is None else _counted(number) if isinstance(number, list) else int(number)
        for number in numbers
    ]


def _values(array: pa.Array) -> list:
    """The values of an Arrow array in JSON's form."""
    for is_of, convert in _CONVERTERS:
        if is_of(array.type):
            return convert(array)
    return array.to_pylist()


def _by_codec(type: Type) -> Callable[[pa.Array], list]:
    """A converter that writes values as the codec writes those of `type`."""
    schema = Schema((Column("", type),))

    def convert(array: pa.Array) -> list:
        dictionary = Dictionary()
        words = encode_column(array, schema.columns[0], dictionary)
        return [value for (value,) in decode_rows(words[np.newaxis], schema, dictionary)]

    return convert


def _timestamps(array: pa.Array) -> list:
    in_micros = array.cast(pa.timestamp("us", array.type.tz), safe=False)
    return _moments(in_micros) if array.type.tz is None else _instants(in_micros)


def _decimals(array: pa.Array) -> list:
    return [None if number is None else format(number, "f") for number in array.to_pylist()]


def _texts(array: pa.Array) -> list:
    return [None if value is None else str(value) for value in array.to_pylist()]


def _binaries(array: pa.Array) -> list:
    return [None if data is None else base64.b64encode(data).decode() for data in array.to_pylist()]


def _intervals(array: pa.Array) -> list:
    return [None if interval is None else duration(interval_of(interval)) for interval in array.to_pylist()]


def _lists(array: pa.Array) -> list:
    elements = iter(_values(array.flatten()))
    lengths = pc.list_value_length(array).to_pylist()
    return [None if n is None else list(islice(elements, n)) for n in lengths]


def _structs(array: pa.Array) -> list:
    names = [field.name for field in array.type]
    fields = [_values(field) for field in array.flatten()]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def _maps(array: pa.Array) -> list:
    entries = pa.struct([array.type.key_field.with_name("key"), array.type.item_field.with_name("value")])
    pairs = _lists(array.cast(pa.list_(entries)))
    texts = pa.types.is_string(array.type.key_type) or pa.types.is_large_string(array.type.key_type)
    return [None if row is None else _map(row, texts) for row in pairs]


def _map(entries: list[dict], texts: bool) -> dict | list:
    pairs = [[entry["key"], entry["value"]] for entry in entries]
    return dict(pairs) if texts else pairs


_moments, _instants = _by_codec(TIMESTAMP), _by_codec(TIMESTAMPTZ)
_CONVERTERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list]], ...] = (
    (pa.types.is_float32, _by_codec(REAL)),
    (pa.types.is_float64, _by_codec(DOUBLE)),
    (pa.types.is_date, _by_codec(DATE)),
    (pa.types.is_timestamp, _timestamps),
    (pa.types.is_decimal, _decimals),
    (pa.types.is_uint64, _texts),
    (pa.types.is_binary, _binaries),
    (pa.types.is_large_binary, _binaries),
    (pa.types.is_time, _by_codec(TIME)),
    (pa.types.is_interval, _intervals),
    (pa.types.is_map, _maps),
    (pa.types.is_list, _lists),
    (pa.types.is_large_list, _lists),
    (pa.types.is_fixed_size_list, _lists),
    (pa.types.is_struct, _structs),
    (pa.types.is_dictionary, lambda array: _values(array.dictionary_decode())),
)
