"""Groups whose result is a query's answer: one question covers the states of all touched groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.errors import InvalidValue
from engine.kernels.lookup import BLOCK
from engine.kernels.states import FROM, GROUP, NONE, SIGN, UNTIL, group_states
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.groupwise import Answer, Reducer, Words
from engine.operators.linear import consolidated
from engine.operators.operator import Step
from engine.scalar.questions import Question


class GroupQueryOperator(GroupOperator):
    """The answers to a question; the differences are those between the answers for a group's states."""

    pairs_changes = True

    def __init__(
        self, source: Arrangement, key: int, words: int, question: Question, failures: FailureLog
    ) -> None:
        """`words` is the number of words in an answer, without the key."""
        super().__init__(source, key)
        self._words = words
        self._question = question
        self.failures = failures

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self.source
        deltas = [np.empty((self.key + self._words + 2, 0), np.int64)]
        later = [np.empty((0, source.depth + self.key), np.int64)]
        for first in range(0, len(keys), BLOCK):
            block = keys[first : first + BLOCK]
            states, rows, visits = group_states(
                block, source.after(), source.published, source.width, source.depth, step.array
            )
            later.append(visits)
            if len(rows):
                deltas += self._answered(block, states, rows, step)
        delta = np.ascontiguousarray(np.concatenate(deltas, axis=1))
        return consolidated(delta), np.ascontiguousarray(np.concatenate(later))

    def _answered(
        self, keys: np.ndarray, states: np.ndarray, rows: np.ndarray, step: Step
    ) -> Iterator[np.ndarray]:
        """The answers that appear with the states, and those that disappear with them."""
        answers = self._question.ask(rows[:, 0], rows[:, 1], rows[:, 2:].T)
        failed = np.array(sorted(answers.reasons), np.int64)
        for edge, sign in ((FROM, 1), (UNTIL, -1)):
            happens, times = _edges(states[answers.groups], edge, sign)
            groups = states[answers.groups[happens], GROUP]
            yield np.concatenate((keys[groups].T, answers.words[:, happens], times))
            happens, times = _edges(states[failed], edge, sign)
            if happens.any():
                reasons = [answers.reasons[state] for state in failed[happens].tolist()]
                self.failures.add(reasons, times, step)


def _edges(states: np.ndarray, edge: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Which states have this edge, and their epochs there with the diffs, [2, n]."""
    happens = states[:, edge] != NONE
    of = states[happens]
    return happens, np.stack((of[:, edge], sign * of[:, SIGN]))


def asking(question: Question) -> Reducer:
    """A reducer that asks about one group. It raises InvalidValue if the query fails."""

    def reduce(key: Words, rows: Answer) -> Iterator[tuple[Words, int]]:
        alive = sorted((row, count) for row, count in rows.items() if count > 0)
        if not alive:
            return
        words = np.array([row for row, _ in alive], np.int64).reshape(len(alive), -1)
        counts = np.array([count for _, count in alive], np.int64)
        answers = question.ask(np.zeros(len(alive), np.int64), counts, words.T)
        if answers.reasons:
            raise InvalidValue(answers.reasons[0])
        for answer in answers.words.T.tolist():
            yield tuple(answer), 1

    return reduce
