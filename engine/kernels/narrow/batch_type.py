"""The type of a table's batches in kernels: a matrix to read, whatever bytes its words take.

`batch[i, w]` is word w of row i, and `batch.shape` the numbers of rows and columns, as of an array. A batch
without a format is a matrix of words. One with a format is narrow (`engine.kernels.narrow`): its rows lie
`stride` bytes apart, and a column, described by a line of the format, is BASE plus the bytes at OFFSET that
MASK leaves. Words are read eight bytes at a time, so eight bytes follow the last row.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    register_model,
)

WORD = 8
"""Bytes of a word."""
OFFSET, MASK, BASE = range(3)
"""Columns of a format."""
LINE = 3
_FIELDS = ("address", "rows", "columns", "stride", "format")


class BatchType(types.Type):
    """numba's type of batches; `format` is the address of the format, or 0."""

    def __init__(self) -> None:
        super().__init__("Batch")


_BATCH = BatchType()


@register_model(BatchType)
class _BatchModel(models.StructModel):
    def __init__(self, manager, type):
        super().__init__(manager, type, [(field, types.int64) for field in _FIELDS])


for _field in _FIELDS:
    make_attribute_wrapper(BatchType, _field, _field)


@intrinsic
def batch_at(typing_context, address, rows, columns, stride, format):
    """The batch at an address."""

    def codegen(context, builder, signature, arguments):
        batch = cgutils.create_struct_proxy(_BATCH)(context, builder)
        for field, argument in zip(_FIELDS, arguments, strict=True):
            setattr(batch, field, argument)
        return batch._getvalue()

    return _BATCH(*(types.int64 for _ in _FIELDS)), codegen


@intrinsic
def load(typing_context, address):
    """The word at an address of any alignment."""

    def codegen(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.int64(types.int64), codegen


@intrinsic
def store(typing_context, address, word):
    """Write a word to an address of any alignment."""

    def codegen(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[1], pointer, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@njit(inline="always")
def copy_words(source, target, count):
    """Copy some words between addresses. Of arrays, each copy of a row would ask whether they overlap."""
    for w in range(count):
        store(target + w * WORD, load(source + w * WORD))  # type: ignore[call-arg]


@overload(operator.getitem, jit_options={"forceinline": True})
def _word(batch, place):
    if not isinstance(batch, BatchType):
        return None

    # As a call, a word would cost several times as much, and the format would be asked for each time. The sum
    # may wrap around: of signed numbers that could not, compilers would compare the distances instead.
    def read(batch, place):
        row = batch.address + np.int64(place[0]) * batch.stride
        if batch.format == 0:
            return load(row + np.int64(place[1]) * WORD)  # type: ignore[call-arg]
        line = batch.format + np.int64(place[1]) * (LINE * WORD)
        distance = load(row + load(line)) & load(line + MASK * WORD)  # type: ignore[call-arg, var-annotated]
        return np.int64(np.uint64(distance) + np.uint64(load(line + BASE * WORD)))  # type: ignore[call-arg]

    return read


@overload_attribute(BatchType, "shape")
def _shape(batch):
    return lambda batch: (batch.rows, batch.columns)
