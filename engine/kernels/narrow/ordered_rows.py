"""Narrow rows put in order where they are: sorted, equal ones added up, without those whose diffs cancel.

Only the numbers of rows are sorted; then each row is moved once, as the bytes that it has.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import FORMAT, STRIDE, WIDTH, compare, layer, rows_at
from engine.kernels.magnitudes import bits, require_small
from engine.kernels.narrow.batch_type import BASE, LINE, MASK, OFFSET, WORD, batch_at, load, store
from engine.kernels.narrow.narrow_rows import store_bytes
from engine.kernels.sort import places_in_order


@njit
def _add_up(rows, places, lead, diffs):
    """Leave in `places` one row of each run of equal ones, and its sum in `diffs`; those whose sums are 0
    go. Returns how many are left."""
    last = rows.shape[1] - 1
    seen = 0
    m = 0
    k = 0
    while k < rows.shape[0]:
        place = places[k]
        total = rows[place, last]
        k += 1
        while k < rows.shape[0] and compare(rows, places[k], rows, place, lead) == 0:
            total += rows[places[k], last]
            seen |= bits(total)
            k += 1
        if total != 0:
            places[m] = place
            diffs[m] = total
            m += 1
    require_small(seen)
    return m


@njit
def _move_bytes(source, size, data, at, is_last):
    """Copy bytes from an address, in words of eight, of which the last ones may be those of what follows;
    one by one if it `is_last`."""
    if is_last:
        for b in range(size):
            data[at + b] = load(source + b) & 255  # type: ignore[call-arg]
    else:
        target = data.ctypes.data + at
        for b in range(0, size, WORD):
            store(target + b, load(source + b))  # type: ignore[call-arg]


@njit
def _fit(diffs, m, base, mask):
    """Whether the first m diffs fit a narrow column; and the least and the greatest."""
    ends = np.empty((2, 1), np.int64)
    ends[0, 0] = ends[1, 0] = diffs[0] if m > 0 else 0
    lost = 0
    for k in range(m):
        lost |= (diffs[k] - base) & ~mask
        ends[0, 0] = min(ends[0, 0], diffs[k])
        ends[1, 0] = max(ends[1, 0], diffs[k])
    return lost == 0, ends


@kernel("Tuple((int64, int64[:,::1], int64[:,::1]))(int64[:,::1], int64, int64, uint8[::1], uint8[::1])")
def order_rows(table, first, stop, own, data):
    """Put the rows first ≤ i < stop of a table's first batch, which is narrow and lies in `data`, in order
    where they are. `own` is a copy of their bytes, with one more word. The last column is their diff.

    Returns how many rows are left, from `first` on, with their least and greatest diff, int64[2, 1]. If a sum
    of diffs does not fit into its column, the rows have any diff, and their own come as int64[m, 1].
    """
    columns, stride = table[0, WIDTH], table[0, STRIDE]
    last = columns - 1
    rows = batch_at(own.ctypes.data, stop - first, columns, stride, table[0, FORMAT])  # type: ignore[call-arg, var-annotated]
    line = rows_at(table[0, FORMAT], columns, LINE)[last]
    places = places_in_order(rows, last)
    diffs = np.empty((stop - first, 1), np.int64)
    m = _add_up(rows, places, last, diffs[:, 0])
    is_fitting, ends = _fit(diffs[:, 0], m, line[BASE], line[MASK])
    for k in range(m):
        at = (first + k) * stride
        source = own.ctypes.data + places[k] * stride
        _move_bytes(source, stride, data, at, at + stride + WORD > stop * stride)
        if is_fitting:
            store_bytes(data, at + line[OFFSET], diffs[k, 0] - line[BASE], line[MASK])
    return m, ends, diffs[: 0 if is_fitting else m].copy()


@kernel("void(int64[:,::1], int64[:,::1], int64, int64, uint8[::1])")
def widen_diffs(table, format, stride, first, data):
    """Write the rows of a table's first batch, which is narrow, as rows of `data` from row `first` on, with
    the diffs that are the last column of the second one. In their new format only that of diffs is another.

    The last rows are written byte by byte: behind them may be rows that another thread has written.
    """
    rows, diffs = layer(table, 0), layer(table, 1)
    line = format[format.shape[0] - 1]
    column = diffs.shape[1] - 1
    for k in range(rows.shape[0]):
        at = (first + k) * stride
        is_last = k + WORD >= rows.shape[0]
        _move_bytes(rows.address + k * rows.stride, line[OFFSET], data, at, is_last)
        word = diffs[k, column] - line[BASE]
        if is_last:
            store_bytes(data, at + line[OFFSET], word, line[MASK])
        else:
            store(data.ctypes.data + at + line[OFFSET], word)  # type: ignore[call-arg]
