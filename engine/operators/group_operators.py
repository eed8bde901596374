"""Reduces: a function of each group, re-evaluated for touched groups at interesting times.

Changes touch a group at their step, and again at every later round at which the group has older differences:
the kernels return those (rounds, key) pairs, and they wait here for their round.

Kernels know epochs and rounds. At times of several coordinates each chain of a group's interesting times is a
group of its own for them (`engine.operators.interesting_times`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from engine.kernels.floatmoments import reduce_pairs
from engine.kernels.floatsums import reduce_floats
from engine.kernels.parallel import threads
from engine.kernels.parallel.divided_sort import keys_of
from engine.kernels.reduce import CLAMP_DISTINCT, CLAMP_POSITIVE, FINISH, WIDE, reduce_sums, threshold
from engine.kernels.rounds import distinct_rows, group_keys
from engine.kernels.stepping import opcodes
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.interesting_times import Groups, at_chains
from engine.operators.linear import consolidated
from engine.operators.operator import NO_ROUNDS, Deferred, Instruction, Operator, Step, StepScope
from engine.operators.slots import Finish, finished
from engine.plan.nodes import Clamp
from engine.state.packed_times import TOTAL

Result = TypeVar("Result")


class GroupOperator(Operator):
    """What all reduces share: finding the groups to look at in a step. `key` words lead the arrangement."""

    knows_rounds = True
    """Whether `_changes` takes groups with rounds; otherwise it is given their corners one by one."""

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
        deltas, later = self._reduce(keys, step)
        self.out = [delta for delta in deltas if delta.shape[1]]
        if len(later):
            self._defer(later, step)

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[list[np.ndarray], np.ndarray]:
        """The deltas of the groups `keys` [m, P], and lines (rounds, key) to visit in later rounds."""
        groups = self._groups(keys, step)
        if not len(step.masks) and (self.knows_rounds or not step.rounds):
            delta, later = self._changes(groups, step)
            return [delta], later
        parts, later = at_chains(groups, self.source.width, step.masks, not self.knows_rounds)
        deltas = [self._changes(part, step)[0][1:] for part in parts]
        if deltas and not self.knows_rounds:
            deltas = [consolidated(np.ascontiguousarray(np.concatenate(deltas, axis=1)))]
        return deltas, later

    def _groups(self, keys: np.ndarray, step: Step) -> Groups:
        """The groups `keys`, as kernels read them."""
        return Groups(keys, self.source.after(), self.source.published, step.array)

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """The delta of some groups, led by their keys, and lines (rounds, key) to visit in later rounds."""
        raise TypeError(f"{type(self).__name__} does not define _changes")

    def of_all(self, source: Arrangement, scope: StepScope) -> np.ndarray:
        """The delta of all groups of `source`, which has one new batch; neither it nor the step has
        rounds."""
        step = Step((), NO_ROUNDS, scope, [], TOTAL.masks)
        keys = keys_of(source.batch, self.key)  # type: ignore[arg-type]
        delta, _ = self._changes(Groups(keys, source.after(), source.published, NO_ROUNDS), step)
        return delta

    def _touched(self, step: Step) -> np.ndarray | None:
        batch = self.source.batch
        keys = [] if batch is None else [keys_of(batch, self.key)]
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


def _by_part(kernel: Callable[..., Result], groups: Groups, *arguments: object) -> list[Result]:
    """What a kernel returns for each part of the groups; `arguments` follow those on the groups."""
    keys, table, published, rounds, *_ = groups

    def reduce(part: slice) -> Result:
        return kernel(keys[part], table, published, len(rounds), rounds, *arguments)

    if len(keys) < threads.LARGE:
        return [reduce(slice(None))]
    return threads.each(reduce, threads.parts_of(len(keys)))


def _whole(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The delta and the later visits of all groups, from those of their parts."""
    if len(parts) == 1:
        return parts[0]
    deltas, later = zip(*parts, strict=True)
    return threads.joined(deltas, axis=1), threads.joined(later)


class ThresholdOperator(GroupOperator):
    """A bag's rows with clamped multiplicities."""

    def __init__(self, source: Arrangement, clamp: Clamp) -> None:
        super().__init__(source, source.width)
        self._clamp = CLAMP_DISTINCT if clamp is Clamp.DISTINCT else CLAMP_POSITIVE

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.THRESHOLD, (self.source,), self._clamp)

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        return _whole(_by_part(threshold, groups, self._clamp))


class Sums(GroupOperator):
    """COUNT, SUM and AVG from slots, which are accumulated in the diffs; `labels` name them in messages.

    The kernel leaves groups with wide numbers, and those whose sums overflow: they are finished here.
    """

    def __init__(
        self,
        source: Arrangement,
        finish: tuple[Finish, ...],
        labels: tuple[str, ...],
        failures: FailureLog,
    ) -> None:
        super().__init__(source, source.width)
        self._finish = np.array(finish, np.int64).reshape(-1, FINISH)
        self._labels = labels
        self.failures = failures

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.REDUCE_SUMS, (self.source,), first=self._finish.ravel())

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        parts = _by_part(reduce_sums, groups, self.source.trace.diffs, self._finish)
        delta, left, later = parts[0] if len(parts) == 1 else _whole_sums(parts, len(groups.keys))
        if len(left):
            delta = np.ascontiguousarray(np.hstack((delta, self._finished(groups.keys, left, step))))
        return delta, later

    def _finished(self, keys: np.ndarray, left: np.ndarray, step: Step) -> np.ndarray:
        """The delta of the lines [n, L] that `reduce_sums` has left; an overflow becomes an error instead."""
        words: dict[int, list[int]] = {}
        failed: dict[int, str] = {}
        for place, line in enumerate(left):
            answer: list[int] | int = int(line[3])
            if answer == WIDE:
                answer = finished(self._finish, line[4:], self.failures.dictionary)
            if isinstance(answer, list):
                words[place] = answer
            else:
                failed[place] = f"overflow in {self._labels[answer]}"
        if failed:
            self.failures.add([*failed.values()], left[[*failed], 1:3].T, step)
        kept = left[[*words]]
        results = np.array([*words.values()], np.int64).reshape(-1, len(self._finish)).T
        return np.vstack((keys[kept[:, 0]].T, results, kept[:, 1:3].T))


def _whole_sums(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_whole`, with the lines that are left to finish, which name groups by their places among all."""
    for (_, left, _), part in zip(parts, threads.parts_of(groups), strict=True):
        left[:, 0] += part.start
    delta, later = _whole([(delta, later) for delta, _, later in parts])
    return delta, threads.joined([left for _, left, _ in parts]), later


class FloatSum(GroupOperator):
    """SUM or AVG of floats: exact, then rounded once."""

    def __init__(self, source: Arrangement, average: bool) -> None:
        super().__init__(source, source.width - 1)
        self._average = average

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        return _whole(_by_part(reduce_floats, groups, self._average))


class FloatComoment(GroupOperator):
    """COMOMENT of floats: exact, then rounded once. `is_one`: both columns are the same."""

    def __init__(self, source: Arrangement, is_one: bool) -> None:
        super().__init__(source, source.width - 1)
        self._is_one = is_one

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        return _whole(_by_part(reduce_pairs, groups, self._is_one))
