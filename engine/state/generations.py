"""Generations of a dictionary's entries: the current one, and retired ones that somebody still holds.

Whoever holds a generation holds all later ones too (`Entries.successor`). Retired generations are known by
weak references: they go when the last holder goes. What changes anything is called under the dictionary's
lock.
"""

from __future__ import annotations

import weakref

import numpy as np

from engine.state.entries import Entries, ExceptionalWord


class Generations:
    """`current` is the newest generation. As long as somebody has it, its words and those of later ones can
    be found."""

    def __init__(self) -> None:
        self.current = Entries()
        self._retired: tuple[weakref.ref[Entries], ...] = ()

    @property
    def are_held(self) -> bool:
        """Whether somebody may hold a retired generation."""
        return bool(self._retired)

    @property
    def bytes(self) -> int:
        """The size of all generations."""
        return self.current.bytes + sum(entries.bytes for entries in self._held())

    def retire(self, new: Entries, exceptions: dict[str, ExceptionalWord]) -> None:
        """Put a new generation in the place of the current one, whose exceptions are given."""
        old = self.current
        old.exceptions = exceptions
        old.successor = new
        self._retired = (*self._retired, weakref.ref(old))
        self.current = new

    def bring_back(self, words: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
        """Make entries of those words that only retired generations have, and of the exceptions whose hashes
        of round 0 are among the words; returns the words, and the exceptions among them."""
        held = self._held()
        if len(held) < len(self._retired):
            self._retired = tuple(map(weakref.ref, reversed(held)))
        back = np.empty(0, np.int64)
        exceptions: dict[str, int] = {}
        for old in held:
            asked = np.append(words, _words_by_hash(old.exceptions, words)) if old.exceptions else words
            numbers = old.known(asked[self.current.known(asked) < 0])
            numbers = np.unique(numbers[numbers >= 0])
            if numbers.size:
                self.current.take(old, numbers)
                found = old.words(numbers)
                back = np.concatenate((back, found))
                known = set(found.tolist())
                exceptions |= {text: e.word for text, e in old.exceptions.items() if e.word in known}
        return back, exceptions

    def _held(self) -> list[Entries]:
        """The retired generations that somebody still holds, the newest first."""
        return [entries for ref in reversed(self._retired) if (entries := ref()) is not None]


def _words_by_hash(exceptions: dict[str, ExceptionalWord], hashes: np.ndarray) -> np.ndarray:
    """The words of the exceptions whose hashes of round 0 are among `hashes`."""
    asked = set(hashes.tolist())
    return np.array(
        [exception.word for exception in exceptions.values() if exception.hash in asked], np.int64
    )
