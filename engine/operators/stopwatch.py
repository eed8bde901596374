"""The clock of an advance: what each operator's steps take.

Reading a clock around every step would cost small advances a few percent, so that of those only the
first ones are timed, and then one in `SAMPLE`, which stands for as many. Large advances are all timed.
"""

from __future__ import annotations

from time import perf_counter_ns

from engine.operators.operator import Operator

LARGE = 256
"""Rows of changes from which on an advance is timed in any case."""
FIRST = 16
"""Small advances that are timed one by one."""
SAMPLE = 16
"""Of the small advances after those, one in so many is timed."""


class Stopwatch:
    """Runs from one operator's step to the next one's; `weight` is how many advances this one stands for."""

    def __init__(self, weight: int) -> None:
        self._weight = weight
        self._last = perf_counter_ns()

    def note(self, operator: Operator) -> None:
        """The operator's step is over: it took the time since the last one that was noted."""
        now = perf_counter_ns()
        operator.nanoseconds += (now - self._last) * self._weight
        self._last = now


class Sampling:
    """Which advances are timed."""

    def __init__(self) -> None:
        self._small = 0

    def clock(self, rows: int) -> Stopwatch | None:
        """The clock of an advance of so many rows of changes, None if it is not timed."""
        if rows >= LARGE:
            return Stopwatch(1)
        self._small += 1
        if self._small <= FIRST:
            return Stopwatch(1)
        return Stopwatch(SAMPLE) if self._small % SAMPLE == 0 else None
