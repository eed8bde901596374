"""COUNT, SUM, AVG and clamped multiplicities at times of several coordinates: kernels sweep the chains."""

from __future__ import annotations

import numpy as np

from engine.kernels.chains import sweep_clamped, sweep_sums
from engine.kernels.reduce import CLAMP_DISTINCT, CLAMP_POSITIVE
from engine.operators.arrangement import Arrangement
from engine.operators.chains import Chain, chains
from engine.operators.failures import FailureLog
from engine.operators.general import GroupwiseOperator
from engine.operators.operator import Step
from engine.plan import Clamp


class SweptThreshold(GroupwiseOperator):
    """A bag's rows with clamped multiplicities."""

    def __init__(self, source: Arrangement, clamp: Clamp) -> None:
        super().__init__(source, source.width, 0)
        self._clamp = CLAMP_DISTINCT if clamp is Clamp.DISTINCT else CLAMP_POSITIVE

    def _sweep(self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step) -> np.ndarray:
        words, depth = self.source.width, len(step.rounds)
        found: list[np.ndarray] = []
        for chain in chains(rows[:, words + depth], is_new, rows[:, words : words + depth], step):
            slots = np.ascontiguousarray(rows[chain.rows, words + depth + 1 :])
            arrays = (chain.positions, chain.strict, chain.old(is_new), slots)
            lines = sweep_clamped(*arrays, chain.start, chain.bits, self._clamp)
            found.append(np.stack((chain.times(lines[:, 0]), lines[:, 1])))
        return _with_key(key, np.empty((2, 0), np.int64), found)


class SweptSums(GroupwiseOperator):
    """COUNT, SUM and AVG from slots that are accumulated in the diffs."""

    def __init__(
        self,
        source: Arrangement,
        finish: tuple[tuple[int, int, int, int, int], ...],
        labels: tuple[str, ...],
        failures: FailureLog,
    ) -> None:
        """`finish` has a line an aggregate for the kernel; `labels` names them in messages."""
        super().__init__(source, source.width, len(finish))
        self._finish = np.array(finish, np.int64).reshape(-1, 5)
        self._labels = labels
        self.failures = failures

    def _sweep(self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step) -> np.ndarray:
        words, depth = self.source.width, len(step.rounds)
        found: list[np.ndarray] = []
        for chain in chains(rows[:, words + depth], is_new, rows[:, words : words + depth], step):
            slots = np.ascontiguousarray(rows[chain.rows, words + depth + 1 :])
            arrays = (chain.positions, chain.strict, chain.old(is_new), slots)
            lines = sweep_sums(*arrays, chain.start, chain.bits, self._finish)
            found.append(self._without_failures(lines, chain, step))
        return _with_key(key, np.empty((self._words + 2, 0), np.int64), found)

    def _without_failures(self, lines: np.ndarray, chain: Chain, step: Step) -> np.ndarray:
        """Aggregates, time and diff of the lines; those that overflow are errors instead."""
        times = chain.times(lines[:, 1])
        failed = lines[:, 3] >= 0
        if failed.any():
            messages = [f"overflow in {self._labels[a]}" for a in lines[failed, 3].tolist()]
            self.failures.add(messages, np.stack((times[failed], lines[failed, 2])), step)
        kept = ~failed
        return np.concatenate((lines[kept, 4:].T, times[None, kept], lines[None, kept, 2]))


def _with_key(key: np.ndarray, nothing: np.ndarray, found: list[np.ndarray]) -> np.ndarray:
    """A group's changes under its key."""
    changes = np.concatenate([nothing, *found], axis=1)
    return np.concatenate((np.repeat(key[:, None], changes.shape[1], axis=1), changes))
