"""A dictionary over another one, for a trial: it borrows the texts that it is asked for, and keeps its own.

Words are hashes of contents, so a text has the same word in both: before a text gets a word here, the entry
that the base has for its hash is copied, so that collisions are found as the base would find them. Nothing
that a trial makes reaches the base. The bytes of both kinds of texts are limited.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.errors import OverBudget
from engine.state.dictionary import Dictionary

_ENTRY = 40
"""Bytes that an entry takes besides its text."""


class TrialDictionary(Dictionary):
    """Borrows from `base`, whose words must keep their meaning meanwhile. It may have `most` bytes; `check`
    may end what interns texts, by an exception."""

    def __init__(self, base: Dictionary, most: float, check: Callable[[], None]) -> None:
        super().__init__(base._hash)
        self._base = base
        self._check = check
        self.most_bytes = most
        self._borrowed = 0
        self._take_exceptions(base)

    @property
    def made(self) -> int:
        """The bytes of texts that are new here, with their entries."""
        return self._size - self._borrowed

    @property
    def _size(self) -> int:
        count = len(self)
        return int(self.store.ends[count]) + _ENTRY * count

    def require(self, words: np.ndarray) -> None:
        words = np.ascontiguousarray(words)
        self._with(words).numbers(words)

    def _resolve(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray | None = None) -> np.ndarray:
        self._check()
        self._allow(int(offsets[-1] - offsets[0]))
        words = super()._resolve(offsets, data, valid)
        self._allow(0)
        return words

    def _bring_back(self, words: np.ndarray) -> None:
        missing = np.unique(words[self._entries.known(words) < 0])
        if missing.size:
            base, numbers = self._base.beneath(missing)
            ends, before = base.store.ends, self._size
            self._allow(int((ends[numbers + 1] - ends[numbers]).sum()))
            self._entries.take(base, numbers)
            self._borrowed += self._size - before

    def _allow(self, more: int) -> None:
        """Raises OverBudget if it may not have so many more bytes."""
        if self._size + more > self.most_bytes:
            raise OverBudget(f"the texts of a trial take more than {self.most_bytes} bytes")
