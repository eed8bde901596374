"""The dictionary: texts as 64-bit words, by content.

A text's word is the hash of its UTF-8 bytes, so that every process gives a text the
same word without asking. The hash is never trusted as identity: bytes are compared,
and a text whose word is taken by other bytes takes the hash of the next round. Such
texts are the exceptions, remembered apart and consulted before anything else. Which
of two colliding texts came first decides, so a log carries its entries (`entries`), and
reading it again (`absorb`) restores the exact words.

Entries are kept as Arrow lays texts out: bytes end to end in an arena, offsets, and a
hash table of entry numbers, about 40 bytes a text beside its own. Entries are only
ever appended. One writer at a time holds the lock; readers take none. Bounded caches in
front of the arena serve single texts.

It does not count references: a text stays until the dictionary goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from engine.errors import EngineError, InvalidValue
from engine.kernels import texts as kernels
from engine.kernels.hashing import hash_texts
from engine.schema import NULL

Hash = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Offsets int64[n + 1], bytes uint8[...] and a round → hashes int64[n]."""

_CACHED = 1 << 17  # texts in each of the caches of single texts, some 30 MB when full
_FEW = 16  # up to so many texts, one by one through the cache beats Arrow
_NOTHING = np.zeros(0, np.uint8)


class Store(NamedTuple):
    """The arrays of `engine.kernels.texts`; a full one is replaced by a larger copy."""

    table: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    arena: np.ndarray


