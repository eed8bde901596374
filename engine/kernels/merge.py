"""Merging two sorted batches into one, a bounded number of rows at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.compiled import kernel
from engine.kernels.layers import ROWS, compare, rows_at
from engine.kernels.memory import empty_matrix
from engine.kernels.narrow.batch_type import WORD
from engine.kernels.narrow.narrow_rows import stretch_of

# Fields of a merge's state.
LEFT, RIGHT, WRITTEN, FIELDS = 0, 1, 2, 3
_TOGETHER = 512
"""Rows of a narrow batch that are made a matrix together."""


@njit(inline="always")
def _append(out, k, row, width, since):
    """Add a row to the k rows of `out`, with its epoch advanced to `since`. Returns the new k.

    `width` counts words and rounds. The row is added to the last one if they are equal; a last row that has
    become zero is overwritten.
    """
    columns = out.shape[1]
    epoch = max(row[0, width], since)
    if k > 0:
        last = k - 1
        if out[last, width] == epoch and compare(out, last, row, 0, width) == 0:
            for c in range(width + 1, columns):
                out[last, c] += row[0, c]
            return k
        if _is_zero(out, last, width + 1):
            k = last
    for c in range(columns):
        out[k, c] = row[0, c]
    out[k, width] = epoch
    return k + 1


@njit(inline="always")
def _is_zero(out, k, first):
    for c in range(first, out.shape[1]):
        if out[k, c] != 0:
            return False
    return True


@njit(inline="always")
def _is_left(a, i, b, j, width):
    """Whether row i of `a` comes before row j of `b`, or is equal: without a branch that can be
    mispredicted."""
    left = a[i, width] <= b[j, width]
    for w in range(width - 1, -1, -1):
        x = a[i, w]
        y = b[j, w]
        left = (x < y) | ((x == y) & left)
    return left


@njit
def advance(a, b, out, state, width, since, fuel, coding, is_end=True):
    """Continue a merge of two matrices, as `merge_step` does, of rows coded by `coding` (see the module
    `coding`), or uncoded if it is None. Unless it `is_end`, more rows of one of them follow."""
    i = state[LEFT]
    j = state[RIGHT]
    k = state[WRITTEN]
    n = a.shape[0]
    m = b.shape[0]
    columns = a.shape[1]
    stride = columns * WORD
    left_rows = a.ctypes.data
    right_rows = b.ctypes.data
    while fuel > 0 and i < n and j < m:
        fuel -= 1
        if coding is None:
            left = _is_left(a, i, b, j, width)
        else:
            order = compare_coded(coding[0], coding[1], coding[2], a, i, b, j, width)
            left = order < 0 or (order == 0 and a[i, width] <= b[j, width])
        address = left_rows + i * stride if left else right_rows + j * stride
        i += left
        j += not left
        k = _append(out, k, rows_at(address, 1, columns), width, since)
    while fuel > 0 and j == m and i < n:
        fuel -= 1
        k = _append(out, k, rows_at(left_rows + i * stride, 1, columns), width, since)
        i += 1
    while fuel > 0 and i == n and j < m:
        fuel -= 1
        k = _append(out, k, rows_at(right_rows + j * stride, 1, columns), width, since)
        j += 1
    done = is_end and i == n and j == m
    if done and k > 0 and _is_zero(out, k - 1, width + 1):
        k -= 1
    state[LEFT] = i
    state[RIGHT] = j
    state[WRITTEN] = k
    return done


@njit
def advance_table(table, out, state, width, since, fuel, coding):
    """As `merge_step`, for rows coded by `coding`, or uncoded if it is None.

    The batches are read some rows at a time, as many of each as are merged of both, so that none ends before
    its last row.
    """
    done = False
    here = np.zeros(FIELDS, np.int64)
    while fuel > 0 and not done:
        size = min(fuel, _TOGETHER)
        fuel -= size
        left, right = state[LEFT], state[RIGHT]
        one = stretch_of(table, 0, left, min(left + size, table[0, ROWS]))
        other = stretch_of(table, 1, right, min(right + size, table[1, ROWS]))
        here[LEFT] = here[RIGHT] = 0
        here[WRITTEN] = state[WRITTEN]
        is_end = left + size >= table[0, ROWS] and right + size >= table[1, ROWS]
        done = advance(one, other, out, here, width, since, size, coding, is_end)
        state[LEFT] += here[LEFT]
        state[RIGHT] += here[RIGHT]
        state[WRITTEN] = here[WRITTEN]
    return done


@kernel(
    "boolean(int64[:,::1], int64[:,::1], int64[::1], int64, int64, int64)",
)
def merge_step(table, out, state, width, since, fuel):
    """Continue a merge of a table's two batches into `out` for `fuel` rows; true when it is done.

    `width` counts words and rounds: the columns before the epoch. `state` (FIELDS) starts as zeros. `out` has
    room for `fuel` rows more than are written; the last one may still be added to.
    """
    return advance_table(table, out, state, width, since, fuel, None)


@kernel("int64[:,::1](int64[:,::1], int64[:,::1], int64, int64)")
def merge(a, b, width, since):
    """The batch of all rows of `a` and `b`, with epochs advanced to `since`."""
    n = a.shape[0] + b.shape[0]
    out = empty_matrix(n, a.shape[1])
    state = np.zeros(FIELDS, np.int64)
    advance(a, b, out, state, width, since, n, None)
    return out[: state[WRITTEN]]


@kernel("int64[:,::1](int64[:,::1], int64, int64)")
def compact(a, width, since):
    """The batch `a` with epochs advanced to `since`."""
    n = a.shape[0]
    out = np.empty_like(a)
    k = 0
    for i in range(n):
        k = _append(out, k, a[i : i + 1], width, since)
    if k > 0 and _is_zero(out, k - 1, width + 1):
        k -= 1
    return out[:k]
