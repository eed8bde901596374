"""Constants: the words that compiled programs refer to, which keep their texts as long as the programs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class Constants:
    """The constants of one program."""

    def __init__(self) -> None:
        self.words: list[np.ndarray] = []


class ConstantsInUse:
    """The constants of all programs of a dictionary. Call it under the dictionary's lock, except
    `compiling`."""

    def __init__(self, lock: threading.Lock) -> None:
        """`lock` is the dictionary's."""
        self._lock = lock
        self._all: weakref.WeakSet[Constants] = weakref.WeakSet()
        self._local = threading.local()

    @contextmanager
    def compiling(self) -> Iterator[Constants]:
        """Within this context, words that this thread notes are constants of the object, and of the one of an
        outer context."""
        outer, constants = self._compiled, Constants()
        with self._lock:
            self._all.add(constants)
        self._local.constants = constants
        try:
            yield constants
        finally:
            self._local.constants = outer
            if outer is not None:
                outer.words += constants.words

    @property
    def is_compiling(self) -> bool:
        """Whether this thread compiles a program."""
        return self._compiled is not None

    def note(self, words: np.ndarray) -> None:
        """Make words constants if this thread compiles a program."""
        if self._compiled is not None:
            self._compiled.words.append(words.copy())

    @property
    def words(self) -> np.ndarray:
        """The constants of all programs."""
        words = [some for constants in self._all for some in constants.words]
        return np.concatenate([np.empty(0, np.int64), *words])

    @property
    def _compiled(self) -> Constants | None:
        return getattr(self._local, "constants", None)
