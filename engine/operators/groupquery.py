"""Groups whose result is a query's answer: one question covers the states of all touched groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.kernels.states import FROM, GROUP, NONE, SIGN, UNTIL, group_states
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
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

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        width = groups.keys.shape[1]
        deltas = [np.empty((width + self._words + 2, 0), np.int64)]
        later = [np.empty((0, groups.depth + width), np.int64)]
        for keys, table, published, rounds, _ in groups.blocks():
            states, rows, visits = group_states(
                keys, table, published, len(rounds), rounds, self.source.width - self.key
            )
            later.append(visits)
            if len(rows):
                deltas += self._answered(keys, states, rows, step)
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
