"""The dictionary of a task: it encodes texts on its own, and reads the state's texts only when it has to.

Texts that a task meets become entries of its own dictionary; new ones are written to a file when the task
ends. The texts of other words are read from the state's files, once a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory
from engine.state.store.files import TextFile


class KnownTexts:
    """The texts of the state's files, shared by all tasks of a process."""

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self._read: set[str] = set()

    def read(self, directory: StateDirectory, files: Iterable[TextFile]) -> None:
        """Add the texts of files that were not read yet."""
        for file in files:
            if file.name not in self._read:
                self.dictionary.absorb(*directory.read_texts(file))
                self._read.add(file.name)


class TaskDictionary(Dictionary):
    """A dictionary that reads missing texts from files, and tells new texts from known ones."""

    def __init__(
        self,
        known: KnownTexts,
        directory: StateDirectory,
        files: Iterable[TextFile],
        exceptions: Iterable[tuple[str, int]],
    ) -> None:
        super().__init__()
        self.files = list(files)
        self._known = known
        self._directory = directory
        self._learned: list[np.ndarray] = []
        exceptions = list(exceptions)
        if exceptions:
            texts, words = zip(*exceptions, strict=True)
            self._learn(np.array(words, np.int64), pa.array(texts, pa.large_string()))

    def require(self, words: np.ndarray) -> None:
        """Make entries of all `words` but NULL."""
        distinct = np.unique(words)
        own = self.store.words[: len(self)]
        missing = distinct[~np.isin(distinct, own) & (distinct != NULL)]
        if len(missing):
            self._known.read(self._directory, self.files)
            self._learn(missing, self._known.dictionary.array(missing))

    def array(self, words: np.ndarray) -> pa.LargeStringArray:
        try:
            return super().array(words)
        except KeyError:
            self.require(words)
            return super().array(words)

    def entry_numbers(self, words: np.ndarray) -> np.ndarray:
        self.require(words)
        return super().entry_numbers(words)

    def compare(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        try:
            return super().compare(left, right)
        except KeyError:
            self.require(np.concatenate((left, right)))
            return super().compare(left, right)

    @contextmanager
    def knowing(self) -> Iterator[None]:
        """Within this context, texts that become entries came with the specification, and are not new."""
        first = len(self)
        yield
        if len(self) > first:
            self._learned.append(self.store.words[first : len(self)].copy())

    def new(self) -> tuple[np.ndarray, pa.LargeStringArray] | None:
        """Words and texts of the entries that the task added; None if there are none."""
        words = self.store.words[: len(self)]
        if self._learned:
            words = words[~np.isin(words, np.concatenate(self._learned))]
        return (words.copy(), self.array(words)) if len(words) else None

    def _learn(self, words: np.ndarray, texts: pa.Array) -> None:
        self.absorb(words, texts)
        self._learned.append(words)
