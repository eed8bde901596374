"""Arrow arrays of interned kinds to the texts of their values, and back.

`texts_of` takes all that Arrow has for a kind: Arrow's own type, text as the REST contract writes it (JSON
for JSON and arrays), and for JSON any nested type. `array_of_texts` returns the types of `ARROW`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.interned import TEXTS, Texts, field_value, minified, regrouped, split_arrays
from engine.codec.ordered_text import array_text, text_interval, text_word, word_text
from engine.codec.values import text_of
from engine.kernels.words import NULL
from engine.schema import Kind, Type

ARROW = {
    Kind.TEXT: pa.large_string(),
    Kind.INTERVAL: pa.month_day_nano_interval(),
    Kind.BYTEA: pa.large_binary(),
    Kind.UUID: pa.large_string(),
    Kind.JSON: pa.large_string(),
}

_INTERVAL = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
Words = Callable[[pa.Array, Type], np.ndarray]
"""The words int64[n] of an array of a kind that is not interned."""
Array = Callable[[np.ndarray, Type], pa.Array]
"""An array of words int64[n] of a kind that is not interned."""


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
    """Whether an Arrow type, other than text, holds values of a kind; a list's elements are not checked."""
    match kind:
        case Kind.INTERVAL:
            return pa.types.is_interval(source) or pa.types.is_duration(source)
        case Kind.BYTEA:
            return is_binary(source)
        case Kind.UUID:
            return pa.types.is_fixed_size_binary(source) and source.byte_width == 16
        case Kind.JSON:
            return pa.types.is_nested(source)
        case _:
            return kind is Kind.ARRAY and is_list(source)


def texts_of(array: pa.Array, type: Type, words: Words) -> Texts:
    """The texts of an array that fits the type; InvalidValue for a value that does not."""
    if not type.is_interned:
        return [None if word == NULL else word_text(word) for word in words(array, type).tolist()]
    if is_text(array.type):
        return _read(array, type)
    if type.element is not None:
        lengths = pc.list_value_length(array).to_pylist()
        elements = texts_of(_flat(array), type.element, words)
        return [None if texts is None else array_text(texts) for texts in regrouped(elements, lengths)]
    if pa.types.is_duration(array.type):
        array = array.cast(pa.duration("us"))
    text = TEXTS[type.kind]
    return [None if value is None else text(value) for value in array.to_pylist()]


def _flat(array: pa.Array) -> pa.Array:
    """The elements of all lists that are not NULL."""
    elements = array.flatten()
    return elements.storage if isinstance(elements, pa.ExtensionArray) else elements


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


def array_of_texts(texts: Texts, type: Type, array: Array) -> pa.Array:
    """The Arrow array of values, given by their texts."""
    if not type.is_interned:
        words = np.array([NULL if text is None else text_word(text) for text in texts], np.int64)
        return array(words, type)
    match type.kind:
        case Kind.ARRAY if type.element is not None:
            return _lists(texts, type.element, array)
        case Kind.INTERVAL:
            return _intervals(texts)
        case Kind.BYTEA:
            return pa.array([None if t is None else bytes.fromhex(t) for t in texts], pa.large_binary())
    return pa.array(texts, ARROW[type.kind])


def _lists(texts: Texts, element: Type, array: Array) -> pa.Array:
    lengths, elements = split_arrays(texts)
    offsets = np.concatenate(([0], np.cumsum([length or 0 for length in lengths]))).astype(np.int32)
    mask = pa.array([length is None for length in lengths], pa.bool_())
    values = array_of_texts(elements, element, array)
    return pa.ListArray.from_arrays(offsets, values, mask=mask if None in lengths else None)


def _intervals(texts: Texts) -> pa.Array:
    parts = np.zeros(len(texts), _INTERVAL)
    for i, text in enumerate(texts):
        if text is not None:
            months, days, microseconds = text_interval(text)
            parts[i] = months, days, 1000 * microseconds
    valid = pa.array([text is not None for text in texts], pa.bool_())
    return pa.Array.from_buffers(ARROW[Kind.INTERVAL], len(texts), [valid.buffers()[1], pa.py_buffer(parts)])
