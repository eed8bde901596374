"""Kernels of the dictionary: an append-only arena of bytes and a hash table over it.

Entry `e` has the word `words[e]` and the bytes `arena[ends[e]:ends[e + 1]]`, so `ends` is one longer than the
entries and begins with 0. `table` has a power of two of slots; a slot holds an entry plus one, or 0 if it is
free, and a word is found from slot `word & mask` on, by linear probing.

Nothing ever moves within these arrays: a reader may run beside the one writer, as long as it asks for words
that existed when it began. The kernels do not interpret the bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.hashing import BYTES, OFFSETS, eight
from engine.kernels.memory import prefetch
from engine.kernels.words import NULL

WORDS = types.Array(types.int64, 1, "C", readonly=True)
ENDS = types.int64[::1]
TABLE = types.Array(types.uint32, 1, "C", readonly=True)
ARENA = types.uint8[::1]
AHEAD = 8
"""Rows between asking memory for something and using it."""


@njit(inline="always")
def slot_of(word, table, entry_words):
    """The slot that holds `word`, or the free one where it belongs."""
    mask = table.size - 1
    slot = word & mask
    while table[slot] != 0 and entry_words[table[slot] - 1] != word:
        slot = (slot + 1) & mask
    return slot


@njit(inline="always")
def _same(arena, at, data, begin, size):
    """Whether the `size` bytes from `at` on are those from `begin` on."""
    k = 0
    while k + 8 <= size:
        if eight(arena, at + k) != eight(data, begin + k):
            return False
        k += 8
    while k < size:
        if arena[at + k] != data[begin + k]:
            return False
        k += 1
    return True


@njit(inline="always")
def _ask_for(row, hashes, table, words, ends, arena):
    """Ask memory for what the texts of later rows will be compared with.

    It is all over the memory: the slot says where the entry is, and the entry where the text is. Waiting for
    each would take most of the time.
    """
    last, mask = hashes.size - 1, table.size - 1
    prefetch(table.ctypes.data + 4 * (hashes[min(row + 3 * AHEAD, last)] & mask))  # type: ignore[call-arg]
    entry = np.int64(table[hashes[min(row + 2 * AHEAD, last)] & mask]) - 1
    if entry >= 0:
        prefetch(words.ctypes.data + 8 * entry)  # type: ignore[call-arg]
        prefetch(ends.ctypes.data + 8 * entry)  # type: ignore[call-arg]
    entry = np.int64(table[hashes[min(row + AHEAD, last)] & mask]) - 1
    if entry >= 0:
        prefetch(arena.ctypes.data + ends[entry])  # type: ignore[call-arg]


@kernel(
    types.int64(
        *(WORDS, OFFSETS, BYTES, types.int64, types.int64),
        *(types.uint32[::1], types.int64[::1], ENDS, ARENA, types.int64[::1]),
    ),
)
def insert(hashes, offsets, data, start, count, table, words, ends, arena, out):
    """Give the rows from `start` on their words, and append new texts; returns the next row, and in `out[n]`
    the new number of entries.

    It stops early if an array is full. A row whose hash is NULL, or is the word of other bytes, gets the word
    NULL; the caller finds another one for it.
    """
    n = hashes.size
    row = start
    while row < n:
        word = hashes[row]
        _ask_for(row, hashes, table, words, ends, arena)
        if word == NULL:
            out[row] = NULL
            row += 1
            continue
        begin = offsets[row]
        size = offsets[row + 1] - begin
        slot = slot_of(word, table, words)
        if table[slot] == 0:
            if count >= words.size or 2 * count >= table.size or ends[count] + size > arena.size:
                break
            at = ends[count]
            for k in range(size):
                arena[at + k] = data[begin + k]
            words[count] = word
            ends[count + 1] = at + size
            count += 1
            table[slot] = count
            out[row] = word
        else:
            entry = table[slot] - 1
            at = ends[entry]
            same = ends[entry + 1] - at == size and _same(arena, at, data, begin, size)
            out[row] = word if same else NULL
        row += 1
    out[n] = count
    return row


@kernel(types.void(WORDS, types.int64, types.uint32[::1]))
def rebuild(words, count, table):
    """Fill the empty `table` with the first `count` entries."""
    for entry in range(count):
        table[slot_of(words[entry], table, words)] = entry + 1


@kernel(types.int64(WORDS, TABLE, WORDS, types.int64[::1]))
def find(words, table, entry_words, entries):
    """The entry of each word into `entries`, -1 for NULL; returns the position of the first unknown word, or
    -1."""
    for i in range(words.size):
        if words[i] == NULL:
            entries[i] = -1
            continue
        slot = table[slot_of(words[i], table, entry_words)]
        if slot == 0:
            return i
        entries[i] = slot - 1
    return -1


@kernel(types.void(types.Array(types.int64, 1, "A", readonly=True), TABLE, WORDS, types.int64[::1]))
def find_known(words, table, entry_words, entries):
    """The entry of each word into `entries`; -1 for NULL and for words that no entry has."""
    for i in range(words.size):
        slot = 0 if words[i] == NULL else table[slot_of(words[i], table, entry_words)]
        entries[i] = slot - 1


@kernel(types.UniTuple(types.int64, 2)(types.int64, TABLE, WORDS, ENDS))
def place_of(word, table, entry_words, ends):
    """Where the bytes of a word that is not NULL begin and end in the arena; -1 twice if no entry has it."""
    slot = table[slot_of(word, table, entry_words)]
    return (ends[slot - 1], ends[slot]) if slot else (-1, -1)


@kernel(types.void(WORDS, ENDS, types.int64[::1]))
def measure(entries, ends, offsets):
    """Arrow's offsets int64[n + 1] of the texts of `entries`; -1 has an empty text."""
    total = 0
    offsets[0] = 0
    for i in range(entries.size):
        if entries[i] >= 0:
            total += ends[entries[i] + 1] - ends[entries[i]]
        offsets[i + 1] = total


