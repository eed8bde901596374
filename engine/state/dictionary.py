"""The dictionary: texts as 64-bit words, by content.

A text's word is the hash of its UTF-8 bytes, so every process gives a text the same word without asking
another. The hash is never trusted as identity: bytes are compared, and a text whose word is taken by other
bytes gets its hash of the next round. Such texts are the *exceptions*, which are stored separately and looked
up first. The first of two colliding texts keeps the word, so a log carries its entries (`entries`), and
reading it again (`absorb`) restores the exact words.

Entries (`engine.state.entries`) are appended. One writer at a time holds the lock; readers take none.

Texts that nothing refers to any more go in a collection (`engine.state.collecting`), which puts a new
generation of entries in the place of the old one. Whoever keeps words outside the engine's traces holds the
generation that he began with (`hold`), and so all later ones. As long as somebody holds a generation that was
retired, its words keep their meaning: a text of it that is asked for, or a new text with the same hash,
brings the entry back. So a text has one word at a time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import inf

import numpy as np
import pyarrow as pa

from engine.errors import EngineError
from engine.kernels.hashing import hash_texts
from engine.kernels.words import NULL
from engine.state.buffers import as_arrow, buffers, buffers_of, text_at
from engine.state.collecting import TextCollection
from engine.state.entries import Entries, ExceptionalWord, Segments, Store
from engine.state.generations import Generations
from engine.state.text_constants import Constants, ConstantsInUse

Hash = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Offsets int64[n + 1], bytes uint8[...] and a round → hashes int64[n]."""

_FEW = 16  # up to this many texts, the cache is faster than Arrow
WORTH = 1 << 14
"""With fewer new entries than this, a collection does not pay."""
ROWS_A_TEXT = 16
"""A collection may look at this many rows for each new entry."""


class Lease:
    """As long as it exists, no entry goes or gets another number."""


