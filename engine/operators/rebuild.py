"""When a loop is rebuilt: its body run from nothing over all that enters, in place of the changes alone.

Both ways give the same differences. What they cost is counted in rows: a rebuild those that the
loop holds and those that have entered it; a change, for each of its rows, the rows of new
differences that the rows of changes have brought about lately, each of which costs some more,
since it is looked up here and there. Before anything was seen, a change of a 64th of what has
entered is taken to cost as much as a rebuild.

An estimate from a few rows can be far off, so that it also is a limit: where a change brings
about as much as a rebuild would cost, it is given up for a rebuild. A rebuild teaches nothing
about changes: what was seen fades, so that they are tried again.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Rebuild(enum.Enum):
    """AUTO: where it is expected to cost less. ALWAYS: wherever it is possible."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


PRICE = 1.5
"""What a row of new differences costs, against a row of a rebuild."""
UNSEEN = 64
"""The part of what has entered that changes as much as a rebuild, as long as nothing was seen."""
MEMORY = 1024
"""The rows of changes by which the next one is judged."""
PRIOR = 64
"""The rows of changes that count as seen at first."""
FADING = 0.1
"""The part of what was seen that is forgotten with a rebuild."""


@dataclass(frozen=True)
class Sizes:
    """Of a loop, in rows: the change that enters, all that has entered, and what the loop holds."""

    change: int
    entered: int
    held: int

    @property
    def rebuild(self) -> int:
        """What a rebuild costs."""
        return self.entered + self.held


class Estimate:
    """What changes have cost one loop, and so which way is cheaper."""

    def __init__(self) -> None:
        self._changes = 0.0
        self._brought_about = 0.0

    def per_row(self, sizes: Sizes) -> float:
        """The rows of new differences that a row of a change is expected to bring about."""
        return self._brought_about / self._changes if self._changes else _unseen(sizes)

    def prefers_rebuild(self, sizes: Sizes) -> bool:
        return PRICE * sizes.change * self.per_row(sizes) > sizes.rebuild

    def is_too_much(self, sizes: Sizes, brought_about: int) -> bool:
        """Whether a change has brought about so much that it should be given up."""
        return PRICE * brought_about > sizes.rebuild

    def learn(self, sizes: Sizes, brought_about: int) -> None:
        """The change brought about so many rows, or more."""
        if not self._changes:
            self._changes = PRIOR
            self._brought_about = PRIOR * _unseen(sizes)
        self._changes += sizes.change
        self._brought_about += brought_about
        if self._changes > MEMORY:
            self._brought_about *= MEMORY / self._changes
            self._changes = MEMORY

    def fade(self, sizes: Sizes) -> None:
        """The loop was rebuilt."""
        forgotten = FADING * self._changes
        self._brought_about += forgotten * (_unseen(sizes) - self.per_row(sizes))


def _unseen(sizes: Sizes) -> float:
    """What is expected before anything was seen."""
    return UNSEEN * sizes.rebuild / (PRICE * max(sizes.entered, 1))


@dataclass
class LoopStatistics:
    """How often a loop was brought up to date in either way, why the last time so, and what it costs.

    `given_up` counts the changes that became rebuilds, which `rebuilt` counts too; `per_row` is the
    rows of new differences that a row of the last change was expected to bring about.
    """

    name: str
    incremental: int = 0
    rebuilt: int = 0
    given_up: int = 0
    reason: str = ""
    per_row: float = 0.0
