"""Work for later rounds: lines that operators return, grouped by their rounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare
from engine.kernels.sort import sort_rows


@njit
def _starts(rows, depth):
    """Where each run of equal rounds begins, and the end."""
    n = rows.shape[0]
    starts = np.empty(n + 1, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or compare(rows, i, rows, i - 1, depth) != 0:
            starts[count] = i
            count += 1
    starts[count] = n
    return starts[: count + 1]


@kernel("Tuple((int64[:,::1], int64[::1]))(int64[:,::1], int64, int64)")
def group_deltas(later, words, depth):
    """The columns of `later` [W + d + 2, n], sorted by their rounds; and where each run begins."""
    n = later.shape[1]
    lines = np.empty((n, depth + 1), np.int64)
    for i in range(n):
        for d in range(depth):
            lines[i, d] = later[words + d, i]
        lines[i, depth] = i
    sort_rows(lines, depth + 1)
    out = np.empty_like(later)
    for r in range(later.shape[0]):
        for i in range(n):
            out[r, i] = later[r, lines[i, depth]]
    return out, _starts(lines, depth)


@kernel("Tuple((int64[:,::1], int64[::1]))(int64[:,::1], int64)")
def group_keys(later, depth):
    """The distinct lines (rounds, key) of `later`, sorted; and where each run of equal rounds begins."""
    rows = later.copy()
    width = rows.shape[1]
    sort_rows(rows, width)
    m = 0
    for i in range(rows.shape[0]):
        if i == 0 or compare(rows, i, rows, m - 1, width) != 0:
            rows[m] = rows[i]
            m += 1
    return rows[:m], _starts(rows[:m], depth)


@kernel("int64[:,::1](int64[:,::1])")
def distinct_rows(rows):
    """The distinct rows, sorted."""
    out = rows.copy()
    width = out.shape[1]
    sort_rows(out, width)
    m = 0
    for i in range(out.shape[0]):
        if i == 0 or compare(out, i, out, m - 1, width) != 0:
            out[m] = out[i]
            m += 1
    return out[:m]


def split_deltas(later: np.ndarray, depth: int) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """The rounds in `later` [W + d + 2, n], each with its delta [W + 2, m]."""
    words = len(later) - depth - 2
    later, starts = group_deltas(later, words, depth)
    kept = [*range(words), words + depth, words + depth + 1]
    for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield tuple(later[words : words + depth, low].tolist()), np.ascontiguousarray(later[kept, low:high])
