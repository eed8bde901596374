"""Any function of a group's rows, re-evaluated at the group's interesting times.

As in `engine.kernels.reduce`, a group's output changes by the Möbius sum of the function over the corners of
the box below a time. Rows are swept once along their times, while every corner accumulates the rows below it;
the function is called again only for corners that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np

from engine.kernels.lookup import find_ranges
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import chains
from engine.operators.operator import Step

Words = tuple[int, ...]
Answer = dict[Words, int]
"""Rows of words with their counts, none of which is zero."""
Reducer = Callable[[Words, Answer], Iterable[tuple[Words, int]]]
"""Maps a group's key and its rows, at least one, to result rows with counts."""


class Corner:
    """The rows accumulated at one corner, and the function's answer for them."""

    def __init__(self) -> None:
        self.rows: Answer = {}
        self.answer: Answer = {}

    def add(self, row: Words, diff: int) -> None:
        """Add a row's diff."""
        count = self.rows.pop(row, 0) + diff
        if count:
            self.rows[row] = count

    def refresh(self, key: Words, reducer: Reducer) -> Answer:
        """Call the function again; returns the change of its answer."""
        before = self.answer
        answer: Answer = {}
        for row, count in reducer(key, self.rows) if self.rows else ():
            answer[row] = answer.get(row, 0) + count
        self.answer = answer
        change = dict(answer)
        for row, count in before.items():
            change[row] = change.get(row, 0) - count
        return change


class GroupwiseOperator(GroupOperator):
    """A reduce in Python: it sweeps each group along the chains of its interesting times."""

    def __init__(self, source: Arrangement, key: int, words: int) -> None:
        """`words` is the number of words in a result, without the key."""
        super().__init__(source, key)
        self._words = words

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        results = [np.empty((self.key + self._words + 2, 0), np.int64)]
        later: list[np.ndarray] = []
        for key, (found, are_new) in zip(keys, self._groups(keys), strict=True):
            rows, is_new = self._now(key, found, are_new, step, later)
            if is_new.any():
                results.append(self._sweep(key, rows, is_new, step))
        lines = np.concatenate(later) if later else np.empty((0, 0), np.int64)
        return np.ascontiguousarray(np.concatenate(results, axis=1)), np.ascontiguousarray(lines)

    def _sweep(self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step) -> np.ndarray:
        """The changes of a group, as a delta; `rows` are its rows up to the step's rounds."""
        raise TypeError(f"{type(self).__name__} does not define _sweep")

    def _groups(self, keys: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each group its rows, and which of them are new."""
        return rows_by_key(self.source, keys)

    def _now(
        self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step, later: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows at or below the step's rounds; visits of later rounds, for the other rows, go to
        `later`."""
        words = self.source.width
        rounds = rows[:, words : words + len(step.rounds)]
        above = (rounds > step.array).any(axis=1)
        if not above.any():
            return rows, is_new
        joined = np.maximum(rounds[above], step.array)
        later.append(np.hstack((joined, np.broadcast_to(key, (len(joined), len(key))))))
        return rows[~above], is_new[~above]


class GeneralOperator(GroupwiseOperator):
    """Any function of a group's rows. Reads the whole group, and calls the function at each interesting
    time."""

    def __init__(self, source: Arrangement, key: int, reducer: Reducer, words: int) -> None:
        super().__init__(source, key, words)
        self._reducer = reducer

    def _sweep(self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step) -> np.ndarray:
        words, depth = self.source.width, len(step.rounds)
        values = [tuple(row) for row in rows[:, self.key : words].tolist()]
        diffs = rows[:, -1].tolist()
        group = tuple(key.tolist())
        results: list[Words] = []
        for chain in chains(rows[:, words + depth], is_new, rows[:, words : words + depth], step):
            every = Sweep(chain.bits, group, self._reducer)
            published = Sweep(chain.bits, group, self._reducer)
            arrays = (chain.rows, chain.positions, chain.strict, chain.old(is_new))
            lines = zip(*(array.tolist() for array in arrays), strict=True)
            for position, at in groupby(lines, key=itemgetter(1)):
                if position >= chain.start:
                    _change(every, published)  # what was there before, once; then nothing
                for row, _, strict, old in at:
                    every.add(values[row], diffs[row], strict)
                    if old:
                        published.add(values[row], diffs[row], strict)
                if position >= chain.start:
                    time = chain.time(position)
                    change = _change(every, published)
                    results += [(*group, *row, time, n) for row, n in change.items() if n]
        return np.array(results, np.int64).reshape(-1, self.key + self._words + 2).T


def _change(every: Sweep, published: Sweep) -> Answer:
    """The change of the answer for all rows, minus the change of the answer for published rows."""
    change = every.refresh()
    for row, count in published.refresh().items():
        change[row] = change.get(row, 0) - count
    return change


class Sweep:
    """The corners of a chain, while its rows are added one by one."""

    def __init__(self, bits: int, key: Words, reducer: Reducer) -> None:
        self._corners = [Corner() for _ in range(1 << bits)]
        self._touched: set[int] = set()
        self._key = key
        self._reducer = reducer

    def add(self, row: Words, diff: int, strict: int) -> None:
        """Count a row at all corners that it lies below."""
        for corner, accumulated in enumerate(self._corners):
            if corner & strict == corner:
                accumulated.add(row, diff)
                self._touched.add(corner)

    def refresh(self) -> Answer:
        """Update the corners that were touched; returns the signed sum of their changes."""
        total: Answer = {}
        for corner in self._touched:
            sign = -1 if corner.bit_count() & 1 else 1
            for row, count in self._corners[corner].refresh(self._key, self._reducer).items():
                total[row] = total.get(row, 0) + sign * count
        self._touched.clear()
        return total


def rows_by_key(
    source: Arrangement | EnteredArrangement, keys: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each of the `keys` [m, P], the arrangement's rows, and which of them are not published yet."""
    lows, highs = find_ranges(source.after(), keys)
    batches = source.batches()
    for m in range(len(keys)):
        pieces = [batch[lows[i, m] : highs[i, m]] for i, batch in enumerate(batches)]
        is_new = np.repeat(np.arange(len(pieces)) >= source.published, [len(piece) for piece in pieces])
        nothing = np.empty((0, source.width + source.depth + 2), np.int64)
        yield np.concatenate(pieces) if pieces else nothing, is_new
