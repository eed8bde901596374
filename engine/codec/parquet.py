"""Arrow tables in Parquet's types: intervals, which Parquet lacks, become ISO 8601 durations.

`encode_arrow` reads these as it reads any text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.codec.arrow import arrow_type, decode_arrow
from engine.codec.arrow_texts import nested_type
from engine.codec.durations import duration, interval_of
from engine.codec.schemas import per_schema
from engine.schema import Kind, Schema, Type
from engine.state.dictionary import Dictionary


def parquet_type(type: Type) -> pa.DataType:
    """The Arrow type under which Parquet holds the values of `type`."""
    if type.kind is Kind.INTERVAL:
        return pa.string()
    return nested_type(type, parquet_type) or arrow_type(type)


parquet_schema = per_schema(
    lambda schema: pa.schema([pa.field(c.name, parquet_type(c.type), c.nullable) for c in schema.columns])
)


def decode_parquet(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> pa.Table:
    """The rows of `words` int64[W, n] as a table of the schema's columns; KeyError for an unknown text."""
    table = decode_arrow(words, schema, dictionary)
    columns = [_held(column.combine_chunks()) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=parquet_schema(schema))


def without_times(table: pa.Table) -> pa.Table:
    """The table with times of day as text, for readers that lack such a type."""
    fields = [field.with_type(_as_text(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _as_text(type: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type):
        return pa.list_(_as_text(type.value_type))
    if pa.types.is_map(type):
        return pa.map_(_as_text(type.key_type), _as_text(type.item_type))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_as_text(field.type)) for field in type])
    return pa.string() if pa.types.is_time(type) else type


def _held(array: pa.Array) -> pa.Array:
    if pa.types.is_interval(array.type):
        texts = [None if value is None else duration(interval_of(value)) for value in array.to_pylist()]
        return pa.array(texts, pa.string())
    mask = array.is_null() if array.null_count else None
    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(array.offsets, _held(array.values), mask=mask)
    if pa.types.is_map(array.type):
        return pa.MapArray.from_arrays(array.offsets, _held(array.keys), _held(array.items), mask=mask)
    if pa.types.is_struct(array.type):
        parts = [_held(array.field(place)) for place in range(array.type.num_fields)]
        fields = [field.with_type(part.type) for field, part in zip(array.type, parts, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=mask)
    return array
