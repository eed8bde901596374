"""Arrow arrays of interned kinds to the texts of their values, and back.

`texts_of` takes all that Arrow has for a kind: Arrow's own type, text as the REST contract writes it (JSON
for JSON and nested kinds), and for JSON any nested type. `array_of_texts` returns the types of `ARROW`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.interned import (
    TEXTS,
    Numbers,
    Texts,
    field_value,
    minified,
    regrouped,
    split_arrays,
    split_structs,
)
from engine.codec.ordered_text import array_text, text_interval, text_word, word_text
from engine.codec.values import map_text, text_of
from engine.schema import Kind, Type, is_anonymous

ARROW = {
    Kind.TEXT: pa.large_string(),
    Kind.INTERVAL: pa.month_day_nano_interval(),
    Kind.BYTEA: pa.large_binary(),
    Kind.UUID: pa.large_string(),
    Kind.BIT: pa.large_string(),
    Kind.JSON: pa.large_string(),
}

_INTERVAL = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
Read = Callable[[pa.Array, Type], Numbers]
"""The numbers of an array of a kind that is not interned."""
Write = Callable[[Numbers, Type], pa.Array]
"""An array of numbers of a kind that is not interned."""


def is_text(type: pa.DataType) -> bool:
    """Whether an Arrow type holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(type):
        return is_text(type.value_type)
    return pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type)


def is_binary(type: pa.DataType) -> bool:
    """Whether an Arrow type holds bytes."""
    return (
        pa.types.is_binary(type)
        or pa.types.is_large_binary(type)
        or pa.types.is_binary_view(type)
        or pa.types.is_fixed_size_binary(type)
    )


def is_list(type: pa.DataType) -> bool:
    """Whether an Arrow type holds lists."""
    return pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type)


def fits(source: pa.DataType, kind: Kind) -> bool:
    """Whether an Arrow type, other than text, holds values of a kind that is interned and not nested."""
    match kind:
        case Kind.INTERVAL:
            return pa.types.is_interval(source) or pa.types.is_duration(source)
        case Kind.BYTEA:
            return is_binary(source)
        case Kind.UUID:
            return pa.types.is_fixed_size_binary(source) and source.byte_width == 16
        case Kind.JSON:
            return pa.types.is_nested(source)
    return False


def nested_type(type: Type, of_part: Callable[[Type], pa.DataType]) -> pa.DataType | None:
    """Arrow's type of a nested kind, given the types of its parts; None for any other kind."""
    match type.kind:
        case Kind.ARRAY:
            return pa.list_(*map(of_part, type.parts))
        case Kind.STRUCT:
            return pa.struct([pa.field(field.name, of_part(field.type)) for field in type.fields])
        case Kind.MAP:
            return pa.map_(*map(of_part, type.parts))
    return None


def may_nest(source: pa.DataType, type: Type, fits_part: Callable[[pa.DataType, Type], bool]) -> bool:
    """Whether an Arrow type may hold values of a nested kind, if `fits_part` says so of their parts."""
    match type.kind:
        case Kind.ARRAY if type.element is not None:
            return is_list(source) and fits_part(source.value_type, type.element)
        case Kind.MAP:
            return pa.types.is_map(source) and all(
                map(fits_part, (source.key_type, source.item_type), type.parts)
            )
    if not pa.types.is_struct(source):
        return False
    fields = {field.name: field.type for field in type.fields}
    parts = {name: source.field(place).type for name, place in _places(source, type).items()}
    return len(parts) == source.num_fields and all(
        name in fields and fits_part(part, fields[name]) for name, part in parts.items()
    )


def _places(source: pa.StructType, type: Type) -> dict[str, int]:
    """By name, the places of the fields in an Arrow struct; DuckDB has names of its own in a row without
    names."""
    names = [field.name for field in source]
    if is_anonymous(type) and len(names) == len(type.fields):
        names = [field.name for field in type.fields]
    return {name: place for place, name in enumerate(names)}


