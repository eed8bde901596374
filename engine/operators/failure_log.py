"""Errors as data: a collection of the messages of rows that could not be computed.

A message appears with the row that causes it, and disappears with that row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.kernels.arrange import arrange
from engine.operators.operator import NO_ROUNDS, Step
from engine.state.dictionary import Dictionary
from engine.state.layer import Layer
from engine.state.packed_times import Frontier
from engine.state.trace import Trace

_ORDER = np.array([0, 1], np.int64)


class FailureLog:
    """A trace of message words, with the epochs at which they came and went.

    `readers` are the views that show these errors.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.trace = Trace(1)
        """The published messages."""
        self.touched = False
        """Whether the advance has changes to publish or abort."""
        self.fingerprint = ""
        """See `engine.runtime.kept`; empty until somebody asks."""
        self.readers: set[str] = set()
        self.dictionary = dictionary
        self._fresh: list[np.ndarray] = []
        self._received: tuple[Layer, ...] = ()

    def add(self, messages: Sequence[str], times: np.ndarray, step: Step) -> None:
        """Add messages; `times` int64[2, k] has the epoch and the diff of each message's row."""
        words = np.array([self.dictionary.word(message) for message in messages], np.int64)
        self._fresh.append(np.vstack((words, times)))
        step.touch(self)

    def receive(self, layers: tuple[Layer, ...], step: Step) -> None:
        """Stage mapped layers, which an executor computed, as what the advance adds."""
        self._received = layers
        step.touch(self)

    def restore_staged(self, delta: np.ndarray, step: Step) -> None:
        """Restore a delta of an advance, as `staged` returned it."""
        self._fresh.append(delta)
        step.touch(self)

    @property
    def staged(self) -> tuple[np.ndarray, ...]:
        """What the advance has added so far: deltas int64[3, k] of message words, epochs and diffs."""
        return tuple(self._fresh)

    def withdraw(self, kept: int) -> None:
        """Drop what was added after the first `kept` deltas."""
        del self._fresh[kept:]

    def batch(self) -> np.ndarray:
        """All that the advance has added, as one batch."""
        return arrange(np.ascontiguousarray(np.concatenate(self._fresh, axis=1)), _ORDER, NO_ROUNDS)

    @property
    def staged_layers(self) -> tuple[Layer, ...]:
        """What the advance has added so far, here or by an executor."""
        return (*((Layer(self.batch()),) if self._fresh else ()), *self._received)

    def publish(self, frontier: Frontier) -> None:
        if self._fresh:
            self.trace.insert(self.batch())
        self.trace.map(self._received)
        self.reset()

    def abort(self) -> None:
        self.reset()

    def undo(self) -> Callable[[], None]:
        return self.trace.saved()

    def reset(self) -> None:
        """Read the trace anew; forget what an advance left beside it."""
        self._fresh.clear()
        self._received = ()
        self.touched = False
