"""Collecting texts: the entries that nothing refers to any more go, and the others get new numbers.

  begin     on the writer's thread, at a capture: the entries that exist then are candidates
  mark      on any thread: the words of the captured rows; whatever equals a word of an entry keeps it
  copy      on any thread: the marked entries, as a generation of their own, which is written to a file
  switch    on the writer's thread: entries that came or were asked for since the capture join the copy,
            and the copy takes the dictionary's place

Rows that came after the capture cannot refer to a dropped text: the engine asks for the texts of all changes
that it takes (`Dictionary.require`), results that were remembered before are forgotten at the capture, and a
text that is interned counts as asked for.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.state.entries import Entries

CHUNK = 1 << 16
"""Rows that are marked at a time."""
PARTS = 1 << 12
"""Arrays of words that are kept before they become one."""


class TextCollection:
    """A collection in progress, of the entries that `entries` had when it began."""

    def __init__(self, entries: Entries, constants: np.ndarray) -> None:
        """`constants` are words that stay in any case."""
        self.entries = entries
        self._asked = [constants]
        self._parts = 1
        self._count = len(entries)
        self._marks = np.zeros(self._count, np.bool_)
        self._kept = np.empty(0, np.int64)
        self._copy = Entries()

    def keep(self, words: np.ndarray) -> None:
        """Keep words that were interned or asked for since it began. The caller holds the dictionary's
        lock."""
        self._asked.append(words.copy())
        if len(self._asked) >= 2 * self._parts + PARTS:
            whole = np.unique(np.concatenate(self._asked))
            self._asked = np.array_split(whole, 1 + len(whole) // CHUNK)
            self._parts = len(self._asked)

    def mark(self, words: np.ndarray) -> None:
        """Keep the entries of words int64[n, W], of which some may be no texts."""
        for start in range(0, len(words), CHUNK):
            for column in words[start : start + CHUNK].T:
                numbers = self.entries.known(column)
                numbers = numbers[(numbers >= 0) & (numbers < self._count)]
                self._marks[numbers] = True

    def copy(self) -> int:
        """Copy the marked entries; returns their number."""
        self._kept = np.flatnonzero(self._marks)
        self._copy.take(self.entries, self._kept)
        return len(self._kept)

    def texts(self) -> tuple[np.ndarray, pa.LargeStringArray]:
        """The words and texts of the copied entries."""
        return self._copy.slice(0, len(self._kept))

    def finish(self) -> tuple[Entries, np.ndarray]:
        """The entries that stay, and their new numbers by the old ones, -1 for those that go.

        The caller holds the dictionary's lock.
        """
        asked = self.entries.known(np.concatenate(self._asked))
        is_late = np.zeros(len(self.entries), np.bool_)
        is_late[self._count :] = True
        is_late[asked[asked >= 0]] = True
        is_late[self._kept] = False
        late = np.flatnonzero(is_late)
        self._copy.take(self.entries, late)
        numbers = np.full(len(self.entries), -1, np.int64)
        numbers[self._kept] = np.arange(len(self._kept))
        numbers[late] = len(self._kept) + np.arange(len(late))
        return self._copy, numbers