class Dictionary:
    def __init__(self, hash: Hash = hash_texts) -> None:
        self._hash = hash
        self._lock = threading.Lock()
        self._count = 0
        self._store = Store(
            table=np.zeros(1 << 11, np.uint32),
            words=np.empty(1 << 10, np.int64),
            ends=np.zeros((1 << 10) + 1, np.int64),
            arena=np.empty(1 << 14, np.uint8),
        )
        self._exceptions: dict[str, int] = {}
        self._suspects = np.zeros(0, np.int64)  # the round 0 hashes of the exceptions
        self._word_of: dict[str, int] = {}
        self._text_of: dict[int, str] = {}

    def __len__(self) -> int:
        """The number of entries."""
        return self._count

    @property
    def store(self) -> Store:
        """The entries' arrays, for kernels. Entries are numbered as they came and stay where they are."""
        return self._store

    @property
    def exceptions(self) -> tuple[tuple[str, int], ...]:
        """The texts that have not the word of their hash of round 0, and their words."""
        return tuple(self._exceptions.items())

    # Texts to words

    def word(self, text: str) -> int:
        """The word of `text`, which becomes an entry if it is none; InvalidValue if it is not Unicode."""
        word = self._word_of.get(text)
        if word is None:
            word = int(self._resolve(*_encode(text))[0])
            self._remember(word, text)
        return word

    def intern(self, texts: pa.Array | pa.ChunkedArray | Sequence[str | None]) -> np.ndarray:
        """The words int64[n] of `texts`, NULL for None; those that are no entries become entries."""
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        if not isinstance(texts, pa.Array):
            if len(texts) <= _FEW:
                return np.array([NULL if text is None else self.word(text) for text in texts], np.int64)
            texts = _arrow(texts)
        if pa.types.is_dictionary(texts.type):
            words = np.append(self.intern(texts.dictionary), NULL)
            return words[texts.indices.cast(pa.int64()).fill_null(-1).to_numpy()]
        valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
        return self._resolve(*_buffers(texts), valid)

    def _resolve(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray | None = None) -> np.ndarray:
        """The words of the texts `data[offsets[i]:offsets[i + 1]]`, NULL where not `valid`."""
        hashes = self._hash(offsets, data, 0)
        if valid is not None:
            hashes[~valid] = NULL
        with self._lock:
            if self._suspects.size:
                hashes[np.isin(hashes, self._suspects)] = NULL
            words = self._append(hashes, offsets, data)
            lost = words == NULL
            if valid is not None:
                lost &= valid
            for row in np.flatnonzero(lost).tolist():
                words[row] = self._exception(_slice(offsets, data, row))
        return words

    def _append(self, hashes: np.ndarray, offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
        """The words of the rows; NULL where the hash is NULL or other bytes have it. The lock is held."""
        count = hashes.size
        words = np.empty(count + 1, np.int64)
        row = 0
        while True:
            row = kernels.insert(hashes, offsets, data, row, self._count, *self._store, words)
            self._count = int(words[count])
            if row == count:
                return words[:count]
            self._grow(int(offsets[row + 1] - offsets[row]))

    def _grow(self, size: int) -> None:
        """Makes room for at least one more entry, of `size` bytes. Readers keep the arrays they have."""
        table, words, ends, arena = self._store
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
        self._store = Store(table, words, ends, arena)

    def _exception(self, text: str) -> int:
        """The word of a text that may not have its hash of round 0. The lock is held."""
        known = self._exceptions.get(text)
        if known is not None:
            return known
        offsets, data = _encode(text)
        round = 0
        while (word := int(self._append(self._hash(offsets, data, round), offsets, data)[0])) == NULL:
            round += 1
        if round:
            self._except(text, word)
        return word

    def _except(self, text: str, word: int) -> None:
        self._exceptions[text] = word
        self._suspects = np.unique(np.append(self._suspects, self._hash(*_encode(text), 0)))

    def _remember(self, word: int, text: str) -> None:
        if len(self._word_of) >= _CACHED:
            self._word_of = {}
        if len(self._text_of) >= _CACHED:
            self._text_of = {}
        self._word_of[text] = word
        self._text_of[word] = text

    def require(self, words: np.ndarray) -> None:
        """See to it that all `words` but NULL are entries' words: here, all that there are."""

    # Words to texts

    def text(self, word: int) -> str:
        """The text of `word`; KeyError when it is no entry's."""
        text = self._text_of.get(word)
        if text is None:
            if word == NULL:
                raise KeyError(word)
            text = self.array(np.array([word], np.int64))[0].as_py()
            self._remember(word, text)
        return text

    def texts(self, words: np.ndarray) -> list[str | None]:
        """The texts of `words`, None for NULL; KeyError when one is no entry's."""
        if words.size <= _FEW:
            return [None if w == NULL else self.text(w) for w in words.tolist()]
        return self.array(words).to_pylist()

    def array(self, words: np.ndarray) -> pa.LargeStringArray:
        """The texts of `words`, null for NULL; KeyError when one is no entry's."""
        if words.size == 0:
            return pa.array([], pa.large_string())
        store = self._store
        entries = self._find(words, store)
        offsets = np.empty(words.size + 1, np.int64)
        kernels.measure(entries, store.ends, offsets)
        data = np.empty(int(offsets[-1]), np.uint8)
        kernels.gather(entries, store.ends, store.arena, offsets, data)
        validity = None
        if entries.min() < 0:
            validity = pa.array(entries >= 0).buffers()[1]
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), words.size, buffers)

    def _find(self, words: np.ndarray, store: Store) -> np.ndarray:
        entries = np.empty(words.size, np.int64)
        words = np.ascontiguousarray(words)
        missing = kernels.find(words, store.table, store.words, entries)
        if missing >= 0:
            raise KeyError(int(words[missing]))
        return entries

    # Order

    def compare(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64[n]: -1, 0 or 1 as the left text is before, the same as or after the right one, by bytes.

        NULL where either is. A side of one word stands for a column. KeyError when a word is no entry's.
        """
        order = np.empty(max(left.size, right.size) if left.size and right.size else 0, np.int64)
        unknown = kernels.compare(left, right, *self._store, order)
        if unknown >= 0:
            raise KeyError(f"row {unknown}")
        return order

    # Entries by their numbers, which are this dictionary's own

    def words_at(self, places: np.ndarray) -> np.ndarray:
        """The words of the entries with these numbers, NULL for -1."""
        words = self._store.words[places]
        words[places < 0] = NULL
        return words

    def places(self, words: np.ndarray) -> np.ndarray:
        """The numbers of the entries of `words`, -1 for NULL; KeyError when one is no entry's."""
        return self._find(words, self._store)

    def slice(self, first: int, last: int) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The words and texts of the entries numbered from `first` up to `last`."""
        _, words, ends, arena = self._store
        offsets = ends[first : last + 1] - ends[first]
        data = arena[ends[first] : ends[last]]
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return words[first:last], pa.Array.from_buffers(pa.large_string(), last - first, buffers)

    # Entries, for logs and checkpoints

    def entries(self, words: np.ndarray) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The distinct words of `words`, ascending and without NULL, and their texts."""
        distinct = np.unique(words)
        distinct = distinct[distinct != NULL]
        return distinct, self.array(distinct)

    def absorb(self, words: np.ndarray, texts: pa.Array | Sequence[str]) -> None:
        """Makes entries of pairs of a word and its text, as `entries` gave them.

        Pairs that are there already are passed over. EngineError when a pair contradicts an entry; which
        of the other pairs are entries then is not said.
        """
        offsets, data = _buffers(texts if isinstance(texts, pa.Array) else _arrow(texts))
        hashes = self._hash(offsets, data, 0)
        with self._lock:
            for row in np.flatnonzero((words != hashes) | np.isin(hashes, self._suspects)).tolist():
                self._absorb_exception(_slice(offsets, data, row), int(words[row]), int(hashes[row]))
            got = self._append(np.ascontiguousarray(words), offsets, data)
        wrong = np.flatnonzero(got != words).tolist()
        if wrong:
            raise _conflict(_slice(offsets, data, wrong[0]), int(words[wrong[0]]))

    def _absorb_exception(self, text: str, word: int, hash: int) -> None:
        """Notes that `text` has another word than its `hash` of round 0, unless it has one already."""
        known = self._exceptions.get(text)
        if known is None and self._holds(hash, text):
            known = hash
        if known is None and word != hash:
            self._except(text, word)
        elif known not in (None, word):
            raise _conflict(text, word)

    def _holds(self, word: int, text: str) -> bool:
        """Whether `word` is the word of `text`."""
        try:
            return self.text(word) == text
        except KeyError:
            return False


def _larger(array: np.ndarray, used: int, size: int) -> np.ndarray:
    copy = np.empty(size, array.dtype)
    copy[:used] = array[:used]
    return copy


def _encode(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and bytes of one text."""
    try:
        data = np.frombuffer(text.encode(), np.uint8)
    except UnicodeEncodeError:
        raise InvalidValue(f"{text!r} is no Unicode text: it has a lone surrogate") from None
    return np.array([0, data.size], np.int64), data


def _slice(offsets: np.ndarray, data: np.ndarray, row: int) -> str:
    return data[offsets[row] : offsets[row + 1]].tobytes().decode()


def _arrow(texts: Sequence[str | None]) -> pa.LargeStringArray:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as error:
        raise InvalidValue(f"{error.object!r} is no Unicode text: it has a lone surrogate") from None


def _buffers(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Arrow's offsets, as int64[n + 1], and bytes."""
    width = np.dtype(np.int32 if pa.types.is_string(texts.type) else np.int64)
    if width == np.int64:
        texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    if len(texts) == 0:
        return np.zeros(1, np.int64), _NOTHING
    bounds = np.frombuffer(offsets, width, len(texts) + 1, texts.offset * width.itemsize)
    return bounds.astype(np.int64, copy=False), _NOTHING if data is None else np.frombuffer(data, np.uint8)


def _conflict(text: str, word: int) -> EngineError:
    return EngineError(f"the dictionary cannot take {text!r} as word {word}: one of them is taken")
