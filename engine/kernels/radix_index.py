"""The radix index of a batch: finds the rows of a key by the leading bits of its first word.

The range of the first words is divided into buckets of 2^shift words. After two slots with the least word,
slot b holds the first row whose first word is in bucket b or a later one, as uint32. One more slot ends the
last bucket, and a slot that no row has reached is UNREACHED. A bucket has few keys if first words are spread
evenly, as counted keys and hashes are. So the index needs a quarter of the slots of a hash table, or less,
and is written in the order of the rows, and a search in a bucket reads neighbouring rows. A crowded bucket
is searched by galloping: a key costs the logarithm of its bucket.

In a table of batches, the number of place bits tells the kinds of index apart: it is ~shift here, below 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer, seek, seek_past, slots_of

KEYS_A_BUCKET = 2
"""Buckets have at least this many keys on average, and less than twice as many."""
HEAD = 2
"""Slots before the buckets', which hold the least word."""
FEW = 16
"""Rows of a bucket that are all looked at, which no branch has to decide."""
UNREACHED = np.uint32(0xFFFFFFFF)


@njit(inline="always")
def _least(slots):
    """The least first word."""
    return np.int64(np.uint64(slots[0]) | np.uint64(slots[1]) << np.uint64(32))


@njit(inline="always")
def _bucket(word, least, shift):
    """The bucket of a word that is not below the least one."""
    return np.int64((np.uint64(word) - np.uint64(least)) >> np.uint64(shift))


@kernel("uint32[::1](int64, int64)")
def empty_slots(least, buckets):
    """The slots of an index without rows."""
    slots = np.full(HEAD + buckets + 1, UNREACHED, np.uint32)
    slots[0] = np.uint32(np.uint64(least) & np.uint64(0xFFFFFFFF))
    slots[1] = np.uint32(np.uint64(least) >> np.uint64(32))
    return slots


@kernel("UniTuple(int64, 2)(int64[:,::1], int64, int64, uint32[::1], int64, int64)")
def index_buckets(table, start, stop, slots, shift, key):
    """Enter the rows from `start` up to `stop` of a table's first batch, in order.

    Returns the number of keys of `key` words that begin there, and for all of them together how many keys
    their buckets have up to and including each.
    """
    batch = layer(table, 0)
    least = _least(slots)
    if start == 0:
        slots[HEAD] = 0
    bucket = first = _bucket(batch[start - 1, 0], least, shift) if start > 0 else np.int64(0)
    count = np.int64(0)
    crowd = np.int64(0)
    crowded = np.int64(0)
    # Neither where keys begin nor where buckets do can be foretold, so no branch depends on them.
    for row in range(start, stop):
        is_first = np.int64(row == 0 or compare(batch, row, batch, row - 1, key) != 0)
        own = _bucket(batch[row, 0], least, shift)
        slots[HEAD + own + 1] = row + 1
        crowd = crowd * np.int64(own == bucket) + is_first
        count += is_first
        crowded += crowd * is_first
        bucket = own
    for slot in range(HEAD + first + 1, HEAD + bucket + 1):
        slots[slot] = slots[slot - 1] if slots[slot] == UNREACHED else slots[slot]
    return count, crowded


@njit
def look_up_bucket(table, index, shift, keys, rows, count, key, lows, highs):
    """Where the keys in the given `count` rows of `keys` lie in batch `index`: from lows[k] to highs[k].

    First all slots are read, and then the rows that they name: the memory accesses of a pass do not wait for
    each other.
    """
    batch = layer(table, index)
    slots = slots_of(table, index)
    least = _least(slots)
    buckets = slots.shape[0] - HEAD - 1
    for k in range(count):
        word = keys[rows[k], 0]
        bucket = _bucket(word, least, shift) if word >= least else np.int64(-1)
        lows[k] = highs[k] = 0
        if 0 <= bucket < buckets:
            lows[k] = min(np.int64(slots[HEAD + bucket]), batch.shape[0])
            highs[k] = min(np.int64(slots[HEAD + bucket + 1]), batch.shape[0])
    for k in range(count):
        low = lows[k]
        high = highs[k]
        if key > 1 or high - low > FEW:
            if low < high:
                low = seek(batch, low, keys, rows[k], key)
                high = seek_past(batch, low, keys, rows[k], key)
        else:
            word = keys[rows[k], 0]
            first = low
            for row in range(first, high):
                own = batch[row, 0]
                low += own < word
                high -= own > word
        lows[k] = low
        highs[k] = high
