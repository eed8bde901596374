"""Sizes of Arrow arrays once nothing in them is shared: dictionaries, runs, views and overlapping lists.

A few bytes of an array can stand for much: a row may be an index, and its value a long text. A size counts
what each row's values take by themselves, at least 8 bytes a value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.errors import Invalid
from service.settings.budget import too_many_bytes

VALUE = 8
"""The least number of bytes that a value counts."""
Sizes = np.ndarray | int
"""Bytes of each value, int64[n], or of every value."""


def decoded_size(batch: pa.RecordBatch, most: int) -> int:
    """The bytes that a batch's rows take. Raises TooLarge above `most`, Invalid for an unsupported type."""
    total = 0
    for column in batch.columns:
        sizes = _sizes(column, most)
        total += sizes * len(column) if isinstance(sizes, int) else int(sizes.sum())
        if total > most:
            raise too_many_bytes(most)
    return total


def _sizes(array: pa.Array, most: int) -> Sizes:
    """The sizes of an array's values. None exceeds `most`, so that sums one level up do not overflow."""
    if len(array) * VALUE > most:
        raise too_many_bytes(most)
    sizes = _of_kind(array, most)
    if len(array) and (sizes if isinstance(sizes, int) else sizes.max()) > most:
        raise too_many_bytes(most)
    return sizes


def _of_kind(array: pa.Array, most: int) -> Sizes:
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _sizes(array.storage, most)
    if pa.types.is_dictionary(kind):
        return _taken(_sizes(array.dictionary, most), array.indices)
    if pa.types.is_run_end_encoded(kind):
        ends = np.clip(array.run_ends.to_numpy() - array.offset, 0, len(array))
        return _repeated(_sizes(array.values, most), np.diff(ends, prepend=0))
    if pa.types.is_map(kind):
        return _lists(array, [array.keys, array.items], most)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or _is_list_view(kind):
        return _lists(array, [array.values], most)
    if pa.types.is_fixed_size_list(kind):
        elements = _sizes(array.values, most)
        if isinstance(elements, int):
            return VALUE + elements * kind.list_size
        return VALUE + elements.reshape(-1, kind.list_size)[: len(array)].sum(axis=1)
    if pa.types.is_struct(kind):
        return sum((_sizes(array.field(i), most) for i in range(kind.num_fields)), VALUE)
    if pa.types.is_union(kind):
        raise Invalid(f"an Arrow {kind} is not supported", "send its values as JSON", code="invalid_value")
    return _flat(array)


def _flat(array: pa.Array) -> Sizes:
    """The sizes of values that contain no others."""
    kind = array.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)
        sizes = views[array.offset : array.offset + len(array), 0].astype(np.int64)
        return VALUE + np.where(array.is_valid().to_numpy(zero_copy_only=False), sizes, 0)
    if any(is_kind(kind) for is_kind in _TEXTS):
        return VALUE + pc.binary_length(array).fill_null(0).to_numpy().astype(np.int64)
    if pa.types.is_fixed_size_binary(kind):
        return max(VALUE, kind.byte_width)
    return VALUE


_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def _taken(sizes: Sizes, places: pa.Array) -> Sizes:
    """The sizes at these places; NULL places count as a NULL."""
    if isinstance(sizes, int):
        return sizes
    return np.append(sizes, VALUE)[places.cast(pa.int64()).fill_null(-1).to_numpy()]


def _repeated(sizes: Sizes, counts: np.ndarray) -> Sizes:
    return sizes if isinstance(sizes, int) else np.repeat(sizes, counts)


def _lists(array: pa.Array, children: list[pa.Array], most: int) -> Sizes:
    """The sizes of lists, which may share elements."""
    offsets = array.offsets.to_numpy().astype(np.int64)
    if _is_list_view(array.type):
        begins, ends = offsets, offsets + array.sizes.to_numpy()
    else:
        begins, ends = offsets[:-1], offsets[1:]
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    begins, ends = np.where(valid, begins, 0), np.where(valid, ends, 0)
    total = np.full(len(array), VALUE, np.int64)
    for child in children:
        sizes = _sizes(child, most)
        if isinstance(sizes, int):
            total += (ends - begins) * sizes
        else:
            until = np.concatenate(([0], np.cumsum(sizes)))
            total += until[ends] - until[begins]
    return total


def _is_list_view(kind: pa.DataType) -> bool:
    return pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
