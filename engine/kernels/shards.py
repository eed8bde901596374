"""Shards: the rows of a batch divided by a hash of their key, in their order."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.index import hash_key
from engine.kernels.memory import empty_matrix

_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)


@njit(inline="always")
def shard_of(rows, i, words, shards):
    """The shard, of `shards`, of the first `words` words of row i.

    The hash differs from an index's hash, by which all keys of one shard would fall into the same part of the
    index.
    """
    state = hash_key(rows, i, words)
    state ^= state >> np.uint64(33)
    state *= _MIX_1
    state ^= state >> np.uint64(33)
    state *= _MIX_2
    state ^= state >> np.uint64(33)
    return np.int64(((state >> np.uint64(32)) * np.uint64(shards)) >> np.uint64(32))


@kernel("Tuple((int64[:,::1], int64[::1]))(int64[:,::1], int64, int64)")
def split(rows, words, shards):
    """All `rows`, those of shard 0 first, and the end of each shard: int64[shards]. Rows of a shard keep
    their order."""
    n, columns = rows.shape
    of_row = np.empty(n, np.int32)
    ends = np.zeros(shards, np.int64)
    for i in range(n):
        shard = shard_of(rows, i, words, shards)
        of_row[i] = shard
        ends[shard] += 1
    start = 0
    for shard in range(shards):
        size = ends[shard]
        ends[shard] = start
        start += size
    out = empty_matrix(n, columns)
    for i in range(n):
        shard = of_row[i]
        k = ends[shard]
        ends[shard] = k + 1
        for c in range(columns):
            out[k, c] = rows[i, c]
    return out, ends
