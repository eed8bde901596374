"""Groups whose result is a query's answer: one question covers the states of all touched groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.kernels.states import FROM, GROUP, NONE, UNTIL, group_states
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.linear import consolidated
from engine.operators.operator import Step
from engine.scalar.questions import Question


class GroupQueryOperator(GroupOperator):
    """The answers to a question; the differences are those between the answers for a group's states."""

    knows_rounds = False
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
        deltas = [np.empty((groups.keys.shape[1] + self._words + 2, 0), np.int64)]
        for block in groups.blocks():
            states, rows = group_states(*block[:3], self.source.width - self.key)
            if len(rows):
                deltas += self._answered(block, states, rows, step)
        return consolidated(np.ascontiguousarray(np.concatenate(deltas, axis=1))), groups.no_visits

    def _answered(
        self, groups: Groups, states: np.ndarray, rows: np.ndarray, step: Step
    ) -> Iterator[np.ndarray]:
        """The answers that appear with the states, and those that disappear with them."""
        answers = self._question.ask(rows[:, 0], rows[:, 1], rows[:, 2:].T)
        failed = np.array(sorted(answers.reasons), np.int64)
        for edge, diff in ((FROM, groups.sign), (UNTIL, -groups.sign)):
            happens, times = _edges(states[answers.groups], edge, diff)
            keys = groups.keys[states[answers.groups[happens], GROUP]]
            yield np.concatenate((keys.T, answers.words[:, happens], times))
            happens, times = _edges(states[failed], edge, diff)
            if happens.any():
                reasons = [answers.reasons[state] for state in failed[happens].tolist()]
                self.failures.add(reasons, times, step)


def _edges(states: np.ndarray, edge: int, diff: int) -> tuple[np.ndarray, np.ndarray]:
    """Which states have this edge, and their epochs there with the diff, [2, n]."""
    happens = states[:, edge] != NONE
    of = states[happens]
    return happens, np.stack((of[:, edge], np.full(len(of), diff)))
