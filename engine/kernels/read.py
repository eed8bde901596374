"""Reading histories: the rows of a batch up to an epoch, or at some epochs."""

from __future__ import annotations

import numpy as np

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare


@kernel("int64[:,::1](int64[:,::1], int64, int64)")
def rows_until(batch, width, epoch):
    """The rows of a batch of `width` words up to `epoch`, all at epoch 0; consolidated."""
    n, columns = batch.shape
    out = np.empty((n, columns), np.int64)
    k = 0
    for i in range(n):
        if batch[i, width] > epoch:
            continue
        if k > 0 and compare(out, k - 1, batch, i, width) == 0:
            out[k - 1, width + 1] += batch[i, width + 1]
            continue
        if k > 0 and out[k - 1, width + 1] == 0:
            k -= 1
        for c in range(columns):
            out[k, c] = batch[i, c]
        out[k, width] = 0
        k += 1
    if k > 0 and out[k - 1, width + 1] == 0:
        k -= 1
    return out[:k]


@kernel("int64[:,::1](int64[:,::1], int64, int64, int64)")
def rows_between(batch, width, since, until):
    """The columnar delta [W + 2, n] of a batch's rows at epochs after `since`, up to `until`."""
    count = 0
    for i in range(batch.shape[0]):
        if since < batch[i, width] <= until:
            count += 1
    out = np.empty((width + 2, count), np.int64)
    k = 0
    for i in range(batch.shape[0]):
        if since < batch[i, width] <= until:
            for c in range(width + 2):
                out[c, k] = batch[i, c]
            k += 1
    return out
