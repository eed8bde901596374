"""Errors as data: a collection of the messages of rows that could not be computed.

A message appears with the row that causes it, and disappears with that row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.arrange import arrange
from engine.kernels.magnitudes import mass
from engine.operators.history import History
from engine.operators.operator import NO_ROUNDS, Operator, Step
from engine.state.dictionary import Dictionary
from engine.state.layer import Layer


class FailureLog(History):
    """A history of message words, whose differences come one by one.

    `readers` are the views that show these errors.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__("", Operator([]), (0,), 1)
        self.readers: set[str] = set()
        self.dictionary = dictionary

    def add(self, messages: Sequence[str], times: np.ndarray, step: Step) -> None:
        """Add messages; `times` int64[2, k] has the epoch and the diff of each message's row."""
        words = np.array([self.dictionary.word(message) for message in messages], np.int64)
        delta = np.ascontiguousarray(np.vstack((words, times)))
        self.end_step()
        self.take(arrange(delta, self.order, NO_ROUNDS), step, mass(delta[-1]))

    def marked(self) -> tuple[Layer, ...]:
        """What the advance has added so far, for `withdraw`."""
        self.end_step()
        return tuple(self._fresh)

    def withdraw(self, mark: tuple[Layer, ...]) -> None:
        """Drop what was added after the mark."""
        self.batch = None
        self._fresh[:] = mark
        for line, layer in enumerate(mark, self.trace.count):
            self._register(line, layer)
