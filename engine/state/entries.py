"""Entries: the words and texts of a dictionary, numbered in order of arrival, and found by their words.

They are stored in Arrow's layout: bytes end to end in an arena, offsets, and a hash table of entry numbers;
about 40 bytes an entry plus its text. Entries are only ever appended. One writer at a time; readers need no
lock, and see the entries that existed when they began. A collection (`engine.state.collecting`) replaces them
as a whole by a new generation; readers may keep the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from engine.kernels import texts as kernels
from engine.kernels.segments import match
from engine.kernels.words import NULL
from engine.state.buffers import buffers

Segments = Sequence[bytes]
"""What texts consist of, in this order, with any bytes between them (`engine.kernels.segments`)."""

CACHED = 1 << 17
"""Texts in each of the caches of single texts; full, they take some 30 MB."""


class Store(NamedTuple):
    """The arrays of `engine.kernels.texts`; a full one is replaced by a larger copy."""

    table: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    arena: np.ndarray


class ExceptionalWord(NamedTuple):
    """The word of a text that is not the text's hash of round 0, and that hash."""

    word: int
    hash: int


class Entries:
    """One generation of a dictionary's entries."""

    def __init__(self) -> None:
        self.word_of: dict[str, int] = {}
        """Words of single texts, a bounded cache."""
        self.text_of: dict[int, str] = {}
        """Texts of single words, a bounded cache."""
        self.exceptions: dict[str, ExceptionalWord] = {}
        """The texts whose words are not their hashes of round 0, once the generation is retired."""
        self.successor: Entries | None = None
        """The next generation: whoever holds this one holds all later ones."""
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

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.store)

    def remember(self, word: int, text: str) -> None:
        """Put a text and its word into the caches."""
        if len(self.word_of) >= CACHED:
            self.word_of = {}
        if len(self.text_of) >= CACHED:
            self.text_of = {}
        self.word_of[text] = word
        self.text_of[word] = text

    def known(self, words: np.ndarray) -> np.ndarray:
        """The numbers int64[n] of the entries of `words`, -1 where no entry has the word."""
        numbers = np.empty(words.size, np.int64)
        store = self.store
        kernels.find_known(words, store.table, store.words, numbers)
        return numbers

    def take(self, other: Entries, numbers: np.ndarray) -> None:
        """Append the entries of another generation with these numbers, in this order."""
        for start in range(0, len(numbers), CACHED):
            some = numbers[start : start + CACHED]
            self.append(other.store.words[some], *buffers(other.texts_at(some)))

    def texts(self, words: np.ndarray) -> pa.LargeStringArray:
        """The texts of `words`, null for NULL; KeyError if no entry has one of them."""
        store = self.store
        return self.texts_at(_find(words, store), store)

    def text(self, word: int) -> str | None:
        """The text of `word`; None if no entry has it. The short way for one text."""
        store = self.store
        start, stop = kernels.place_of(word, store.table, store.words, store.ends)
        return None if start < 0 else store.arena[start:stop].tobytes().decode()

    def texts_at(self, numbers: np.ndarray, store: Store | None = None) -> pa.LargeStringArray:
        """The texts of the entries with these numbers, null for -1."""
        if numbers.size == 0:
            return pa.array([], pa.large_string())
        store = store or self.store
        offsets = np.empty(numbers.size + 1, np.int64)
        kernels.measure(numbers, store.ends, offsets)
        data = np.empty(int(offsets[-1]), np.uint8)
        kernels.gather(numbers, store.ends, store.arena, offsets, data)
        validity = None
        if numbers.min() < 0:
            validity = pa.array(numbers >= 0).buffers()[1]
        parts = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), numbers.size, parts)

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

    def match(self, words: np.ndarray, segments: Segments, is_negated: bool, out: np.ndarray) -> None:
        """Whether the texts of `words` consist of segments: 1 or 0 into `out`, or the other way around if
        `is_negated`; NULL for NULL. KeyError if no entry has one of the words."""
        store = self.store
        cuts = np.cumsum([0, *map(len, segments)])
        data = np.frombuffer(b"".join(segments), np.uint8)
        match(_find(words, store), store.ends, store.arena, data, cuts, int(is_negated), out)

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
        parts = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return words[first:last], pa.Array.from_buffers(pa.large_string(), last - first, parts)


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
