"""The index of a batch by hash: finds the first row of a key whose words are not spread evenly.

A sorted batch can be searched, but a search in a large one has a cache miss at every step. An index is a hash
table of uint32 slots, two for each key of the batch, with linear probing. A free slot is 0; otherwise its low
`place_bits` hold the number of the key's first row plus one, and the bits above hold a part of the key's
hash, so that few wrong rows are compared.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer, seek_past, slots_of

FEWEST = 64
"""The fewest rows for which an index of any kind pays."""
MOST = 1 << 31
"""A slot can name rows below this number."""
SLOTS_A_KEY = 2
_TOGETHER = 64
"""Keys that are entered together."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def hash_key(rows, i, width):
    """64 bits for the first `width` words of row i."""
    state = np.uint64(width)
    for w in range(width):
        state = (state ^ np.uint64(rows[i, w])) * _MIX
        state ^= state >> np.uint64(32)
    return state


@njit(inline="always")
def _home(key_hash, slots):
    """The slot where a probe begins."""
    return np.int64(((key_hash >> np.uint64(32)) * np.uint64(slots.shape[0])) >> np.uint64(32))


@njit(inline="always")
def _marked(key_hash, place_bits):
    """The bits of a hash that a slot holds, in their position."""
    return (key_hash & np.uint64(0xFFFFFFFF)) >> np.uint64(place_bits) << np.uint64(place_bits)


@kernel("int64(int64[:,::1], int64)")
def count_keys(table, key):
    """The number of distinct keys of `key` words in a table's first batch."""
    batch = layer(table, 0)
    count = 0
    for i in range(batch.shape[0]):
        if i == 0 or compare(batch, i, batch, i - 1, key) != 0:
            count += 1
    return count


@kernel("int64(int64[:,::1], int64, int64, uint32[::1], int64, int64)")
def index_rows(table, start, stop, slots, place_bits, key):
    """Enter the keys that begin in the rows from `start` up to `stop` of a table's first batch; returns their
    number.

    The first slots of some keys are read before one of these is entered: the memory accesses do not wait for
    each other.
    """
    batch = layer(table, 0)
    firsts = np.empty(_TOGETHER, np.int64)
    hashes = np.empty(_TOGETHER, np.uint64)
    entries = np.empty(_TOGETHER, np.uint32)
    count = 0
    row = start
    while row < stop:
        found = 0
        while row < stop and found < _TOGETHER:
            if row == 0 or compare(batch, row, batch, row - 1, key) != 0:
                firsts[found] = row
                hashes[found] = hash_key(batch, row, key)
                entries[found] = slots[_home(hashes[found], slots)]
                found += 1
            row += 1
        for k in range(found):
            s = _home(hashes[k], slots)
            is_free = entries[k] == 0 and slots[s] == 0
            while not is_free:
                s += 1
                if s == slots.shape[0]:
                    s = 0
                is_free = slots[s] == 0
            slots[s] = np.uint32(_marked(hashes[k], place_bits) | np.uint64(firsts[k] + 1))
        count += found
    return count


@njit
def look_up(table, index, place_bits, keys, rows, count, key, hashes, lows, highs):
    """Where the keys in the given `count` rows of `keys` lie in batch `index`: from lows[k] to highs[k].

    `hashes` has the hash of each key. First all slots are read, and then the rows they name: the memory
    accesses of a pass do not wait for each other.
    """
    batch = layer(table, index)
    slots = slots_of(table, index)
    low_bits = (np.uint64(1) << np.uint64(place_bits)) - np.uint64(1)
    entries = np.empty(count, np.uint32)
    for k in range(count):
        entries[k] = slots[_home(hashes[k], slots)]
    for k in range(count):
        lows[k] = 0
        highs[k] = 0
        entry = np.uint64(entries[k])
        if entry == 0:
            continue
        mark = _marked(hashes[k], place_bits)
        s = _home(hashes[k], slots)
        while entry != 0:
            if entry & ~low_bits == mark:
                place = np.int64(entry & low_bits) - 1
                if compare(batch, place, keys, rows[k], key) == 0:
                    lows[k] = place
                    highs[k] = seek_past(batch, place + 1, keys, rows[k], key)
                    break
            s += 1
            if s == slots.shape[0]:
                s = 0
            entry = np.uint64(slots[s])