@kernel(types.void(WORDS, ENDS, ARENA, types.int64[::1], types.uint8[::1]))
def gather(entries, ends, arena, offsets, data):
    """Copy the texts of `entries` to `data` at their `offsets`."""
    last = entries.size - 1
    for i in range(entries.size):
        later, soon = entries[min(i + 2 * AHEAD, last)], entries[min(i + AHEAD, last)]
        if later >= 0:
            prefetch(ends.ctypes.data + 8 * later)  # type: ignore[call-arg]
        if soon >= 0:
            prefetch(arena.ctypes.data + ends[soon])  # type: ignore[call-arg]
        if entries[i] >= 0:
            source = ends[entries[i]]
            target = offsets[i]
            for k in range(offsets[i + 1] - target):
                data[target + k] = arena[source + k]


@njit(inline="always")
def order_of(ends, arena, a, b):
    """-1, 0 or 1: the bytes of entry a against those of entry b."""
    at_a, at_b = ends[a], ends[b]
    size_a, size_b = ends[a + 1] - at_a, ends[b + 1] - at_b
    k = 0
    shorter = min(size_a, size_b)
    while k < shorter and arena[at_a + k] == arena[at_b + k]:
        k += 1
    if k < shorter:
        return -1 if arena[at_a + k] < arena[at_b + k] else 1
    return int(size_a > size_b) - int(size_a < size_b)


@kernel(
    types.int64(WORDS, WORDS, TABLE, WORDS, ENDS, ARENA, types.int64[::1]),
)
def compare(left, right, table, entry_words, ends, arena, out):
    """Compare the texts of two words a row by bytes, which is by code points: -1, 0 or 1 into `out`.

    NULL if either word is NULL. An operand of one element stands for a whole column. Returns the position of
    the first row with an unknown word, or -1.
    """
    step_left, step_right = int(left.size != 1), int(right.size != 1)
    for i in range(out.size):
        a, b = left[i * step_left], right[i * step_right]
        if a == NULL or b == NULL:
            out[i] = NULL
        elif a == b:
            out[i] = 0
        else:
            entry_a = table[slot_of(a, table, entry_words)]
            entry_b = table[slot_of(b, table, entry_words)]
            if entry_a == 0 or entry_b == 0:
                return i
            out[i] = order_of(ends, arena, np.int64(entry_a) - 1, np.int64(entry_b) - 1)
    return -1
