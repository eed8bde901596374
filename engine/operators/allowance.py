"""Allowances: how much an operator may do in one advance before the views that need it are given up.

When views are given up, the advance runs again without them. Each further time, operators have half the
seconds of the time before, so that many views that never end do not take as many times the seconds of one.

A recursion, with all that is inside it, counts as one operator. The check comes between two steps, so that
the last one is done before it is noticed; kernels that could explode in one step have limits of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import monotonic

from engine.errors import BuildCancelled, OverBudget
from engine.operators.operator import Operator

_LEAST = 1 / 20
"""The part of its seconds that an operator has however often the advance has failed."""


@dataclass(frozen=True)
class Allowance:
    """The seconds that an operator may take in an advance, and the rows and bytes that it may make."""

    seconds: float = inf
    rows: float = inf
    bytes: float = inf

    def after(self, failures: int) -> Allowance:
        """The allowance when an advance has failed so often: half the seconds each time, down to a part that
        a view in order does not need."""
        return replace(self, seconds=self.seconds * max(_LEAST, 0.5**failures))


UNLIMITED = Allowance()


class Spending:
    """What the operator that runs now has used of its allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._operator: Operator | None = None
        self.rows = self.bytes = self.rounds = 0
        """Made by the current operator; and the rounds it ran, if it is a loop."""
        self._began = 0.0
        self._stopped = False

    def stop(self) -> None:
        """Let the next step raise BuildCancelled. Any thread may call it."""
        self._stopped = True

    def begin(self, operator: Operator) -> None:
        """The operator's step begins, with a fresh allowance. Raises BuildCancelled after `stop`."""
        self._check_stopped()
        self._operator = operator
        self.rows = self.bytes = self.rounds = 0
        self._began = monotonic()

    def made(self, operator: Operator) -> None:
        """Count what an operator has just made. Raises OverBudget."""
        for delta in operator.out:
            self.rows += delta.shape[1]
            self.bytes += delta.nbytes
        if self.rows > self._allowance.rows or self.bytes > self._allowance.bytes:
            raise self._over()

    def round(self) -> None:
        """A round of a loop begins. Raises OverBudget if the time is up, BuildCancelled after `stop`."""
        self._check_stopped()
        self.rounds += 1
        if monotonic() - self._began > self._allowance.seconds:
            raise self._over()

    def _check_stopped(self) -> None:
        if self._stopped:
            raise BuildCancelled("the view is not wanted any more")

    def _over(self) -> OverBudget:
        what = "" if self._operator is None else getattr(self._operator, "name", self._operator.kind)
        seconds = monotonic() - self._began
        return OverBudget.of(what, seconds, self.rows, self.bytes, self.rounds)