class Dictionary:
    """Interns texts as words, and finds the texts of words."""

    most_bytes: float = inf
    """So many bytes it may have; whoever makes texts for a dictionary with a limit makes few at first."""

    def __init__(self, hash: Hash = hash_texts) -> None:
        self._hash = hash
        self._lock = threading.Lock()
        self._generations = Generations()
        self._exceptions: dict[str, ExceptionalWord] = {}
        self._suspects = np.zeros(0, np.int64)  # the exceptions' hashes of round 0
        self._collection: TextCollection | None = None
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._constants = ConstantsInUse(self._lock)
        self._after_collection = 0
        self.version = 0
        """Changes when results that are remembered by their words must be forgotten."""

    @property
    def _entries(self) -> Entries:
        """The current generation."""
        return self._generations.current

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._entries)

    @property
    def store(self) -> Store:
        """The entries' arrays, for kernels. Numbers of entries change only in a collection."""
        return self._entries.store

    @property
    def exceptions(self) -> tuple[tuple[str, int], ...]:
        """The texts whose words are not their hashes of round 0, with their words."""
        return tuple((text, exception.word) for text, exception in self._exceptions.items())

    # Texts to words

    def word(self, text: str) -> int:
        """The word of `text`, which becomes an entry if it is new; InvalidValue if it is not Unicode."""
        entries = self._entries
        word = entries.word_of.get(text)
        if word is None:
            word = int(self._resolve(*buffers_of(text))[0])
            entries.remember(word, text)
        elif self._collection is not None or self._constants.is_compiling:
            with self._lock:
                self._note(np.array([word], np.int64))
        return word

    def word_if_known(self, text: str) -> int:
        """The word of `text` if it is an entry, and any word if it is not. It makes no entry."""
        exception = self._exceptions.get(text)
        return int(self._hash(*buffers_of(text), 0)[0]) if exception is None else exception.word

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
            self._bring_back(hashes)
            if self._suspects.size:
                hashes[np.isin(hashes, self._suspects)] = NULL
            words = self._entries.append(hashes, offsets, data)
            lost = words == NULL
            if valid is not None:
                lost &= valid
            for row in np.flatnonzero(lost).tolist():
                words[row] = self._exception(text_at(offsets, data, row))
            self._note(words)
        return words

    def _note(self, words: np.ndarray) -> None:
        """Keep words from a collection in progress and, while a program is compiled, as its constants. The
        caller holds the lock."""
        if self._collection is not None:
            self._collection.keep(words)
        self._constants.note(words)

    def _exception(self, text: str) -> int:
        """The word of a text that may not have its hash of round 0. The caller holds the lock."""
        known = self._exceptions.get(text)
        if known is not None:
            return known.word
        offsets, data = buffers_of(text)
        round = 0
        while (word := self._proposed(offsets, data, round)) == NULL:
            round += 1
        if round:
            self._except(text, word)
        return word

    def _proposed(self, offsets: np.ndarray, data: np.ndarray, round: int) -> int:
        """The word of a text if it is its hash of a round, else NULL."""
        hash = self._hash(offsets, data, round)
        self._bring_back(hash)
        return int(self._entries.append(hash, offsets, data)[0])

    def _except(self, text: str, word: int) -> None:
        hash = int(self._hash(*buffers_of(text), 0)[0])
        self._exceptions[text] = ExceptionalWord(word, hash)
        self._suspects = np.unique(np.append(self._suspects, hash))

    @property
    def is_settled(self) -> bool:
        """Whether `require` has nothing to do: no collection is in progress, and nobody holds an earlier
        generation."""
        return self._collection is None and not self._generations.are_held

    def require(self, words: np.ndarray) -> None:
        """Keep all `words` but NULL in a collection in progress, and bring back what earlier ones dropped.

        KeyError if no entry, and no generation that somebody holds, has one of them.
        """
        if self.is_settled:
            return
        words = np.ascontiguousarray(words)
        with self._lock:
            self._bring_back(words)
            if self._collection is not None:
                self._collection.keep(words)
            self._entries.numbers(words)

    # Words to texts

    def text(self, word: int) -> str:
        """The text of `word`; KeyError if no entry has it."""
        entries = self._entries
        text = entries.text_of.get(word)
        if text is None:
            if word == NULL:
                raise KeyError(word)
            text = entries.text(word)
            if text is None:
                text = self.array(np.array([word], np.int64))[0].as_py()
            entries.remember(word, text)
        return text

    def texts(self, words: np.ndarray) -> list[str | None]:
        """The texts of `words`, None for NULL; KeyError if no entry has one of them."""
        if words.size <= _FEW:
            return [None if w == NULL else self.text(w) for w in words.tolist()]
        return self.array(words).to_pylist()

    def array(self, words: np.ndarray) -> pa.LargeStringArray:
        """The texts of `words`, null for NULL; KeyError if no entry has one of them."""
        try:
            return self._entries.texts(words)
        except KeyError:
            return self._with(words).texts(words)

    # Order

    def compare(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """int64[n]: -1, 0 or 1 if the left text sorts before, the same as or after the right one, by bytes.

        NULL if either word is NULL. A side of one word stands for a column. KeyError if no entry has one of
        the words.
        """
        try:
            return self._entries.compare(left, right)
        except KeyError:
            return self._with(np.concatenate((left, right))).compare(left, right)

    # Segments

    def match(self, words: np.ndarray, segments: Segments, is_negated: bool, out: np.ndarray) -> None:
        """Write to `out` whether the texts of `words` begin with the first of at least two segments, end with
        the last, and have the others between these, one after the other: 1 or 0, or the other way around if
        `is_negated`; NULL for NULL. KeyError if no entry has one of the words.
        """
        try:
            self._entries.match(words, segments, is_negated, out)
        except KeyError:
            self._with(words).match(words, segments, is_negated, out)

    # Entry numbers, which mean nothing to other dictionaries

    def entry_words(self, numbers: np.ndarray) -> np.ndarray:
        """The words of the entries with these numbers, NULL for -1."""
        return self._entries.words(numbers)

    def entry_numbers(self, words: np.ndarray) -> np.ndarray:
        """The entry numbers of `words`, -1 for NULL; KeyError if no entry has one of them."""
        try:
            return self._entries.numbers(words)
        except KeyError:
            return self._with(words).numbers(words)

    def slice(self, first: int, last: int) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The words and texts of the entries numbered from `first` up to `last`."""
        return self._entries.slice(first, last)

    # Other dictionaries that borrow from this one

    def beneath(self, words: np.ndarray) -> tuple[Entries, np.ndarray]:
        """A generation, and the numbers of its entries that have one of the words."""
        with self._lock:
            self._bring_back(words)
            entries = self._entries
        numbers = entries.known(words)
        return entries, numbers[numbers >= 0]

    def _take_exceptions(self, other: Dictionary) -> None:
        """Know the exceptions of another dictionary."""
        with other._lock:
            self._exceptions = dict(other._exceptions)
            self._suspects = other._suspects

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
            self._bring_back(hashes)
            for row in np.flatnonzero((words != hashes) | np.isin(hashes, self._suspects)).tolist():
                self._absorb_exception(text_at(offsets, data, row), int(words[row]), int(hashes[row]))
            self._bring_back(words)
            got = self._entries.append(np.ascontiguousarray(words), offsets, data)
            self._note(words)
        wrong = np.flatnonzero(got != words).tolist()
        if wrong:
            raise _conflict(text_at(offsets, data, wrong[0]), int(words[wrong[0]]))

    def _absorb_exception(self, text: str, word: int, hash: int) -> None:
        """Note that `text` has another word than its `hash` of round 0, unless it has an entry already."""
        exception = self._exceptions.get(text)
        known = None if exception is None else exception.word
        if known is None and self._holds(hash, text):
            known = hash
        if known is None and word != hash:
            self._except(text, word)
        elif known not in (None, word):
            raise _conflict(text, word)

    def _holds(self, word: int, text: str) -> bool:
        """Whether `word` is the word of `text`. The caller holds the lock."""
        one = np.array([word], np.int64)
        self._bring_back(one)
        numbers = self._entries.known(one)
        return bool(word != NULL and numbers[0] >= 0 and self._entries.texts_at(numbers)[0].as_py() == text)

    # Collections

    def hold(self) -> object:
        """As long as somebody has this object, all words that are entries now, or come to be, keep their
        meaning."""
        return self._generations.current

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Within this context, all words that are entries now, or come to be, keep their meaning."""
        held = self.hold()
        yield
        del held

    def lease(self) -> Lease:
        """As long as somebody has this object, no entry goes or gets another number."""
        lease = Lease()
        with self._lock:
            self._leases.add(lease)
        return lease

    def compiling(self) -> AbstractContextManager[Constants]:
        """Within this context, the words that this thread interns are constants: they stay as long as the
        object."""
        return self._constants.compiling()

    @property
    def bytes(self) -> int:
        """The size of the entries, with those that were retired and are still held."""
        return self._generations.bytes

    def collection(self, rows: int) -> TextCollection | None:
        """Begin a collection, which looks at `rows` rows; None if it does not pay yet, or cannot be now."""
        new = len(self) - self._after_collection
        if new < max(WORTH, self._after_collection, rows // ROWS_A_TEXT):
            return None
        with self._lock:
            if self._leases:
                return None
            self.version += 1
            self._collection = TextCollection(self._entries, self._constants.words)
            return self._collection

    def abandon(self, collection: TextCollection) -> None:
        """Give up a collection."""
        if self._collection is collection:
            self._collection = None

    def switch(self, collection: TextCollection) -> np.ndarray | None:
        """Put the entries that stay in the place of all; returns their new numbers by the old ones, -1 for
        those that go. None, and nothing changes, if the collection was given up or there is a lease.
        """
        with self._lock:
            if self._collection is not collection or self._leases:
                self.abandon(collection)
                return None
            new, numbers = collection.finish()
            self._generations.retire(new, self._exceptions)
            live = {text: known for text, known in self._exceptions.items() if _has(new, known.word)}
            self._exceptions = live
            self._suspects = np.unique(np.array([known.hash for known in live.values()], np.int64))
            self._collection = None
            self._after_collection = len(new)
            self.version += 1
        return numbers

    def _with(self, words: np.ndarray) -> Entries:
        """The current generation, with the entries of words that a collection dropped."""
        with self._lock:
            self._bring_back(words)
            return self._entries

    def _bring_back(self, words: np.ndarray) -> None:
        """Make entries of those words that only retired generations have. The caller holds the lock."""
        if not self._generations.are_held:
            return
        back, exceptions = self._generations.bring_back(words)
        if back.size:
            self._note(back)
        for text, word in exceptions.items():
            self._except(text, word)


def _has(entries: Entries, word: int) -> bool:
    return bool(entries.known(np.array([word], np.int64))[0] >= 0)


def _conflict(text: str, word: int) -> EngineError:
    return EngineError(
        f"the dictionary cannot map {text!r} to word {word}: the text or the word has another entry"
    )
