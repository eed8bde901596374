"""Merging two large batches in parts: both are cut at the same rows, and the parts merged side by side."""

from __future__ import annotations

import numpy as np

from engine.kernels.compiled import kernel
from engine.kernels.layers import seek
from engine.kernels.merge import FIELDS, WRITTEN, merge, merge_step
from engine.kernels.narrow.narrow_rows import table_of
from engine.kernels.parallel import threads


def merge_batches(left: np.ndarray, right: np.ndarray, width: int, since: int) -> np.ndarray:
    """As `engine.kernels.merge.merge`; large batches are merged in parts."""
    size = len(left) + len(right)
    if size < threads.LARGE:
        return merge(left, right, width, since)  # type: ignore[no-any-return]
    parts = len(threads.parts_of(size))
    large, small = (left, right) if len(left) >= len(right) else (right, left)
    cuts = cut_both(large, small, parts, width).tolist()
    out = np.empty((size, left.shape[1]), np.int64)

    def merged(place: int) -> np.ndarray:
        (start, other_start), (stop, other_stop) = cuts[place : place + 2]
        one, other = large[start:stop], small[other_start:other_stop]
        own = out[start + other_start : stop + other_stop]
        state = np.zeros(FIELDS, np.int64)
        merge_step(table_of([one, other]), own, state, width, since, len(own))
        return own[: state[WRITTEN]]

    return threads.together(out, threads.each(merged, range(parts)))


@kernel("int64[:,::1](int64[:,::1], int64[:,::1], int64, int64)")
def cut_both(large, small, parts, width):
    """[parts + 1, 2]: rows at which both batches are cut, so that none is equal to one of another part in its
    words and rounds, which are `width`."""
    cuts = np.zeros((parts + 1, 2), np.int64)
    for part in range(1, parts):
        row = large.shape[0] * part // parts
        cuts[part, 0] = seek(large, cuts[part - 1, 0], large, row, width)
        cuts[part, 1] = seek(small, cuts[part - 1, 1], large, row, width)
    cuts[parts, 0] = large.shape[0]
    cuts[parts, 1] = small.shape[0]
    return cuts
