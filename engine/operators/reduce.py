"""Reduces: a function of each group, re-evaluated for touched groups at interesting times.

A group is touched at a step by its changes there, and again at every later round at
which it has older differences: the kernels hand those (rounds, key) back, and they wait
here for their round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from engine.kernels.arrange import distinct_keys
from engine.kernels.floatsums import reduce_floats
from engine.kernels.lookup import find_ranges
from engine.kernels.reduce import CLAMP_DISTINCT, CLAMP_POSITIVE, reduce_sums, threshold
from engine.kernels.rounds import distinct_rows, group_keys
from engine.operators.arrangement import Arrangement, EnteredArrangement
from engine.operators.failures import FailureLog
from engine.operators.operator import Deferred, Operator, Step
from engine.plan import Clamp


class GroupOperator(Operator):
    """What all reduces share: which groups to look at in a step. `key` words lead the arrangement."""

    def __init__(self, source: Arrangement, key: int) -> None:
        super().__init__([source])
        source.look_up_by(key)
        self._key = key
        self._deferred = Deferred()

    @property
    def source(self) -> Arrangement:
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
        """The delta of the groups `keys` [m, P], and lines (rounds, key) to visit later."""
        raise TypeError(f"{type(self).__name__} does not say how it reduces")

    def _touched(self, step: Step) -> np.ndarray | None:
        batch = self.source.batch
        keys = [] if batch is None else [distinct_keys(batch, self._key)]
        if step.rounds:
            keys += self._deferred.take(step.rounds)
        if not keys:
            return None
        return keys[0] if len(keys) == 1 else distinct_rows(np.concatenate(keys))

    def _defer(self, later: np.ndarray, step: Step) -> None:
        depth = len(step.rounds)
        lines, starts = group_keys(later, depth)
        for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rounds = tuple(lines[low, :depth].tolist())
            self._deferred.put(rounds, np.ascontiguousarray(lines[low:high, depth:]), step.scope)

    def abandon(self) -> None:
        self._deferred.clear()


class Threshold(GroupOperator):
    """A bag's rows with clamped multiplicities."""

    def __init__(self, source: Arrangement, clamp: Clamp) -> None:
        super().__init__(source, source.width)
        self._clamp = CLAMP_DISTINCT if clamp is Clamp.DISTINCT else CLAMP_POSITIVE

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        return threshold(keys, source.after(), source.published, source.depth, step.array, self._clamp)


class Sums(GroupOperator):
    """COUNT, SUM and AVG from slots that are accumulated in the diffs."""

    def __init__(
        self,
        source: Arrangement,
        finish: tuple[tuple[int, int, int, int, int], ...],
        labels: tuple[str, ...],
        failures: FailureLog,
    ) -> None:
        """`finish` has a line an aggregate for the kernel; `labels` names them in messages."""
        super().__init__(source, source.width)
        self._finish = np.array(finish, np.int64).reshape(-1, 5)
        self._labels = labels
        self.failures = failures

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        delta, failed, later = reduce_sums(
            keys, source.after(), source.published, source.depth, source.trace.diffs, step.array, self._finish
        )
        if failed.shape[1]:
            messages = [f"overflow in {self._labels[aggregate]}" for aggregate in failed[0].tolist()]
            self.failures.add(messages, failed[1:], step)
        return delta, later


class FloatSum(GroupOperator):
    """SUM or AVG of floats, exact until it is rounded once."""

    def __init__(self, source: Arrangement, average: bool) -> None:
        super().__init__(source, source.width - 1)
        self._average = average

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        return reduce_floats(keys, source.after(), source.published, source.depth, step.array, self._average)


