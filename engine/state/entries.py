"""Entries: the words and texts of a dictionary, numbered in order of arrival, and found by their words.

They are stored in Arrow's layout: bytes end to end in an arena, offsets, and a hash table of entry numbers;
about 40 bytes an entry plus its text. Entries are only ever appended. One writer at a time; readers need no
lock, and see the entries that existed when they began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from engine.kernels import texts as kernels
from engine.kernels.words import NULL


class Store(NamedTuple):
    """The arrays of `engine.kernels.texts`; a full one is replaced by a larger copy."""

    table: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    arena: np.ndarray


class Entries:
    """The entries of one dictionary."""

    def __init__(self) -> None:
        self._count = 0
        self.store = Store(
            table=np.zeros(1 << 11, np.uint32),
            words=np.empty(1 << 10, np.int64),
            ends=np.zeros((1 << 10) + 1, np.int64),
            arena=np.empty(1 << 14, np.uint8),
        )

    def __len__(self) -> int:
        return self._count

    def append(self, hashes: np.ndarray, offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
        """The words of texts: their hashes, or NULL if a hash is NULL or is the word of other bytes.

        Texts that have no entry yet become entries.
        """
        count = hashes.size
        words = np.empty(count + 1, np.int64)
        row = 0
        while True:
            row = kernels.insert(hashes, offsets, data, row, self._count, *self.store, words)
            self._count = int(words[count])
            if row == count:
                return words[:count]
            self._grow(int(offsets[row + 1] - offsets[row]))

    def _grow(self, size: int) -> None:
        """Make room for at least one more entry, of `size` bytes. Readers keep the arrays they have."""
        table, words, ends, arena = self.store
        count = self._count
        if count >= words.size:
            words = _larger(words, count, 2 * count)
            ends = _larger(ends, count + 1, 2 * count + 1)
        if 2 * count >= table.size:
            table = np.zeros(2 * table.size, np.uint32)
            kernels.rebuild(words, count, table)
        used = int(ends[count])
        if used + size > arena.size:
            arena = _larger(arena, used, 2 * arena.size + size)
        self.store = Store(table, words, ends, arena)

    def texts(self, words: np.ndarray) -> pa.LargeStringArray:
        """The texts of `words`, null for NULL; KeyError if no entry has one of them."""
        if words.size == 0:
            return pa.array([], pa.large_string())
        store = self.store
        numbers = _find(words, store)
        offsets = np.empty(words.size + 1, np.int64)
        kernels.measure(numbers, store.ends, offsets)
        data = np.empty(int(offsets[-1]), np.uint8)
        kernels.gather(numbers, store.ends, store.arena, offsets, data)
        validity = None
        if numbers.min() < 0:
            validity = pa.array(numbers >= 0).buffers()[1]
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), words.size, buffers)

    def compare(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64[n]: -1, 0 or 1 if the left text sorts before, the same as or after the right one, by bytes.

        NULL if either word is NULL. A side of one word stands for a column. KeyError if no entry has one of
        the words.
        """
        order = np.empty(max(left.size, right.size) if left.size and right.size else 0, np.int64)
        unknown = kernels.compare(left, right, *self.store, order)
        if unknown >= 0:
            raise KeyError(f"row {unknown}")
        return order

    def numbers(self, words: np.ndarray) -> np.ndarray:
        """The numbers of the entries of `words`, -1 for NULL; KeyError if no entry has one of them."""
        return _find(words, self.store)

    def words(self, numbers: np.ndarray) -> np.ndarray:
        """The words of the entries with these numbers, NULL for -1."""
        words = self.store.words[numbers]
        words[numbers < 0] = NULL
        return words

    def slice(self, first: int, last: int) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The words and texts of the entries numbered from `first` up to `last`."""
        _, words, ends, arena = self.store
        offsets = ends[first : last + 1] - ends[first]
        data = arena[ends[first] : ends[last]]
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return words[first:last], pa.Array.from_buffers(pa.large_string(), last - first, buffers)


def _find(words: np.ndarray, store: Store) -> np.ndarray:
    numbers = np.empty(words.size, np.int64)
    words = np.ascontiguousarray(words)
    missing = kernels.find(words, store.table, store.words, numbers)
    if missing >= 0:
        raise KeyError(int(words[missing]))
    return numbers


def _larger(array: np.ndarray, used: int, size: int) -> np.ndarray:
    copy = np.empty(size, array.dtype)
    copy[:used] = array[:used]
    return copy
