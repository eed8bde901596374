"""A batch without its rounds: the sum of its rows over all rounds."""

from __future__ import annotations

import numpy as np

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare


@kernel("int64[:,::1](int64[:,::1], int64, int64, int64)")
def collapse(batch, width, depth, epoch):
    """Rows `[words | epoch | diffs]`: the sum, at `epoch`, of the batch's rows of the same `width` words."""
    n, columns = batch.shape
    first = width + depth + 1
    diffs = columns - first
    out = np.empty((n, width + 1 + diffs), np.int64)
    m = 0
    i = 0
    while i < n:
        start = i
        for w in range(width):
            out[m, w] = batch[i, w]
        out[m, width] = epoch
        for d in range(diffs):
            out[m, width + 1 + d] = 0
        while i < n and (i == start or compare(batch, i, batch, start, width) == 0):
            for d in range(diffs):
                out[m, width + 1 + d] += batch[i, first + d]
            i += 1
        for d in range(diffs):
            if out[m, width + 1 + d] != 0:
                m += 1
                break
    return out[:m]
