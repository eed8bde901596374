"""Finding the rows of many keys in the batches of a table.

If a stretch of a batch is short for the number of keys sought in it, a walk visits all of it. Otherwise an
index (`engine.kernels.index` or `radix_index`) of that key width is used, if there is one, or the stretch is
searched: by halving or, if the first words are spread evenly, by interpolation. Few keys are looked up in the
index without a look at their stretch.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.index import hash_key, look_up
from engine.kernels.layers import INDEX, KEY, PLACE_BITS, ROWS, SPREAD, compare, layer, seek, seek_past
from engine.kernels.radix_index import look_up_bucket

BLOCK = 1024
"""Keys that a kernel looks up together, so that what it finds is still in the cache when it is used."""
WALK = 4
"""A stretch of a batch with up to this many rows a key is walked through."""
MANY = 256
"""From so many keys on, the ends of their stretch are worth seeking."""
GUESSES = 3
"""How often the position of a word is interpolated among words that are spread evenly."""


@njit
def _halve_by_one(batch, low, high, first_words, bounds):
    """bounds[k]: the first row in [low, high) whose first word is not below first_words[k].

    All searches halve their ranges together: no branch can be mispredicted, and their memory accesses do not
    wait for each other.
    """
    bounds[:] = low
    length = high - low
    while length > 1:
        half = length >> 1
        for k in range(bounds.shape[0]):
            b = bounds[k]
            if batch[b + half - 1, 0] < first_words[k]:
                b += half
            bounds[k] = b
        length -= half
    if length == 1:
        for k in range(bounds.shape[0]):
            bounds[k] += batch[bounds[k], 0] < first_words[k]


@njit
def _halve_by_two(batch, low, high, first_words, second_words, bounds):
    """As `_halve_by_one`, by the first two words."""
    bounds[:] = low
    length = high - low
    while length > 1:
        half = length >> 1
        for k in range(bounds.shape[0]):
            b = bounds[k]
            x = batch[b + half - 1, 0]
            y = batch[b + half - 1, 1]
            if (x < first_words[k]) | ((x == first_words[k]) & (y < second_words[k])):
                b += half
            bounds[k] = b
        length -= half
    if length == 1:
        for k in range(bounds.shape[0]):
            x = batch[bounds[k], 0]
            y = batch[bounds[k], 1]
            bounds[k] += (x < first_words[k]) | ((x == first_words[k]) & (y < second_words[k]))


@njit
def _lower_bounds(batch, low, high, keys, rows, first, last, width, bounds):
    """bounds[k]: the first row in [low, high) not below row rows[k] of `keys`, for first ≤ k < last."""
    count = last - first
    words = np.empty((2, count), np.int64)
    for k in range(count):
        for w in range(min(width, 2)):
            words[w, k] = keys[rows[first + k], w]
    found = bounds[first:last]
    if width == 0:
        found[:] = low
    elif width == 1:
        _halve_by_one(batch, low, high, words[0], found)
    else:
        _halve_by_two(batch, low, high, words[0], words[1], found)
        if width > 2:
            for k in range(count):
                found[k] = seek(batch, found[k], keys, rows[first + k], width)


@njit
def _walk(batch, keys, rows, first, last, width, position, lows, highs):
    """Fill lows[k] and highs[k] for first ≤ k < last, in one walk from row `position`."""
    for k in range(first, last):
        position = seek(batch, position, keys, rows[k], width)
        lows[k] = position
        position = seek_past(batch, position, keys, rows[k], width)
        highs[k] = position


@njit
def _search(batch, keys, rows, count, width, start, lows, highs):
    """Where the keys lie in a batch without an index, from row `start` on; returns the end of the last key's
    rows.

    A block of keys is sought in the stretch of the batch between its first and its last key.
    """
    position = start
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        low = seek(batch, position, keys, rows[first], width)
        position = seek_past(batch, low, keys, rows[last - 1], width)
        if position - low <= WALK * (last - first):
            _walk(batch, keys, rows, first, last, width, low, lows, highs)
            continue
        _lower_bounds(batch, low, position, keys, rows, first, last, width, lows)
        for k in range(first, last):
            highs[k] = seek_past(batch, lows[k], keys, rows[k], width)
    return position


@njit
def _seek_near(batch, near, keys, row, width):
    """The first row of the batch that is not below a key, found by galloping from row `near`."""
    if compare(batch, near, keys, row, width) < 0:
        return seek(batch, near, keys, row, width)
    high = near
    step = 1
    while high >= step and compare(batch, high - step, keys, row, width) >= 0:
        high -= step
        step <<= 1
    low = max(high - step + 1, 0)
    while low < high:
        middle = (low + high) >> 1
        if compare(batch, middle, keys, row, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _interpolate(batch, keys, rows, count, width, lows, highs):
    """As `_search`, in a batch whose first words are spread evenly.

    A word lies at its proportion of the range, up to the root of the number of rows; the next guess starts
    from the word found there. Guesses of one pass do not wait for each other.
    """
    last = batch.shape[0] - 1
    span = np.float64(batch[last, 0]) - np.float64(batch[0, 0])
    rate = last / span if span > 0 else 0.0
    lows[:count] = 0
    for _ in range(GUESSES):
        for k in range(count):
            there = np.float64(batch[lows[k], 0])
            guess = lows[k] + (np.float64(keys[rows[k], 0]) - there) * rate
            lows[k] = np.int64(min(max(guess, 0.0), np.float64(last)))
    for k in range(count):
        lows[k] = _seek_near(batch, lows[k], keys, rows[k], width)
        highs[k] = seek_past(batch, lows[k], keys, rows[k], width)


@njit
def hash_keys(table, keys, rows, count, width):
    """The hashes of the keys in the given rows, if the table has an index of hashes for them; otherwise an
    empty array."""
    asked = False
    for index in range(table.shape[0]):
        is_hashed = table[index, INDEX] != 0 and table[index, PLACE_BITS] >= 0
        asked = asked or (is_hashed and table[index, KEY] == width)
    hashes = np.empty(count if asked else 0, np.uint64)
    for k in range(hashes.shape[0]):
        hashes[k] = hash_key(keys, rows[k], width)
    return hashes


@njit
def _is_dense(batch, keys, rows, count, width, start):
    """Whether the stretch of a batch from the first of the keys to the last one is walked through."""
    low = seek(batch, start, keys, rows[0], width)
    end = low + WALK * count
    return end >= batch.shape[0] or compare(batch, end, keys, rows[count - 1], width) > 0


@njit
def locate(table, index, keys, rows, count, width, start, hashes, lows, highs):
    """Where the keys in the given `count` rows of sorted `keys`, distinct and ascending, lie in a batch.

    Fills lows[k] and highs[k]. `hashes` come from `hash_keys`; no key lies before row `start` of the batch.
    Returns a `start` for the keys that follow.
    """
    few = keys.shape[0] * WALK < table[index, ROWS] and not (
        count >= MANY and _is_dense(layer(table, index), keys, rows, count, width, start)
    )
    if few and table[index, INDEX] != 0 and table[index, KEY] == width:
        place_bits = table[index, PLACE_BITS]
        if place_bits < 0:
            look_up_bucket(table, index, ~place_bits, keys, rows, count, width, lows, highs)
        else:
            look_up(table, index, place_bits, keys, rows, count, width, hashes, lows, highs)
        return start
    if few and table[index, KEY] == SPREAD and width > 0:
        _interpolate(layer(table, index), keys, rows, count, width, lows, highs)
        return start
    return _search(layer(table, index), keys, rows, count, width, start, lows, highs)


@njit
def find_block(table, keys, first, last, positions, lows, highs):
    """For every batch l and key first ≤ m < last of sorted, distinct `keys`, where the rows of that key lie.

    Fills lows[l, m - first] and highs[l, m - first]. Call it for blocks in order; `positions` (one number a
    batch, zero at first) carries the sweep from one block to the next.
    """
    width = keys.shape[1]
    rows = np.arange(first, last)
    hashes = hash_keys(table, keys, rows, last - first, width)
    for index in range(table.shape[0]):
        positions[index] = locate(
            table,
            index,
            keys,
            rows,
            last - first,
            width,
            positions[index],
            hashes,
            lows[index],
            highs[index],
        )


@kernel("UniTuple(int64[:,::1], 2)(int64[:,::1], int64[:,::1])")
def find_ranges(table, keys):
    """For every batch l and every line m of sorted, distinct `keys` [m, P], where the rows of that key lie.

    Returns lows[l, m] and highs[l, m].
    """
    layers = table.shape[0]
    size = keys.shape[0]
    lows = np.empty((layers, size), np.int64)
    highs = np.empty((layers, size), np.int64)
    find_block(table, keys, 0, size, np.zeros(layers, np.int64), lows, highs)
    return lows, highs
