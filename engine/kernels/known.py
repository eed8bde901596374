"""Which words of any column are entries of a dictionary (see `texts`)."""

from __future__ import annotations

from numba import types

from engine.kernels.compiled import kernel
from engine.kernels.texts import ENDS, TABLE, WORDS, slot_of
from engine.kernels.words import NULL


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
