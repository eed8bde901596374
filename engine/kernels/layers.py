"""How kernels see matrices: comparing rows, and reading many batches in one call.

A delta in progress is columnar, int64[W + 2, n], as expressions need it. A batch at rest is row by row,
int64[n, W + d + 1 + K]: words, rounds, epoch and diffs of a row lie in one cache line when a seek finds them,
and a merge with a result shorter than its inputs returns a prefix of its buffer.

A trace passes its batches to a kernel as a *table*: int64[L, COLUMNS], a line a batch, with the batch's
address, number of rows and number of columns, its index (`engine.kernels.index` or `radix_index`), if it has
one, the bytes from one row to the next and, if it is narrow (`engine.kernels.narrow`), its format. The caller
keeps the arrays alive.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from engine.kernels.compiled import kernel
from engine.kernels.narrow.batch_type import WORD, batch_at

# Columns of a table; INDEX is the address of the index's slots, and FORMAT that of the format, or 0.
ADDRESS, ROWS, WIDTH, INDEX, SLOTS, PLACE_BITS, KEY, STRIDE, FORMAT = range(9)
COLUMNS = 9
SPREAD = -1
"""A KEY for batches whose first words are spread evenly over a range, as hashes are: they need no index."""


@intrinsic
def _as_pointer(typing_context, address, element):
    to = types.CPointer(element.dtype)
    signature = to(types.int64, element)

    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return signature, codegen


@njit(inline="always")
def rows_at(address, rows, columns):
    """The matrix of words at an address."""
    pointer = _as_pointer(address, np.int64)  # type: ignore[call-arg, var-annotated, arg-type]
    return carray(pointer, (rows, columns))


@njit(inline="always")
def layer(table, index):
    """Batch `index` of a table."""
    line = table[index]
    return batch_at(line[ADDRESS], line[ROWS], line[WIDTH], line[STRIDE], line[FORMAT])  # type: ignore[call-arg]


@njit(inline="always")
def matrix(table, index):
    """Batch `index` of a table, which is not narrow, as a matrix."""
    return rows_at(table[index, ADDRESS], table[index, ROWS], table[index, WIDTH])


@njit(inline="always")
def uncounted(array):
    """A view of an int64 array without a reference count, which every call it is passed to would update.

    The caller keeps the array alive.
    """
    pointer = _as_pointer(array.ctypes.data, np.int64)  # type: ignore[call-arg, var-annotated, arg-type]
    return carray(pointer, array.shape)


@njit(inline="always")
def slots_of(table, index):
    """The slots of the index of batch `index`, which must have one."""
    pointer = _as_pointer(table[index, INDEX], np.uint32)  # type: ignore[call-arg, var-annotated, arg-type]
    return carray(pointer, (table[index, SLOTS],))


@kernel("void(int64[:,::1], int64, int64[:,::1])")
def register(table, index, batch):
    """Write `batch` into line `index` of a table, without an index."""
    table[index, ADDRESS] = batch.ctypes.data
    table[index, ROWS] = batch.shape[0]
    table[index, WIDTH] = batch.shape[1]
    table[index, INDEX] = 0
    table[index, KEY] = 0
    table[index, STRIDE] = batch.shape[1] * WORD
    table[index, FORMAT] = 0


@kernel("void(int64[:,::1], int64, uint32[::1], int64, int64)")
def register_index(table, index, slots, place_bits, key):
    """Write the index of the batch into line `index` of a table."""
    table[index, INDEX] = slots.ctypes.data
    table[index, SLOTS] = slots.shape[0]
    table[index, PLACE_BITS] = place_bits
    table[index, KEY] = key


@njit(forceinline=True)
def compare(a, i, b, j, width):
    """-1, 0 or 1: the first `width` words of row i of `a` against those of row j of `b`."""
    for w in range(width):
        x = a[i, w]
        y = b[j, w]
        if x != y:
            return -1 if x < y else 1
    return 0


@njit
def seek(a, start, b, j, width):
    """The first row of sorted `a` from `start` on that is not below row j of `b` in its first `width` words.

    It gallops: its cost is the logarithm of the distance.
    """
    n = a.shape[0]
    if start >= n or compare(a, start, b, j, width) >= 0:
        return start
    low = start
    step = 1
    while low + step < n and compare(a, low + step, b, j, width) < 0:
        low += step
        step <<= 1
    high = min(low + step, n)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if compare(a, middle, b, j, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def seek_past(a, start, b, j, width):
    """The first row of sorted `a` from `start` on that is above row j of `b`; it gallops too."""
    n = a.shape[0]
    if start >= n or compare(a, start, b, j, width) > 0:
        return start
    low = start
    step = 1
    while low + step < n and compare(a, low + step, b, j, width) <= 0:
        low += step
        step <<= 1
    high = min(low + step, n)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if compare(a, middle, b, j, width) <= 0:
            low = middle + 1
        else:
            high = middle
    return low
