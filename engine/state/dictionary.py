"""The dictionary: texts as 64-bit words, by content.

A text's word is the hash of its UTF-8 bytes, so every process gives a text the same word without asking
another. The hash is never trusted as identity: bytes are compared, and a text whose word is taken by other
bytes gets its hash of the next round. Such texts are the *exceptions*, which are stored separately and looked
up first. The first of two colliding texts keeps the word, so a log carries its entries (`entries`), and
reading it again (`absorb`) restores the exact words.

Entries (`engine.state.entries`) are only ever appended. One writer at a time holds the lock; readers take
none. Bounded caches in front of them serve single texts.

The dictionary does not count references: a text stays as long as the dictionary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from engine.errors import EngineError
from engine.kernels.hashing import hash_texts
from engine.kernels.words import NULL
from engine.state.buffers import as_arrow, buffers, buffers_of, text_at
from engine.state.entries import Entries, Store

Hash = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Offsets int64[n + 1], bytes uint8[...] and a round → hashes int64[n]."""

_CACHED = 1 << 17  # texts in each of the caches of single texts; full, they take some 30 MB
_FEW = 16  # up to this many texts, the cache is faster than Arrow


class Dictionary:
    """Interns texts as words, and finds the texts of words."""

    def __init__(self, hash: Hash = hash_texts) -> None:
        self._hash = hash
        self._lock = threading.Lock()
        self._entries = Entries()
        self._exceptions: dict[str, int] = {}
        self._suspects = np.zeros(0, np.int64)  # the exceptions' hashes of round 0
        self._word_of: dict[str, int] = {}
        self._text_of: dict[int, str] = {}

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._entries)

    @property
    def store(self) -> Store:
        """The entries' arrays, for kernels. Entries are numbered in order of arrival and never move."""
        return self._entries.store

    @property
    def exceptions(self) -> tuple[tuple[str, int], ...]:
        """The texts whose words are not their hashes of round 0, with their words."""
        return tuple(self._exceptions.items())

    # Texts to words

    def word(self, text: str) -> int:
        """The word of `text`, which becomes an entry if it is new; InvalidValue if it is not Unicode."""
        word = self._word_of.get(text)
        if word is None:
            word = int(self._resolve(*buffers_of(text))[0])
            self._remember(word, text)
        return word

    def word_if_known(self, text: str) -> int:
        """The word of `text` if it is an entry, and any word if it is not. It makes no entry."""
        word = self._exceptions.get(text)
        return int(self._hash(*buffers_of(text), 0)[0]) if word is None else word

    def intern(self, texts: pa.Array | pa.ChunkedArray | Sequence[str | None]) -> np.ndarray:
        """The words int64[n] of `texts`, NULL for None; new texts become entries."""
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        if not isinstance(texts, pa.Array):
            if len(texts) <= _FEW:
                return np.array([NULL if text is None else self.word(text) for text in texts], np.int64)
            texts = as_arrow(texts)
        if pa.types.is_dictionary(texts.type):
            words = np.append(self.intern(texts.dictionary), NULL)
            return words[texts.indices.cast(pa.int64()).fill_null(-1).to_numpy()]
        valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
        return self._resolve(*buffers(texts), valid)

    def _resolve(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray | None = None) -> np.ndarray:
        """The words of the texts `data[offsets[i]:offsets[i + 1]]`, NULL where not `valid`."""
        hashes = self._hash(offsets, data, 0)
        if valid is not None:
            hashes[~valid] = NULL
        with self._lock:
            if self._suspects.size:
                hashes[np.isin(hashes, self._suspects)] = NULL
            words = self._entries.append(hashes, offsets, data)
            lost = words == NULL
            if valid is not None:
                lost &= valid
            for row in np.flatnonzero(lost).tolist():
                words[row] = self._exception(text_at(offsets, data, row))
        return words

    def _exception(self, text: str) -> int:
        """The word of a text that may not have its hash of round 0. The caller holds the lock."""
        known = self._exceptions.get(text)
        if known is not None:
            return known
        offsets, data = buffers_of(text)
        round = 0
        while (word := int(self._entries.append(self._hash(offsets, data, round), offsets, data)[0])) == NULL:
            round += 1
        if round:
            self._except(text, word)
        return word

    def _except(self, text: str, word: int) -> None:
        self._exceptions[text] = word
        self._suspects = np.unique(np.append(self._suspects, self._hash(*buffers_of(text), 0)))

    def _remember(self, word: int, text: str) -> None:
        if len(self._word_of) >= _CACHED:
            self._word_of = {}
        if len(self._text_of) >= _CACHED:
            self._text_of = {}
        self._word_of[text] = word
        self._text_of[word] = text

    def require(self, words: np.ndarray) -> None:
        """Make entries of all `words` but NULL. This dictionary has them all; a task's may read files."""

    # Words to texts

    def text(self, word: int) -> str:
        """The text of `word`; KeyError if no entry has it."""
        text = self._text_of.get(word)
        if text is None:
            if word == NULL:
                raise KeyError(word)
            text = self.array(np.array([word], np.int64))[0].as_py()
            self._remember(word, text)
        return text

    def texts(self, words: np.ndarray) -> list[str | None]:
        """The texts of `words`, None for NULL; KeyError if no entry has one of them."""
        if words.size <= _FEW:
            return [None if w == NULL else self.text(w) for w in words.tolist()]
        return self.array(words).to_pylist()

    def array(self, words: np.ndarray) -> pa.LargeStringArray:
        """The texts of `words`, null for NULL; KeyError if no entry has one of them."""
        return self._entries.texts(words)

    # Order

    def compare(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64[n]: -1, 0 or 1 if the left text sorts before, the same as or after the right one, by bytes.

        NULL if either word is NULL. A side of one word stands for a column. KeyError if no entry has one of
        the words.
        """
        return self._entries.compare(left, right)

    # Entry numbers, which mean nothing to other dictionaries

    def entry_words(self, numbers: np.ndarray) -> np.ndarray:
        """The words of the entries with these numbers, NULL for -1."""
        return self._entries.words(numbers)

    def entry_numbers(self, words: np.ndarray) -> np.ndarray:
        """The entry numbers of `words`, -1 for NULL; KeyError if no entry has one of them."""
        return self._entries.numbers(words)

    def slice(self, first: int, last: int) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The words and texts of the entries numbered from `first` up to `last`."""
        return self._entries.slice(first, last)

    # Entries, for logs and checkpoints

    def entries(self, words: np.ndarray) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The distinct words of `words`, ascending and without NULL, and their texts."""
        distinct = np.unique(words)
        distinct = distinct[distinct != NULL]
        return distinct, self.array(distinct)

    def absorb(self, words: np.ndarray, texts: pa.Array | Sequence[str]) -> None:
        """Make entries of words and their texts, as `entries` returned them.

        Pairs that exist already are skipped. Raises EngineError if a pair contradicts an entry; any of the
        other pairs may have become entries by then.
        """
        offsets, data = buffers(texts if isinstance(texts, pa.Array) else as_arrow(texts))
        hashes = self._hash(offsets, data, 0)
        with self._lock:
            for row in np.flatnonzero((words != hashes) | np.isin(hashes, self._suspects)).tolist():
                self._absorb_exception(text_at(offsets, data, row), int(words[row]), int(hashes[row]))
            got = self._entries.append(np.ascontiguousarray(words), offsets, data)
        wrong = np.flatnonzero(got != words).tolist()
        if wrong:
            raise _conflict(text_at(offsets, data, wrong[0]), int(words[wrong[0]]))

    def _absorb_exception(self, text: str, word: int, hash: int) -> None:
        """Note that `text` has another word than its `hash` of round 0, unless it has an entry already."""
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


def _conflict(text: str, word: int) -> EngineError:
    return EngineError(
        f"the dictionary cannot map {text!r} to word {word}: the text or the word has another entry"
    )
