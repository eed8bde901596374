"""Reduces: a function of each group, re-evaluated for touched groups at interesting times.

Changes touch a group at their step, and again at every later round at which the group has older differences:
the kernels return those (rounds, key) pairs, and they wait here for their round.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from engine.kernels.arrange import distinct_keys
from engine.kernels.floatmoments import reduce_pairs
from engine.kernels.floatsums import reduce_floats
from engine.kernels.reduce import CLAMP_DISTINCT, CLAMP_POSITIVE, reduce_sums, threshold
from engine.kernels.rounds import distinct_rows, group_keys
from engine.kernels.stepping import opcodes
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.finishing import Finishing
from engine.operators.operator import Deferred, Instruction, Operator, Step, StepScope
from engine.operators.slots import Finish
from engine.plan.nodes import Clamp
from engine.state.packed_times import TOTAL

_NO_ROUNDS = np.empty(0, np.int64)


class GroupOperator(Operator):
    """What all reduces share: finding the groups to look at in a step. `key` words lead the arrangement."""

    def __init__(self, source: Arrangement, key: int) -> None:
        super().__init__([source])
        source.look_up_by(key)
        self.key = key
        self.deferred: Deferred = Deferred()

    @property
    def source(self) -> Arrangement:
        """The arrangement of the groups' rows."""
        return self.inputs[0]  # type: ignore[return-value]

    def step(self, step: Step) -> None:
        self.out = []
        keys = self._touched(step)
        if keys is None:
            return
        delta, later = self._reduce(keys, step)
        if delta.shape[1]:
            self.out = [delta]
        if len(later):
            self._defer(later, step)

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """The delta of the groups `keys` [m, P], and lines (rounds, key) to visit in later rounds."""
        raise TypeError(f"{type(self).__name__} does not define _reduce")

    def of_all(self, source: Arrangement, scope: StepScope) -> np.ndarray:
        """The delta of all groups of `source`, which has one new batch; neither it nor the step has
        rounds."""
        reduce = copy(self)
        reduce.inputs = [source]
        delta, _ = reduce._reduce(
            distinct_keys(source.batch, self.key), Step((), _NO_ROUNDS, scope, [], TOTAL.masks)
        )
        return delta

    def _touched(self, step: Step) -> np.ndarray | None:
        batch = self.source.batch
        keys = [] if batch is None else [distinct_keys(batch, self.key)]
        if step.rounds:
            keys += self.deferred.take(step.rounds)
        if not keys:
            return None
        return keys[0] if len(keys) == 1 else distinct_rows(np.concatenate(keys))

    def _defer(self, later: np.ndarray, step: Step) -> None:
        depth = len(step.rounds)
        lines, starts = group_keys(later, depth)
        for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rounds = tuple(lines[low, :depth].tolist())
            self.deferred.put(rounds, np.ascontiguousarray(lines[low:high, depth:]), step.scope)

    def abandon(self) -> None:
        self.deferred.clear()


class ThresholdOperator(GroupOperator):
    """A bag's rows with clamped multiplicities."""

    def __init__(self, source: Arrangement, clamp: Clamp) -> None:
        super().__init__(source, source.width)
        self._clamp = CLAMP_DISTINCT if clamp is Clamp.DISTINCT else CLAMP_POSITIVE

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.THRESHOLD, (self.source,), self._clamp)

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        return threshold(keys, source.after(), source.published, source.depth, step.array, self._clamp)


class Sums(GroupOperator):
    """COUNT, SUM and AVG from slots, which are accumulated in the diffs."""

    def __init__(
        self,
        source: Arrangement,
        finish: tuple[Finish, ...],
        labels: tuple[str, ...],
        failures: FailureLog,
    ) -> None:
        super().__init__(source, source.width)
        self._finish = Finishing(finish, labels, failures)
        self.failures = failures

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.REDUCE_SUMS, (self.source,), first=self._finish.lines.ravel())

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        delta, left, later = reduce_sums(
            keys,
            source.after(),
            source.published,
            source.depth,
            source.trace.diffs,
            step.array,
            self._finish.lines,
        )
        if len(left):
            found = self._finish.finished(left, left[:, 1], step)
            groups = keys[left[found.places, 0]].T
            delta = np.ascontiguousarray(np.hstack((delta, np.vstack((groups, found.delta)))))
        return delta, later


class FloatSum(GroupOperator):
    """SUM or AVG of floats: exact, then rounded once."""

    def __init__(self, source: Arrangement, average: bool) -> None:
        super().__init__(source, source.width - 1)
        self._average = average

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        return reduce_floats(keys, source.after(), source.published, source.depth, step.array, self._average)


class FloatComoment(GroupOperator):
    """COMOMENT of floats: exact, then rounded once. `is_one`: both columns are the same."""

    def __init__(self, source: Arrangement, is_one: bool) -> None:
        super().__init__(source, source.width - 1)
        self._is_one = is_one

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        return reduce_pairs(keys, source.after(), source.published, source.depth, step.array, self._is_one)