def texts_of(array: pa.Array, type: Type, read: Read) -> Texts:
    """The texts of an array that fits the type; InvalidValue for a value that does not."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not type.is_interned:
        return [None if number is None else word_text(number) for number in read(array, type)]
    if is_text(array.type):
        return _read(array, type)
    if pa.types.is_null(array.type):
        return [None] * len(array)
    match type.kind:
        case Kind.ARRAY if type.element is not None:
            lengths = pc.list_value_length(array).to_pylist()
            elements = regrouped(texts_of(array.flatten(), type.element, read), lengths)
            return [None if texts is None else array_text(texts) for texts in elements]
        case Kind.STRUCT:
            return _of_structs(array, type, read)
        case Kind.MAP:
            return _of_maps(array, type, read)
    if pa.types.is_duration(array.type):
        array = array.cast(pa.duration("us"))
    text = TEXTS[type.kind]
    return [None if value is None else text(value) for value in array.to_pylist()]


def _of_maps(array: pa.MapArray, type: Type, read: Read) -> Texts:
    lists = array.cast(pa.list_(pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])))
    lengths = pc.list_value_length(lists).to_pylist()
    keys, values = (
        regrouped(texts_of(part, of, read), lengths)
        for part, of in zip(lists.flatten().flatten(), type.parts, strict=True)
    )
    pairs = zip(keys, values, strict=True)
    return [None if each is None else map_text(each, others, type) for each, others in pairs]


def _of_structs(array: pa.StructArray, type: Type, read: Read) -> Texts:
    """The texts of structs; a field that the array lacks is NULL."""
    places, given = _places(array.type, type), array.flatten()
    missing: Texts = [None] * len(array)
    columns = [
        texts_of(given[places[field.name]], field.type, read) if field.name in places else missing
        for field in type.fields
    ]
    rows = zip(array.is_valid().to_pylist(), zip(*columns, strict=True), strict=True)
    return [array_text(row) if is_there else None for is_there, row in rows]


def _read(array: pa.Array, type: Type) -> Texts:
    """The texts of values in a text format."""
    array.validate(full=True)
    given = array.to_pylist()
    if type.kind is Kind.TEXT:
        return given
    if type.kind is Kind.JSON:
        return [None if value is None else minified(value) for value in given]
    text = text_of(type)
    return [None if value is None else text(field_value(value, type)) for value in given]


def array_of_texts(texts: Texts, type: Type, write: Write) -> pa.Array:
    """The Arrow array of values, given by their texts."""
    if not type.is_interned:
        return write([None if text is None else text_word(text) for text in texts], type)
    match type.kind:
        case Kind.ARRAY if type.element is not None:
            offsets, elements, mask = _ranges(texts)
            return pa.ListArray.from_arrays(offsets, array_of_texts(elements, type.element, write), mask=mask)
        case Kind.STRUCT:
            return _structs(texts, type, write)
        case Kind.MAP:
            offsets, entries, mask = _ranges(texts)
            keys, values = (
                array_of_texts(part, of, write)
                for part, of in zip(split_structs(entries, type), type.parts, strict=True)
            )
            return pa.MapArray.from_arrays(offsets, keys, values, mask=mask)
        case Kind.INTERVAL:
            return _intervals(texts)
        case Kind.BYTEA:
            return pa.array([None if t is None else bytes.fromhex(t) for t in texts], pa.large_binary())
    return pa.array(texts, ARROW[type.kind])


def _ranges(texts: Texts) -> tuple[pa.Array, Texts, pa.Array | None]:
    """The offsets of lists in the texts of all their elements, these texts, and which lists are NULL."""
    lengths, elements = split_arrays(texts)
    offsets = np.concatenate(([0], np.cumsum([length or 0 for length in lengths]))).astype(np.int32)
    return pa.array(offsets), elements, _mask(texts)


def _structs(texts: Texts, type: Type, write: Write) -> pa.Array:
    there = np.array([text is not None for text in texts], np.bool_)
    columns: list[Texts] = []
    for parts in split_structs(texts, type):
        column = np.full(len(texts), None, object)
        column[there] = parts
        columns.append(column.tolist())
    arrays = [array_of_texts(*each, write) for each in zip(columns, type.parts, strict=True)]
    fields = [pa.field(field.name, array.type) for field, array in zip(type.fields, arrays, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=_mask(texts))


def _mask(texts: Texts) -> pa.Array | None:
    return pa.array([text is None for text in texts], pa.bool_()) if None in texts else None


def _intervals(texts: Texts) -> pa.Array:
    parts = np.zeros(len(texts), _INTERVAL)
    for i, text in enumerate(texts):
        if text is not None:
            months, days, microseconds = text_interval(text)
            parts[i] = months, days, 1000 * microseconds
    valid = pa.array([text is not None for text in texts], pa.bool_())
    return pa.Array.from_buffers(ARROW[Kind.INTERVAL], len(texts), [valid.buffers()[1], pa.py_buffer(parts)])
