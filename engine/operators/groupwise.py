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

from engine.kernels.states import NONE, group_lines
from engine.operators.arrangement import Arrangement
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
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


class GeneralOperator(GroupOperator):
    """Any function of a group's rows. Reads the whole group, and calls the function at each interesting
    time."""

    def __init__(self, source: Arrangement, key: int, reducer: Reducer, words: int) -> None:
        """`words` is the number of words in a result, without the key."""
        super().__init__(source, key)
        self._reducer = reducer
        self._words = words

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        results: list[Words] = []
        visits = [np.empty((0, groups.depth + groups.keys.shape[1]), np.int64)]
        for block in groups.blocks():
            keys, table, published, rounds, _ = block
            lines, later = group_lines(
                keys, table, published, len(rounds), rounds, self.source.width - self.key
            )
            visits.append(later)
            names = [tuple(key) for key in keys.tolist()]
            for group, rows in groupby(lines.tolist(), key=itemgetter(0)):
                results += self._swept(names[group], rows, block.depth)
        width = groups.keys.shape[1] + self._words + 2
        delta = np.array(results, np.int64).reshape(-1, width).T
        return np.ascontiguousarray(delta), np.concatenate(visits)

    def _swept(self, key: Words, rows: Iterable[list[int]], depth: int) -> Iterator[Words]:
        """The changes of a group, from its lines of `group_lines`."""
        sweep = Sweep(depth, key[len(key) - self.key :], self._reducer)
        for epoch, at in groupby(rows, key=itemgetter(1)):
            for _, _, strict, diff, *words in at:
                sweep.add(tuple(words), diff, strict)
            change = sweep.refresh()
            if epoch != NONE:
                yield from ((*key, *row, epoch, n) for row, n in change.items() if n)


class Sweep:
    """The corners of a group, while its rows are added one by one; there is one for each subset of rounds."""

    def __init__(self, depth: int, key: Words, reducer: Reducer) -> None:
        self._corners = [Corner() for _ in range(1 << depth)]
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
