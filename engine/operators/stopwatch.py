"""The clock of an advance, which measures the time of each operator's steps.

Reading a clock around every step would cost small advances a few percent. So only the first small advances
are timed, and then one in `SAMPLE`, which counts for as many. Large advances are always timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Protocol

LARGE = 256
"""Advances of at least this many changed rows are always timed."""
FIRST = 16
"""The number of first small advances that are timed."""
SAMPLE = 16
"""Of the small advances after those, one in this many is timed."""


class _Timed(Protocol):
    """What has steps: `taken` is their time so far."""

    taken: int


class Stopwatch:
    """Measures from one operator's step to the next; `weight` is the number of advances this one counts
    for."""

    def __init__(self, weight: int) -> None:
        self._weight = weight
        self._last = perf_counter_ns()

    def lap(self) -> int:
        """The time since the last call, as often as this advance counts."""
        last, self._last = self._last, perf_counter_ns()
        return (self._last - last) * self._weight

    def note(self, operator: _Timed) -> None:
        """Add the time since the last call to the operator whose step has just ended."""
        operator.taken += self.lap()

    def share(self, operators: Sequence[_Timed], parts: Sequence[int]) -> None:
        """Divide the time since the last call among operators that have run together, by their parts."""
        each = self.lap() / sum(parts)
        for operator, part in zip(operators, parts, strict=True):
            operator.taken += round(each * part)


class Sampling:
    """Chooses the advances that are timed."""

    def __init__(self) -> None:
        self._small = 0

    def clock(self, rows: int) -> Stopwatch | None:
        """The clock of an advance with `rows` changed rows; None if it is not timed."""
        if rows >= LARGE:
            return Stopwatch(1)
        self._small += 1
        if self._small <= FIRST:
            return Stopwatch(1)
        return Stopwatch(SAMPLE) if self._small % SAMPLE == 0 else None
