"""Functions of a group's rows, evaluated anew for each of its states (`engine.kernels.states`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from engine.kernels.states import FROM, GROUP, NONE, UNTIL, group_states
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.linear import consolidated
from engine.operators.operator import Step
from engine.scalar.questions import Question

Words = tuple[int, ...]
Answer = dict[Words, int]
"""Rows of words with their counts, none of which is zero."""
Reducer = Callable[[Words, Answer], Iterable[tuple[Words, int]]]
"""Maps a group's key and its rows, at least one, to result rows with counts."""


class StatesOperator(GroupOperator):
    """A function of a group's rows, whose results change from one state of the group to the next."""

    knows_rounds = False

    def __init__(self, source: Arrangement, key: int, words: int) -> None:
        """`words` is the number of words in a result, without the key."""
        super().__init__(source, key)
        self._words = words

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        deltas = [np.empty((groups.keys.shape[1] + self._words + 2, 0), np.int64)]
        for block in groups.blocks():
            states, rows = group_states(*block[:3], self.source.width - self.key)
            if len(rows):
                deltas += self._answered(block, states, rows, step)
        return consolidated(np.ascontiguousarray(np.concatenate(deltas, axis=1))), groups.no_visits

    def _answered(
        self, groups: Groups, states: np.ndarray, rows: np.ndarray, step: Step
    ) -> Iterator[np.ndarray]:
        """The changes of the results for states and their rows (see `group_states`), led by their keys."""
        raise TypeError(f"{type(self).__name__} does not define _answered")


def _at_edges(
    states: np.ndarray, numbers: np.ndarray, words: np.ndarray, counts: np.ndarray
) -> Iterator[np.ndarray]:
    """Lines of `words` [R, a] that begin and end with the states int64[a] `numbers`, as deltas."""
    for edge, sign in ((FROM, 1), (UNTIL, -1)):
        epochs = states[numbers, edge]
        happens = epochs != NONE
        yield np.vstack((words[:, happens], epochs[happens], sign * counts[happens]))


class GeneralOperator(StatesOperator):
    """Any function of a group's rows, called in Python for each state."""

    def __init__(self, source: Arrangement, key: int, reducer: Reducer, words: int) -> None:
        super().__init__(source, key, words)
        self._reducer = reducer

    def _answered(
        self, groups: Groups, states: np.ndarray, rows: np.ndarray, step: Step
    ) -> Iterator[np.ndarray]:
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        numbers, starts = np.unique(rows[:, 0], return_index=True)
        names = list(map(tuple, groups.keys[states[numbers, GROUP]].tolist()))
        words, counts = list(map(tuple, rows[:, 2:].tolist())), rows[:, 1].tolist()
        results: list[Words] = []
        ends = [*starts[1:].tolist(), len(rows)]
        for number, name, low, high in zip(numbers.tolist(), names, starts.tolist(), ends, strict=True):
            given = dict(zip(words[low:high], counts[low:high], strict=True))
            answer = self._reducer(name[len(name) - self.key :], given)
            results += [(number, groups.sign * count, *name, *row) for row, count in answer]
        found = np.array(results, np.int64).reshape(-1, 2 + groups.keys.shape[1] + self._words).T
        yield from _at_edges(states, found[0], found[2:], found[1])


class GroupQueryOperator(StatesOperator):
    """The answers to a question, which covers the states of many groups."""

    pairs_changes = True

    def __init__(
        self, source: Arrangement, key: int, words: int, question: Question, failures: FailureLog
    ) -> None:
        super().__init__(source, key, words)
        self._question = question
        self.failures = failures

    def _answered(
        self, groups: Groups, states: np.ndarray, rows: np.ndarray, step: Step
    ) -> Iterator[np.ndarray]:
        rows = rows[rows[:, 1] > 0]
        answers = self._question.ask(rows[:, 0], rows[:, 1], rows[:, 2:].T)
        led = np.concatenate((groups.keys[states[answers.groups, GROUP]].T, answers.words))
        yield from _at_edges(states, answers.groups, led, np.full(len(answers.groups), groups.sign))
        failed = np.array(sorted(answers.reasons), np.int64)
        for numbers, *times in _at_edges(
            states, failed, failed[np.newaxis], np.full(len(failed), groups.sign)
        ):
            if len(numbers):
                reasons = [answers.reasons[number] for number in numbers.tolist()]
                self.failures.add(reasons, np.stack(times), step)
