"""Facts: rows that are explained once, by number, however many rows follow from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable

from service.derivations.reason import Reason

MOST_CAUSES = 10_000
"""The most causes that an explanation shows within its facts."""


class Facts:
    """The facts of one explanation, in the order in which they were met."""

    def __init__(self, most: int) -> None:
        self.explained: dict[int, Reason] = {}
        self.is_cut = False
        """Whether something was left out, here or by whoever cites facts."""
        self._most = most
        self._room = MOST_CAUSES
        self._numbers: dict[Hashable, int] = {}
        self._waiting: deque[tuple[int, Callable[[], Reason]]] = deque()

    def cite(self, fact: Hashable, explain: Callable[[], Reason]) -> int | None:
        """The number of a fact, which `explain` explains later if it is new; None if there are too many."""
        if fact in self._numbers:
            return self._numbers[fact]
        if len(self._numbers) >= self._most:
            self.is_cut = True
            return None
        number = self._numbers[fact] = len(self._numbers) + 1
        self._waiting.append((number, explain))
        return number

    def causes(self, wanted: int) -> int:
        """How many of so many causes to show: all, or one once too many are shown. A cause has causes of its
        own, so where windows stand on windows there would be a power of them."""
        shown = max(1, min(wanted, self._room))
        self._room -= shown
        return shown

    def explain_all(self) -> None:
        """Explains the facts that were cited, and those that these cite."""
        while self._waiting:
            number, explain = self._waiting.popleft()
            self.explained[number] = explain()
