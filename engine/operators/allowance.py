"""Allowances: how much an operator may do in one advance, or in one stretch of its epochs
(`engine.operators.stretches`), before the views that need it are given up.

When views are given up, the advance runs again without them. All its runs share the seconds, so that many
views that never end do not take as many times the seconds of one.

A recursion, with all that is inside it, counts as one operator. The check comes between two steps, so that
the last one is done before it is noticed; kernels that could explode in one step have limits of their own.
What kernels take to be loaded or compiled at their first call is nobody's spending.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from engine.errors import BuildCancelled, OverBudget
from engine.kernels.parallel.threads import processor_seconds
from engine.operators.operator import Operator

_LEAST_SECONDS = 0.02
"""What an operator may take even if those before it have used up the seconds of all."""
_SECONDS_A_ROW, _ROWS_A_ROW, _BYTES_A_ROW = 20e-6, 100, 10_000


@dataclass(frozen=True)
class Allowance:
    """The seconds of processor time that an operator may take in an advance, and the rows and bytes that it
    may make; `all_seconds` are what the operators may take together.
    """

    seconds: float = inf
    rows: float = inf
    bytes: float = inf
    all_seconds: float = inf

    def for_changes(self, rows: int) -> Allowance:
        """The allowance of an advance with so many changes: more work is expected of it."""
        seconds = _SECONDS_A_ROW * rows
        return Allowance(
            self.seconds + seconds,
            self.rows + _ROWS_A_ROW * rows,
            self.bytes + _BYTES_A_ROW * rows,
            self.all_seconds + seconds,
        )


UNLIMITED = Allowance()


class Spending:
    """What the operator that runs now has used of its allowance. One thread runs the operators."""

    sees_steps = False

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._operator: Operator | None = None
        self.rows = self.bytes = self.rounds = 0
        """Made by the current operator; and the rounds it ran, if it is a loop."""
        self._began, self._until = 0.0, inf
        self._left = allowance.all_seconds
        self._stopped = False

    def stop(self) -> None:
        """Let the next step raise BuildCancelled. Any thread may call it."""
        self._stopped = True

    def begin(self, operator: Operator) -> None:
        """The operator's step begins, with a fresh allowance. Raises BuildCancelled after `stop`."""
        self._check_stopped()
        now = processor_seconds()
        if self._operator is not None:
            self._left -= now - self._began
        self._operator = operator
        self.rows = self.bytes = self.rounds = 0
        self._began = now
        self._until = now + min(self.allowance.seconds, max(self._left, _LEAST_SECONDS))

    def pause(self) -> None:
        """No operator runs until the next one begins."""
        self._until = inf

    def made(self, operator: Operator) -> None:
        """Count what an operator has just made. Raises OverBudget."""
        for delta in operator.out:
            self.rows += delta.shape[1]
            self.bytes += delta.nbytes
        if self.rows > self.allowance.rows or self.bytes > self.allowance.bytes:
            raise self._over()

    def round(self, rounds: tuple[int, ...]) -> None:
        """A round of a loop begins. Raises OverBudget if the time is up, BuildCancelled after `stop`."""
        self.rounds += 1
        self.check()

    def check(self) -> None:
        """Raises OverBudget if the operator's time is up, BuildCancelled after `stop`."""
        self._check_stopped()
        if processor_seconds() > self._until:
            raise self._over()

    def ran(self, rounds: int, rows: int, bytes: int) -> None:
        """Count rounds of a loop that have run, with what they made. Raises OverBudget, and BuildCancelled
        after `stop`."""
        self._check_stopped()
        self.rounds += rounds
        self.rows += rows
        self.bytes += bytes
        is_late = processor_seconds() > self._until
        if is_late or self.rows > self.allowance.rows or self.bytes > self.allowance.bytes:
            raise self._over()

    def _check_stopped(self) -> None:
        if self._stopped:
            raise BuildCancelled("the view is not wanted any more")

    def _over(self) -> OverBudget:
        what = "" if self._operator is None else getattr(self._operator, "name", self._operator.kind)
        seconds = processor_seconds() - self._began
        return OverBudget.of(what, seconds, self.rows, self.bytes, self.rounds)
