"""Ids of rows: hashing rows, and separating rows without collisions from the others.

A row's hash has a round. The row's words go into it one after the other, each by a bijection of the state, so
that rows of one word never collide in 64 bits. NULL is not a hash; its neighbour takes its place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.arrange import consolidate
from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer
from engine.kernels.lookup import BLOCK, hash_keys, locate
from engine.kernels.memory import empty_matrix
from engine.kernels.reduce import grow
from engine.kernels.words import NULL

# The golden ratio's fraction, and the multipliers of Stafford's thirteenth mix.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

# Kinds of lines of a batch: its hash is shared; it is alone with its hash and makes a row; or makes none.
_SHARED, _LONE, _NOTHING = 0, 1, 2


@njit(inline="always")
def _mix(state):
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


@njit(inline="always")
def _start(seed, round):
    """The state from which a round's hashes start."""
    return _mix(np.uint64(seed) + np.uint64(round + 1) * _GOLDEN)


@njit(inline="always")
def _finish(state, round, bits):
    """The hash from a final state: its lowest `bits[round]` bits, if `bits` has that round."""
    if round < bits.shape[0] and bits[round] < 64:
        return np.int64(state & ((np.uint64(1) << np.uint64(bits[round])) - np.uint64(1)))
    word = np.int64(state)
    return word if word != NULL else NULL + 1


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64, int64[::1])")
def arrange_hashed(delta, order, rounds, seed, bits):
    """A batch [m, 1 + P + d + 2] of a delta [W + 2, n]: the hash of round 0, then the columns of `arrange`.

    `order` (P + 1) names the words to keep and then the epoch's row; `bits` is an `IdHash`'s.
    """
    n = delta.shape[1]
    width = order.shape[0] - 1
    depth = rounds.shape[0]
    lead = 1 + width + depth + 1
    rows = empty_matrix(n, lead + 1)
    start = _start(seed, 0)
    for i in range(n):
        state = start
        for w in range(width):
            word = delta[order[w], i]
            rows[i, 1 + w] = word
            state = _mix(state ^ np.uint64(word))
        rows[i, 0] = _finish(state, 0, bits)
        for d in range(depth):
            rows[i, 1 + width + d] = rounds[d]
        rows[i, lead - 1] = delta[order[width], i]
        rows[i, lead] = delta[delta.shape[0] - 1, i]
    return consolidate(rows, lead)


@kernel("int64[:,::1](int64[:,::1], int64, int64[::1])")
def ask_again(losers, seed, bits):
    """For each line (round, row) of `losers`: the row's hash of the next round, that round, and the row."""
    n, columns = losers.shape
    out = np.empty((n, columns + 1), np.int64)
    for i in range(n):
        round = losers[i, 0] + 1
        state = _start(seed, round)
        for c in range(1, columns):
            state = _mix(state ^ np.uint64(losers[i, c]))
            out[i, 1 + c] = losers[i, c]
        out[i, 0] = _finish(state, round, bits)
        out[i, 1] = round
    return out


@njit
def _groups(batch, start, starts):
    """Where groups of equal hashes begin from line `start` on, and the end of the last; returns their
    number."""
    n = batch.shape[0]
    count = 0
    i = start
    while i < n:
        if i == start or batch[i, 0] != batch[i - 1, 0]:
            if count == BLOCK:
                break
            starts[count] = i
            count += 1
        i += 1
    starts[count] = i
    return count


@njit
def _is_contested(batch, start, end, table, lows, highs, k, width):
    """Whether a group has several rows: in its lines of the batch, or at k in the table's ranges."""
    if compare(batch, start, batch, end - 1, width) != 0:
        return True
    for index in range(table.shape[0]):
        if lows[index, k] < highs[index, k]:
            other = layer(table, index)
            for j in (lows[index, k], highs[index, k] - 1):
                if compare(batch, start, other, j, width) != 0:
                    return True
    return False


@njit
def _classify(batch, table, width, kinds):
    """Fill `kinds` with the kind of each line of the batch; returns the contested hashes [c, 1]."""
    n = batch.shape[0]
    layers = table.shape[0]
    starts = np.empty(BLOCK + 1, np.int64)
    lows = np.zeros((layers, BLOCK), np.int64)
    highs = np.zeros((layers, BLOCK), np.int64)
    positions = np.zeros(layers, np.int64)
    contested = np.empty((0, 1), np.int64)
    found = 0
    start = 0
    while start < n:
        count = _groups(batch, start, starts)
        hashes = hash_keys(table, batch, starts, count, 1)
        for index in range(layers):
            positions[index] = locate(
                table, index, batch, starts, count, 1, positions[index], hashes, lows[index], highs[index]
            )
        for k in range(count):
            first, end = starts[k], starts[k + 1]
            known = 0
            for index in range(layers):
                known += highs[index, k] - lows[index, k]
            if known == 0 and end - first == 1:
                kinds[first] = _LONE if batch[first, batch.shape[1] - 1] > 0 else _NOTHING
                continue
            kinds[first:end] = _SHARED
            if _is_contested(batch, first, end, table, lows, highs, k, width):
                if found == contested.shape[0]:
                    contested = grow(contested)
                contested[found, 0] = batch[first, 0]
                found += 1
        start = starts[count]
    return contested[:found]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64)",
)
def sift(batch, table, width, depth):
    """Separate the rows of a batch that are alone with their hash, and have no history, from the others.

    `table` holds the other batches; all have `width` words, a hash first, and `depth` rounds. Returns the
    delta [width + 2, n] of the lone rows, each once; the other rows [m, width]; and the hashes [c, 1] that
    several rows have, at any time.
    """
    n = batch.shape[0]
    kinds = np.empty(n, np.uint8)
    contested = _classify(batch, table, width, kinds)
    lone = 0
    others = 0
    for i in range(n):
        lone += kinds[i] == _LONE
        others += kinds[i] == _SHARED and (i == 0 or compare(batch, i, batch, i - 1, width) != 0)
    delta = empty_matrix(width + 2, lone)
    rows = empty_matrix(others, width)
    p = 0
    q = 0
    for i in range(n):
        if kinds[i] == _LONE:
            for w in range(width):
                delta[w, p] = batch[i, w]
            delta[width, p] = batch[i, width + depth]
            delta[width + 1, p] = 1
            p += 1
        elif kinds[i] == _SHARED and (i == 0 or compare(batch, i, batch, i - 1, width) != 0):
            rows[q] = batch[i, :width]
            q += 1
    return delta, rows, contested
