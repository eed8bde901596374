"""Recognises a recursion that repeats for ever, long before its limit of rounds.

If a loop's body is *linear*, a round's changes follow from those of the round before and from nothing else:
no two collections of the loop are joined in it, and nothing is counted, compared or ranked. Once all that
enters has come, and no work waits for a later round than the next, changes that equal those of an earlier
round will come again and again. So the loop has no fixed point. Other loops are left to their limits: in
them, equal changes may lead to different ones.

The changes of one earlier round are kept. They are replaced after 1, 2, 4, ... rounds, so that a period of
any length is found (Brent's algorithm).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from engine.errors import LimitExceeded
from engine.operators import linear
from engine.operators.arrangement import Arrangement
from engine.operators.entered import ArrangementChanges, EnteredArrangement
from engine.operators.equijoin import JoinOperator
from engine.operators.loop import Loop, VariableOperator
from engine.operators.operator import Operator
from engine.operators.unnest import UnnestOperator
from engine.plan.nodes import OnLimit

FIRST = 64
"""The round from which on changes are compared."""
_LINEAR = frozenset(
    {
        Arrangement,
        ArrangementChanges,
        EnteredArrangement,
        UnnestOperator,
        VariableOperator,
        linear.ConcatOperator,
        linear.ConsolidateOperator,
        linear.Enter,
        linear.FilterOperator,
        linear.MapOperator,
        linear.NegateOperator,
        linear.SelectOperator,
    }
)


class Repetition:
    """Compares what a loop's rounds feed back, if its body is linear and its limit an error."""

    def __init__(self, loop: Loop, on_limit: OnLimit) -> None:
        self._loop = loop
        self.is_watched = on_limit is OnLimit.ERROR and all(map(_is_linear, loop.body))
        """Whether rounds from `FIRST` on are compared."""
        self._others = [op for op in loop.body if op.deferred is not None and op not in loop.variables]
        self.begin()

    def begin(self) -> None:
        """A step of the scope outside begins."""
        self._seen: list[np.ndarray] | None = None
        self._round = FIRST
        self._stretch = 1

    def look(self, following: int, agenda: Collection[int]) -> None:
        """Look at what goes into the `following` round; `agenda` has the rounds with work.

        Raises LimitExceeded if it went into an earlier round too, so that the loop repeats.
        """
        if not self.is_watched or following < FIRST or not self._is_at_rest(following, agenda):
            return
        changes = [
            _together(variable.deferred.waiting((following,)))
            for variable in self._loop.variables
            if variable is not None
        ]
        if not any(map(np.size, changes)):
            return
        if self._seen is not None and _are_equal(self._seen, changes):
            period = following - self._round
            raise LimitExceeded(
                f"the recursion {self._loop.name} does not come to rest: from round {self._round} on, "
                f"its changes repeat every {'round' if period == 1 else f'{period} rounds'}",
                "use UNION instead of UNION ALL, or add a condition that ends it",
            )
        if self._seen is None or following - self._round >= self._stretch:
            self._seen, self._round, self._stretch = changes, following, 2 * self._stretch

    def _is_at_rest(self, following: int, agenda: Collection[int]) -> bool:
        """Whether nothing happens in the following round but what variables bring."""
        return len(agenda) == 1 and following in agenda and not any(op.deferred.rounds for op in self._others)  # type: ignore[union-attr]


def _together(deltas: list[np.ndarray]) -> np.ndarray:
    if not deltas:
        return np.empty((0, 0), np.int64)
    return linear.consolidated(np.ascontiguousarray(np.concatenate(deltas, axis=1)))


def _is_linear(operator: Operator) -> bool:
    if type(operator) is JoinOperator:
        return any(isinstance(side, EnteredArrangement) for side in operator.inputs)
    return type(operator) in _LINEAR


def _are_equal(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    return all(map(np.array_equal, left, right))
