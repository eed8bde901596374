"""Any function of a group's rows, re-evaluated at the group's interesting times.

Rows are swept once along their epochs; the function is called again at each of them that has new rows.
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


class GeneralOperator(GroupOperator):
    """Any function of a group's rows. Reads the whole group, and calls the function at each interesting
    time."""

    knows_rounds = False

    def __init__(self, source: Arrangement, key: int, reducer: Reducer, words: int) -> None:
        """`words` is the number of words in a result, without the key."""
        super().__init__(source, key)
        self._reducer = reducer
        self._words = words

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        results: list[Words] = []
        for block in groups.blocks():
            lines = group_lines(*block[:3], self.source.width - self.key)
            names = [tuple(key) for key in block.keys.tolist()]
            for group, rows in groupby(lines.tolist(), key=itemgetter(0)):
                results += self._swept(names[group], rows, block.sign)
        width = groups.keys.shape[1] + self._words + 2
        delta = np.array(results, np.int64).reshape(-1, width).T
        return np.ascontiguousarray(delta), groups.no_visits

    def _swept(self, name: Words, lines: Iterable[list[int]], sign: int) -> Iterator[Words]:
        """The changes of a group with this name, times `sign`, from its lines of `group_lines`."""
        key = name[len(name) - self.key :]
        rows: Answer = {}
        answer: Answer = {}
        for epoch, changes in groupby(lines, key=itemgetter(1)):
            for _, _, diff, *words in changes:
                _add(rows, tuple(words), diff)
            before, answer = answer, {}
            for row, count in self._reducer(key, rows) if rows else ():
                _add(answer, row, count)
            if epoch != NONE:
                yield from ((*name, *row, epoch, sign * n) for row, n in _difference(answer, before))


def _add(rows: Answer, row: Words, diff: int) -> None:
    """Count a row; one that is not there any more goes."""
    count = rows.pop(row, 0) + diff
    if count:
        rows[row] = count


def _difference(after: Answer, before: Answer) -> Iterator[tuple[Words, int]]:
    """The rows that change, with what their counts gain."""
    for row in {**before, **after}:
        gain = after.get(row, 0) - before.get(row, 0)
        if gain:
            yield row, gain
