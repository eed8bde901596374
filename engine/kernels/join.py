"""Joining a batch of changes with a trace: keys meet, times join, diffs multiply."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.layers import layer, seek, seek_past


@njit(inline="always")
def _is_later(batch, j, width, depth, rounds):
    """Whether row j happened in some coordinate after the step `rounds`."""
    for d in range(depth):
        if batch[j, width + d] > rounds[d]:
            return True
    return False


@njit
def _matches(delta, table, key, width, depth, rounds):
    """Runs of delta rows and the batch rows that meet them: int64[n, 5] of batch, run, range.

    Also how many pairs happen now and how many later.
    """
    capacity = 64
    found = np.empty((capacity, 5), np.int64)
    n = delta.shape[0]
    count = 0
    now = 0
    later = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        position = 0
        size = batch.shape[0]
        i = 0
        while i < n and position < size:
            end = i + 1
            while end < n and _same_key(delta, i, end, key):
                end += 1
            position = seek(batch, position, delta, i, key)
            low = position
            position = seek_past(batch, position, delta, i, key)
            if position > low:
                after = 0
                if depth > 0:
                    for j in range(low, position):
                        if _is_later(batch, j, width, depth, rounds):
                            after += 1
                later += after * (end - i)
                now += (position - low - after) * (end - i)
                if count == capacity:
                    capacity *= 2
                    grown = np.empty((capacity, 5), np.int64)
                    grown[:count] = found
                    found = grown
                found[count, 0] = index
                found[count, 1] = i
                found[count, 2] = end
                found[count, 3] = low
                found[count, 4] = position
                count += 1
            i = end
    return found[:count], now, later


@njit(inline="always")
def _same_key(delta, i, j, key):
    for w in range(key):
        if delta[i, w] != delta[j, w]:
            return False
    return True


@njit(
    "Tuple((int64[:,::1], int64[:,::1]))"
    "(int64[:,::1], int64, int64[:,::1], int64, int64, int64, int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def join(delta, delta_epoch, table, key, width, depth, rounds, columns):
    """The pairs of a batch of changes, made at the step `rounds`, with the rows of a trace.

    `key` words lead both sides. The delta's column `delta_epoch` is its epoch; the trace has
    `width` words and `depth` rounds (fewer than the step's where it came from an outer scope).
    `columns` names the output's words: c is the delta's word c, ~c the trace's.
    Returns the delta [W + 2, n] of this step, and what falls into later ones:
    [W + d + 2, m], words, rounds, epoch, diff.
    """
    found, now, later = _matches(delta, table, key, width, depth, rounds)
    steps = rounds.shape[0]
    words = columns.shape[0]
    out = np.empty((words + 2, now), np.int64)
    rest = np.empty((words + steps + 2, later), np.int64)
    epoch = width + depth
    k = 0
    r = 0
    for f in range(found.shape[0]):
        batch = layer(table, found[f, 0])
        for j in range(found[f, 3], found[f, 4]):
            after = depth > 0 and _is_later(batch, j, width, depth, rounds)
            for i in range(found[f, 1], found[f, 2]):
                if after:
                    target = rest
                    p = r
                    r += 1
                    for d in range(steps):
                        rest[words + d, p] = max(rounds[d], batch[j, width + d]) if d < depth else rounds[d]
                else:
                    target = out
                    p = k
                    k += 1
                for w in range(words):
                    c = columns[w]
                    target[w, p] = delta[i, c] if c >= 0 else batch[j, ~c]
                last = target.shape[0] - 1
                target[last - 1, p] = max(delta[i, delta_epoch], batch[j, epoch])
                target[last, p] = delta[i, delta_epoch + 1] * batch[j, epoch + 1]
    return out, rest
