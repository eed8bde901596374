"""Nurseries: the memory into which compiled code inserts small batches, and how traces leave it.

A nursery is filled from its beginning, and nothing in it is overwritten. Once most of it is taken, another
one follows, and traces leave the old one, some batches with every advance, so that none waits for all.
A trace takes its batches along if they are few, and else gets arrays of its own for them. Whoever shows its
batches has to show them anew then, or keeps the old nursery.

Memory that was never written costs a fault a page. So nurseries that nobody reads any more are used again, in
any dataflow of the process.
"""

from __future__ import annotations

import threading
from sys import getrefcount

import numpy as np

from engine.state.trace import Trace

WORDS = 1 << 19
LEAVING = 1 << 8
"""About so many words leave an old nursery with an advance at first, and more later."""
_MOST_SPARE = 4
_ONLY_LISTED = 3
"""The references to an array that a list and a variable have, as `getrefcount` counts them."""


class Nurseries:
    """The nurseries of one dataflow; `current` is the one to which compiled code adds, from `cursor` on."""

    def __init__(self) -> None:
        self.current = _spare.take(WORDS, rest=1)
        self.cursor = np.zeros(1, np.int64)
        """int64[1]: how much of the nursery is taken."""
        self._taken = memoryview(self.cursor)  # type: ignore[arg-type]
        self._most = 3 * len(self.current) // 4
        """The words after which another nursery begins. The rest is for an advance with many changes."""
        self._soon = 15 * self._most // 16
        self._before = 0
        self._old: np.ndarray | None = None
        self._next: np.ndarray | None = None
        self._traces: dict[Trace, None] = {}
        """Those with batches in the current nursery, in the order in which they came."""
        self._leaving: list[Trace] = []

    def take_in(self, trace: Trace) -> None:
        """Note that the trace has a batch in the current nursery."""
        nursed = trace.nursed
        if nursed is None or nursed.newest is not self.current:
            trace.nurse(self.current)
            self._traces[trace] = None

    def end_advance(self) -> list[Trace]:
        """Let traces leave an old nursery, and begin another one if most of the current one is taken; returns
        the traces that have left. No advance does much of this, and the next nursery is there before it is
        needed."""
        taken, left = self._taken[0], []
        if self._leaving:
            # All have left when about half of this one is taken, even if nothing of the old one is gone.
            left = self._leave(max(LEAVING, 8 * (taken - self._before) * taken // self._most))
            taken = self._taken[0]
        elif self._old is not None:
            _spare.give(self._old)
            self._old = None
        elif self._next is None and taken > self._soon:
            self._next = _spare.take(len(self.current))
        self._before = taken
        if taken > self._most:
            left += self._begin_another()
        return left

    def close(self) -> list[Trace]:
        """Let all traces leave, and return them."""
        left = [*self._leaving, *self._traces]
        for trace in left:
            trace.settle()
        self._leaving.clear()
        self._traces.clear()
        _spare.give(self.current, self._old, self._next)
        return left

    def _leave(self, fuel: int) -> list[Trace]:
        """Let traces leave the old nursery, until about `fuel` words are moved; returns those that have."""
        left = []
        while self._leaving:
            trace = self._leaving[-1]
            fuel = trace.move(self.current, self.cursor, len(self.current) // 2, fuel)
            if fuel == 0:
                break
            left.append(self._leaving.pop())
            if trace.nursed is not None:
                self._traces[trace] = None
        return left

    def _begin_another(self) -> list[Trace]:
        """Begin another nursery; returns the traces that had to leave the old one at once."""
        left = self._leaving
        for trace in left:
            trace.leave_nursery()
        if self._next is None:
            _spare.give(self._old)
            self._next = _spare.take(len(self.current))
        self._old, self.current, self._next = self.current, self._next, None
        self._taken[0] = self._before = 0
        self._leaving, self._traces = list(self._traces), {}
        for trace in self._leaving:
            trace.nurse(self.current)
        return left


class _Spare:
    """Nurseries that are free, or will be once their readers are gone. Any thread may ask."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._lock = threading.Lock()

    def take(self, words: int, rest: int = 0) -> np.ndarray:
        """A nursery of this size that nobody else has. So many others stay, which cost nothing when they are
        asked for."""
        with self._lock:
            free = [place for place in range(len(self._arrays)) if self._is_free(place, words)]
            self._arrays += (_mapped(words) for _ in range(rest + 1 - len(free)))
            return self._arrays.pop(free[0] if free else -1)

    def give(self, *arrays: np.ndarray | None) -> None:
        """Take nurseries back, whose readers may still be there."""
        with self._lock:
            self._arrays = [*(it for it in arrays if it is not None), *self._arrays][:_MOST_SPARE]

    def _is_free(self, place: int, words: int) -> bool:
        array = self._arrays[place]
        return len(array) == words and getrefcount(array) == _ONLY_LISTED


_spare = _Spare()


def _mapped(words: int) -> np.ndarray:
    """New memory, all of which has been written."""
    return np.full(words, 0, np.int64)