def rows_by_key(
    source: Arrangement | EnteredArrangement, keys: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each of the `keys` [m, P] the arrangement's rows, and which of them are not published yet."""
    lows, highs = find_ranges(source.after(), keys)
    batches = source.batches()
    nothing = np.empty((0, source.width + source.depth + 2), np.int64)
    for m in range(len(keys)):
        pieces = [batch[lows[i, m] : highs[i, m]] for i, batch in enumerate(batches)]
        is_new = np.repeat(np.arange(len(pieces)) >= source.published, [len(piece) for piece in pieces])
        yield np.concatenate([nothing, *pieces]), is_new


Reducer = Callable[[np.ndarray, np.ndarray], list[tuple[int, ...]]]
"""The live rows of a group, words [n, V] and counts [n], become rows of words."""


class General(GroupOperator):
    """Any function of a group's live rows. Reads the whole group for each of its interesting times."""

    def __init__(self, source: Arrangement, key: int, reducer: Reducer, words: int) -> None:
        """`words` is the number of words in a row that the reducer gives."""
        super().__init__(source, key)
        self._reducer = reducer
        self._words = words

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        results: list[tuple[int, ...]] = []
        later: list[np.ndarray] = []
        for key, (rows, is_new) in zip(keys, self._groups(keys), strict=True):
            self._reduce_group(key, rows, is_new, step, results, later)
        delta = np.array(results, np.int64).reshape(-1, self._key + self._words + 2).T
        lines = np.concatenate(later) if later else np.empty((0, 0), np.int64)
        return np.ascontiguousarray(delta), np.ascontiguousarray(lines)

    def _groups(self, keys: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of each group its rows, and which of them are new."""
        return rows_by_key(self.source, keys)

    def _reduce_group(
        self,
        key: np.ndarray,
        rows: np.ndarray,
        is_new: np.ndarray,
        step: Step,
        results: list[tuple[int, ...]],
        later: list[np.ndarray],
    ) -> None:
        """Append the group's changes to `results` and its later visits to `later`."""
        depth = len(step.rounds)
        words = self.source.width
        rounds = rows[:, words : words + depth]
        above = (rounds > step.array).any(axis=1)
        if above.any():
            joined = np.maximum(rounds[above], step.array)
            later.append(np.hstack((joined, np.broadcast_to(key, (len(joined), len(key))))))
        rows, is_new, rounds = rows[~above], is_new[~above], rounds[~above]
        strict = ((rounds < step.array) << np.arange(depth)).sum(axis=1, dtype=np.int64)
        epochs = np.where(is_new, rows[:, words + depth], -1)
        before: dict[tuple[int, ...], int] = self._corners(rows, epochs < 0, strict, depth)
        for epoch in sorted(set(epochs[epochs >= 0].tolist())):
            after = self._corners(rows, epochs <= epoch, strict, depth)
            for row in after.keys() | before.keys():
                change = after.get(row, 0) - before.get(row, 0)
                if change:
                    results.append((*key.tolist(), *row, epoch, change))
            before = after

    def _corners(
        self, rows: np.ndarray, up_to: np.ndarray, strict: np.ndarray, depth: int
    ) -> dict[tuple[int, ...], int]:
        """The reducer's rows over all corners, with their signs added up."""
        result: dict[tuple[int, ...], int] = {}
        for corner in range(1 << depth):
            live = rows[up_to & ((strict & corner) == corner)]
            sign = -1 if corner.bit_count() & 1 else 1
            for row in self._evaluate(live):
                result[row] = result.get(row, 0) + sign
        return result

    def _evaluate(self, rows: np.ndarray) -> list[tuple[int, ...]]:
        counts: dict[tuple[int, ...], int] = {}
        values = rows[:, self._key : self.source.width]
        for row, diff in zip(map(tuple, values.tolist()), rows[:, -1].tolist(), strict=True):
            counts[row] = counts.get(row, 0) + diff
        alive = sorted(item for item in counts.items() if item[1] > 0)
        if not alive:
            return []
        words = np.array([row for row, _ in alive], np.int64)
        return self._reducer(words, np.array([count for _, count in alive], np.int64))
