"""Joining a batch of changes with a trace: keys meet, times join, diffs multiply."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import ROWS, compare, layer, uncounted
from engine.kernels.lookup import hash_keys, locate
from engine.kernels.magnitudes import is_product_large
from engine.kernels.memory import empty_matrix
from engine.kernels.times import join_times

MOST_PAIRS = 1 << 25
"""Most pairs that a batch of changes may make with a trace at once, unless they are few for each row."""
MOST_A_ROW = 100


@njit(inline="always")
def _is_later(batch, j, width, depth, rounds):
    """Whether row j happened after the step `rounds` in some coordinate."""
    for d in range(depth):
        if batch[j, width + d] > rounds[d]:
            return True
    return False


@njit
def runs(delta, key):
    """Where each run of equal keys begins in the delta, and the end; and the number of runs."""
    n = delta.shape[0]
    starts = np.empty(n + 1, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or compare(delta, i, delta, i - 1, key) != 0:
            starts[count] = i
            count += 1
    starts[count] = n
    return starts, count


@njit
def _count_pairs(batch, low, high, width, depth, rounds):
    """How many of the batch's rows from low to high are met in this step."""
    if depth == 0:
        return high - low
    now = 0
    for j in range(low, high):
        if not _is_later(batch, j, width, depth, rounds):
            now += 1
    return now


@njit
def _matches(delta, table, key, width, depth, rounds):
    """Runs of delta rows, and the batch rows that meet them: int64[n, 5] of batch, run, range.

    Also returns how many pairs happen in this step, and how many later.
    """
    starts, count = runs(delta, key)
    lows = np.empty(count, np.int64)
    highs = np.empty(count, np.int64)
    hashes = hash_keys(table, delta, starts, count, key)
    found = np.empty((64, 5), np.int64)
    n = 0
    now = 0
    later = 0
    for index in range(table.shape[0]):
        batch = layer(table, index)
        locate(table, index, delta, starts, count, key, 0, hashes, lows, highs)
        for k in range(count):
            if lows[k] == highs[k]:
                continue
            run = starts[k + 1] - starts[k]
            current = _count_pairs(batch, lows[k], highs[k], width, depth, rounds)
            now += current * run
            later += (highs[k] - lows[k] - current) * run
            if n == found.shape[0]:
                grown = np.empty((2 * n, 5), np.int64)
                grown[:n] = found
                found = grown
            found[n, 0] = index
            found[n, 1] = starts[k]
            found[n, 2] = starts[k + 1]
            found[n, 3] = lows[k]
            found[n, 4] = highs[k]
            n += 1
    return found[:n], now, later


@njit
def _is_too_many(pairs, rows, table):
    """Whether there are more pairs than MOST_PAIRS, and more than MOST_A_ROW for each row of table and delta,
    which has `rows`."""
    for index in range(table.shape[0]):
        rows += table[index, ROWS]
    return pairs > MOST_PAIRS and pairs > MOST_A_ROW * rows


@njit
def _write(delta, delta_epoch, table, found, width, depth, rounds, columns, masks, out, k, rest, r):
    """Write the pairs of `found` from column k of `out` on, later ones from column r of `rest` on."""
    steps = rounds.shape[0]
    words = columns.shape[0]
    epoch = width + depth
    is_large = False
    delta, out, rest = uncounted(delta), uncounted(out), uncounted(rest)
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
                target[last - 1, p] = join_times(delta[i, delta_epoch], batch[j, epoch], masks)
                target[last, p] = delta[i, delta_epoch + 1] * batch[j, epoch + 1]
                is_large |= is_product_large(delta[i, delta_epoch + 1], batch[j, epoch + 1])
    if is_large:
        raise OverflowError("a product of counts does not fit into 64 bits")


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64))"
    "(int64[:,::1], int64, int64[:,::1], int64, int64, int64, int64[::1], int64[::1], int64[::1])",
)
def join(delta, delta_epoch, table, key, width, depth, rounds, columns, masks):
    """The pairs of a batch of changes, made at the step `rounds`, with the rows of a trace.

    `key` words lead both sides. The delta's column `delta_epoch` is its epoch; the trace has `width` words
    and `depth` rounds (fewer than the step has if the trace comes from an outer scope). `columns` names the
    output's words: c is the delta's word c, ~c the trace's. `masks` are the coordinates of times. Returns the
    delta [W + 2, n] of this step; the pairs of later steps, [W + d + 2, m]: words, rounds, time, diff; and 0.
    If there are too many pairs, both are empty, and the last result is the number of pairs.
    """
    found, now, later = _matches(delta, table, key, width, depth, rounds)
    out, rest, excess = _room(now, later, delta.shape[0], table, rounds, columns)
    if excess == 0:
        _write(delta, delta_epoch, table, found, width, depth, rounds, columns, masks, out, 0, rest, 0)
    return out, rest, excess


@njit
def _room(now, later, rows, table, rounds, columns):
    """The results of a join, before pairs are written."""
    excess = now + later if _is_too_many(now + later, rows, table) else 0
    if excess > 0:
        now, later = 0, 0
    words = columns.shape[0]
    return empty_matrix(words + 2, now), empty_matrix(words + rounds.shape[0] + 2, later), excess


# The steps of a join, for parts of a batch.


@kernel(
    "Tuple((int64[:,::1], int64, int64))(int64[:,::1], int64[:,::1], int64, int64, int64, int64[::1])",
)
def find_pairs(delta, table, key, width, depth, rounds):
    """Where a part of a batch meets a trace, and the numbers of pairs in this step and later; see `join`."""
    return _matches(delta, table, key, width, depth, rounds)


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64))(int64, int64, int64, int64[:,::1], int64[::1], int64[::1])",
)
def room_for_pairs(now, later, rows, table, rounds, columns):
    """The results of a join of so many rows with a trace, before the pairs of its parts are written."""
    return _room(now, later, rows, table, rounds, columns)


@kernel(
    "void(int64[:,::1], int64, int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64[::1], int64[::1],"
    " int64[:,::1], int64, int64[:,::1], int64)",
)
def write_pairs(delta, delta_epoch, table, found, width, depth, rounds, columns, masks, out, k, rest, r):
    """Write the pairs that `find_pairs` has found for a part of a batch into the results: from column k of
    `out` on, and from column r of `rest` on."""
    _write(delta, delta_epoch, table, found, width, depth, rounds, columns, masks, out, k, rest, r)
