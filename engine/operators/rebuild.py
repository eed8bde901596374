"""When to rebuild a loop: run its body from nothing over all that enters, in place of the changes alone.

Both ways give the same differences. Costs are counted in rows. A rebuild costs the rows that the loop holds
plus those that have entered it. A change costs, for each of its rows, the number of new differences that a
changed row has brought about lately, times `PRICE`, since those are looked up one by one. Before anything was
observed, a change of 1/64 of what has entered is taken to cost as much as a rebuild.

An estimate from a few rows can be far off, so it is a limit too: a change that brings about as much as a
rebuild would cost is given up, and the loop is rebuilt. A rebuild teaches nothing about changes, so
observations fade with each rebuild, and changes are tried again.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Rebuild(enum.Enum):
    """AUTO: rebuild if that is expected to cost less. ALWAYS: rebuild whenever possible."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


PRICE = 1.5
"""The cost of a row of new differences, relative to a row of a rebuild."""
UNSEEN = 64
"""The fraction 1/UNSEEN of what has entered costs as much as a rebuild, until something was observed."""
MEMORY = 1024
"""The number of latest changed rows from which the next change is judged."""
PRIOR = 64
"""The number of changed rows that the initial guess counts for."""
FADING = 0.1
"""The fraction of observations that a rebuild makes forgotten."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a loop, in rows: the change that enters, all that has entered, and what the loop holds."""

    change: int
    entered: int
    held: int

    @property
    def rebuild(self) -> int:
        """The cost of a rebuild."""
        return self.entered + self.held


class Estimate:
    """The observed cost of one loop's changes, which decides between update and rebuild."""

    def __init__(self) -> None:
        self._changes = 0.0
        self._brought_about = 0.0

    def per_row(self, sizes: Sizes) -> float:
        """How many new differences a changed row is expected to bring about."""
        return self._brought_about / self._changes if self._changes else _unseen(sizes)

    def prefers_rebuild(self, sizes: Sizes) -> bool:
        """Whether a rebuild is expected to cost less than the change."""
        return PRICE * sizes.change * self.per_row(sizes) > sizes.rebuild

    def most(self, sizes: Sizes) -> int:
        """The most rows that a change may bring about before that is too much."""
        return int(sizes.rebuild / PRICE)

    def is_too_much(self, sizes: Sizes, brought_about: int) -> bool:
        """Whether a change has brought about so much that it should be given up."""
        return PRICE * brought_about > sizes.rebuild

    def learn(self, sizes: Sizes, brought_about: int) -> None:
        """Observe that the change brought about this many rows, or more."""
        if not self._changes:
            self._changes = PRIOR
            self._brought_about = PRIOR * _unseen(sizes)
        self._changes += sizes.change
        self._brought_about += brought_about
        if self._changes > MEMORY:
            self._brought_about *= MEMORY / self._changes
            self._changes = MEMORY

    def fade(self, sizes: Sizes) -> None:
        """Forget some observations, because the loop was rebuilt."""
        forgotten = FADING * self._changes
        self._brought_about += forgotten * (_unseen(sizes) - self.per_row(sizes))


def _unseen(sizes: Sizes) -> float:
    """The expected new differences a row before anything was observed."""
    return UNSEEN * sizes.rebuild / (PRICE * max(sizes.entered, 1))


@dataclass
class LoopStatistics:
    """How often a loop was updated and rebuilt, why so the last time, and what changes cost.

    `given_up` counts the changes that turned into rebuilds, which `rebuilt` counts too; `per_row` is the
    number of new differences that a row of the last change was expected to bring about.
    """

    name: str
    incremental: int = 0
    rebuilt: int = 0
    given_up: int = 0
    reason: str = ""
    per_row: float = 0.0
