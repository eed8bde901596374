"""Merging two sorted batches into one, a bounded number of rows at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import compare_coded
from engine.kernels.compiled import kernel
from engine.kernels.layers import ADDRESS, FORMAT, ROWS, STRIDE, WIDTH, compare, rows_at
from engine.kernels.memory import empty_matrix
from engine.kernels.narrow.batch_type import WORD, copy_words
from engine.kernels.narrow.narrow_rows import read_stretch

# Fields of a merge's state: the rows that are merged of each side, by its line, and those that are written.
LEFT, RIGHT, WRITTEN, FIELDS = 0, 1, 2, 3
_TOGETHER = 256
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
    copy_words(row.ctypes.data, out.ctypes.data + k * columns * WORD, columns)
    out[k, width] = epoch
    return k + 1


@njit(inline="always")
def _is_zero(out, k, first):
    for c in range(first, out.shape[1]):
        if out[k, c] != 0:
            return False
    return True


@njit(inline="always")
def _is_before(row, other, width):
    """Whether a row comes before another one, or is equal."""
    for w in range(width + 1):
        if row[0, w] != other[0, w]:
            return row[0, w] < other[0, w]
    return True


@njit
def advance(a, b, out, state, width, since, fuel, coding, left_ends=True, right_ends=True):
    """Continue a merge of two matrices, as `merge_step` does, of rows coded by `coding` (see the module
    `coding`), or uncoded if it is None.

    If `left_ends` or `right_ends` is false, more rows follow those of that side, and the merge stops where
    they are needed.
    """
    columns = a.shape[1]
    stride = columns * WORD
    left = a.ctypes.data + state[LEFT] * stride
    right = b.ctypes.data + state[RIGHT] * stride
    left_end = a.ctypes.data + a.shape[0] * stride
    right_end = b.ctypes.data + b.shape[0] * stride
    k = state[WRITTEN]
    while fuel > 0 and left < left_end and right < right_end:
        fuel -= 1
        one = rows_at(left, 1, columns)
        other = rows_at(right, 1, columns)
        if coding is None:
            is_left = _is_before(one, other, width)
        else:
            order = compare_coded(coding[0], coding[1], coding[2], one, 0, other, 0, width)
            is_left = order < 0 or (order == 0 and one[0, width] <= other[0, width])
        # Which side it is cannot be foretold, so no branch depends on it.
        mask = -np.int64(is_left)
        row = (left & mask) | (right & ~mask)
        left += stride & mask
        right += stride & ~mask
        k = _append(out, k, rows_at(row, 1, columns), width, since)
    while right_ends and fuel > 0 and right == right_end and left < left_end:
        fuel -= 1
        k = _append(out, k, rows_at(left, 1, columns), width, since)
        left += stride
    while left_ends and fuel > 0 and left == left_end and right < right_end:
        fuel -= 1
        k = _append(out, k, rows_at(right, 1, columns), width, since)
        right += stride
    done = left_ends and right_ends and left == left_end and right == right_end
    if done and k > 0 and _is_zero(out, k - 1, width + 1):
        k -= 1
    state[LEFT] = (left - a.ctypes.data) // stride
    state[RIGHT] = (right - b.ctypes.data) // stride
    state[WRITTEN] = k
    return done


@njit
def _stretch(table, index, start):
    """Rows of a batch from `start` on as a matrix: all that follow if it is one, else some of them."""
    rows, columns = table[index, ROWS], table[index, WIDTH]
    if table[index, FORMAT] == 0:
        return rows_at(table[index, ADDRESS] + start * table[index, STRIDE], rows - start, columns)
    out = np.empty((min(_TOGETHER, rows - start), columns), np.int64)
    read_stretch(table, index, start, np.arange(columns), out)
    return out


@njit
def _next(table, side, start, stretch, here):
    """The stretch of a side that is merged next, and the row with which it begins: another one, if this one,
    of which `here` has the progress, is used up and not the last."""
    if here[side] < stretch.shape[0] or start + here[side] == table[side, ROWS]:
        return start, stretch
    start += here[side]
    here[side] = 0
    return start, _stretch(table, side, start)


@njit
def advance_table(table, out, state, width, since, fuel, coding):
    """As `merge_step`, for rows coded by `coding`, or uncoded if it is None."""
    left, right = state[LEFT], state[RIGHT]
    one, other = _stretch(table, LEFT, left), _stretch(table, RIGHT, right)
    here = np.zeros(FIELDS, np.int64)
    here[WRITTEN] = state[WRITTEN]
    done = False
    while fuel > 0 and not done:
        left, one = _next(table, LEFT, left, one, here)
        right, other = _next(table, RIGHT, right, other, here)
        left_ends = left + one.shape[0] == table[LEFT, ROWS]
        right_ends = right + other.shape[0] == table[RIGHT, ROWS]
        before = here[LEFT] + here[RIGHT]
        done = advance(one, other, out, here, width, since, fuel, coding, left_ends, right_ends)
        fuel -= here[LEFT] + here[RIGHT] - before
    state[LEFT] = left + here[LEFT]
    state[RIGHT] = right + here[RIGHT]
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
