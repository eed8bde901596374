"""The dictionary of a task: it encodes texts on its own, and reads the state's texts only when it has to.

Texts that a task meets become entries of its own dictionary; new ones are written to a file when the task
ends. The texts of other words are read from the state's files, once a process: few tasks look at texts, and
to read them all may take longer than the rest of a task.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary
from engine.state.entries import Entries
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
        known: KnownTexts | None,
        directory: StateDirectory,
        files: Iterable[TextFile],
        exceptions: Iterable[tuple[str, int]],
    ) -> None:
        """`known` has what the process's tasks have read. A task that is alone has None, and takes all texts
        of the files at once."""
        super().__init__()
        self.files = list(files)
        self._known = known
        self._directory = directory
        self._reading = threading.Lock()
        self._learned: list[np.ndarray] = []
        exceptions = list(exceptions)
        if exceptions:
            texts, words = zip(*exceptions, strict=True)
            self._learn(np.array(words, np.int64), pa.array(texts, pa.large_string()))

    def require(self, words: np.ndarray) -> None:
        """Make entries of all `words` but NULL. KeyError if no file has one of them."""
        if not len(self._missing(words)):
            return
        with self._reading:
            missing = self._missing(words)  # another thread may have read them meanwhile
            if len(missing) and self._known is None:
                files, self.files = self.files, []
                for file in files:
                    self._learn(*self._directory.read_texts(file))
                self._entries.numbers(missing)
            elif self._known is not None:
                self._known.read(self._directory, self.files)
                self._learn(missing, self._known.dictionary.array(missing))

    def _missing(self, words: np.ndarray) -> np.ndarray:
        """The distinct words that are not entries."""
        missing = words[self._entries.known(words) < 0]
        return np.unique(missing[missing != NULL])

    def _with(self, words: np.ndarray) -> Entries:
        self.require(words)
        return self._entries

    @contextmanager
    def knowing(self) -> Iterator[None]:
        """Within this context, texts that become entries came with the specification, and are not new."""
        first = len(self)
        yield
        if len(self) > first:
            self._learned.append(self.store.words[first : len(self)].copy())

    def new(self) -> tuple[np.ndarray, pa.LargeStringArray] | None:
        """Words and texts of the entries that the task added; None if there are none."""
        is_new = np.ones(len(self), np.bool_)
        for learned in self._learned:
            is_new[self._entries.known(learned)] = False
        words = self.store.words[: len(self)][is_new]
        return (words, self.array(words)) if len(words) else None

    def _learn(self, words: np.ndarray, texts: pa.Array) -> None:
        self.absorb(words, texts)
        self._learned.append(words)
