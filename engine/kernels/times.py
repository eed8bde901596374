"""Times of several coordinates, packed into one word: joins, comparison, and advancing to a frontier.

`masks` [k] are the coordinates' bits (see `engine.state.packed_times`), empty if times are totally ordered.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import add_equal, consolidate
from engine.kernels.compiled import kernel
from engine.kernels.layers import compare
from engine.kernels.sort import sort_rows

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@njit(inline="always")
def join_times(first, second, masks):
    """The least time at or after both."""
    if masks.shape[0] == 0:
        return max(first, second)
    joined = 0
    for i in range(masks.shape[0]):
        joined |= max(first & masks[i], second & masks[i])
    return joined


@njit
def _meet(first, second, masks):
    met = 0
    for i in range(masks.shape[0]):
        met |= min(first & masks[i], second & masks[i])
    return met


@njit
def _advanced(time, frontier, masks):
    result = join_times(time, frontier[0], masks)
    for i in range(1, frontier.shape[0]):
        result = _meet(result, join_times(time, frontier[i], masks), masks)
    return result


@kernel("int64[:,::1](int64[:,::1], int64, int64[::1], int64[::1])")
def advance_batch(batch, width, frontier, masks):
    """The batch [n, C] with each time, in column `width`, advanced to the frontier; consolidated.

    Rows stay in the order of their words, which need not be that of numbers.
    """
    rows = batch.copy()
    start = 0
    for i in range(rows.shape[0]):
        rows[i, width] = _advanced(rows[i, width], frontier, masks)
        if compare(rows, i, rows, start, width) != 0:
            sort_rows(rows[start:i], width + 1)
            start = i
    sort_rows(rows[start:], width + 1)
    return add_equal(rows, width + 1)


@kernel("int64[:,::1](int64[:,::1], int64, int64, int64[::1])")
def rows_before(batch, width, time, masks):
    """The rows of a batch of `width` words at or before a time, all at time 0; consolidated."""
    kept = np.empty(batch.shape, np.int64)
    n = 0
    for i in range(batch.shape[0]):
        if join_times(batch[i, width], time, masks) == time:
            kept[n] = batch[i]
            kept[n, width] = 0
            n += 1
    return consolidate(kept[:n], width + 1)


@njit(inline="always")
def _is_complete(time, frontier, masks):
    """Whether no element of the frontier is at or before the time."""
    complete = True
    for f in range(frontier.shape[0]):
        complete &= join_times(time, frontier[f], masks) != time
    return complete


@kernel("boolean[::1](int64[::1], int64[::1], int64[::1])")
def are_complete(times, frontier, masks):
    """For each time [n], whether no element of the frontier is at or before it."""
    complete = np.empty(times.shape[0], np.bool_)
    for i in range(times.shape[0]):
        complete[i] = _is_complete(times[i], frontier, masks)
    return complete


@kernel("UniTuple(int64, 2)(int64[:,::1])")
def ends_of(delta):
    """The least and the greatest of a delta's times, as numbers; the greatest is less if there are none. The
    compiler vectorizes this loop."""
    times = delta[delta.shape[0] - 2]
    least, most = _MOST, _LEAST
    for i in range(times.shape[0]):
        least = min(least, times[i])
        most = max(most, times[i])
    return least, most


@kernel("boolean(int64[:,::1], int64[::1], int64[::1], int64[::1])")
def are_within(delta, lower, upper, masks):
    """Whether every time of a delta is at or after an element of `lower`, and at or after none of `upper`."""
    times = delta[delta.shape[0] - 2]
    for i in range(times.shape[0]):
        if _is_complete(times[i], lower, masks) or not _is_complete(times[i], upper, masks):
            return False
    return True
