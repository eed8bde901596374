"""Errors as data: the rows that could not be computed, as a collection of messages.

A message appears with the row that causes it and is gone when the row goes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.dictionary import Dictionary
from engine.kernels.arrange import arrange
from engine.operators.operator import Step
from engine.times import Frontier
from engine.trace import Trace

_ORDER = np.array([0, 1], np.int64)
_NO_ROUNDS = np.empty(0, np.int64)


class FailureLog:
    """A trace of message words, with the epochs at which they came and went.

    `readers` are the views that show these errors.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.trace = Trace(1)
        self.touched = False
        self.readers: set[str] = set()
        self._dictionary = dictionary
        self._fresh: list[np.ndarray] = []

    def add(self, messages: Sequence[str], times: np.ndarray, step: Step) -> None:
        """`times` is int64[2, k], the epoch and the diff of each message's row."""
        words = np.array([self._dictionary.word(message) for message in messages], np.int64)
        self._fresh.append(np.vstack((words, times)))
        step.touch(self)

    def publish(self, frontier: Frontier) -> None:
        delta = np.ascontiguousarray(np.concatenate(self._fresh, axis=1))
        self.trace.insert(arrange(delta, _ORDER, _NO_ROUNDS))
        self.reset()

    def abort(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Take the trace as it is, with nothing of an advance beside it."""
        self._fresh.clear()
        self.touched = False
