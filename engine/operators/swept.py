"""COUNT, SUM, AVG and clamped multiplicities at times of several coordinates: kernels sweep the chains."""

from __future__ import annotations

import numpy as np

from engine.kernels.chains import sweep_clamped, sweep_sums
from engine.kernels.reduce import CLAMP_DISTINCT, CLAMP_POSITIVE, FINE
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.finishing import Finishing
from engine.operators.groupwise import GroupwiseOperator
from engine.operators.interesting_times import Chain, chains
from engine.operators.operator import Step
from engine.operators.slots import Finish
from engine.plan.nodes import Clamp


class Swept(GroupwiseOperator):
    """A reduce whose answer follows from sums of a group's diffs along each chain."""

    def _sweep(self, key: np.ndarray, rows: np.ndarray, is_new: np.ndarray, step: Step) -> np.ndarray:
        words, depth = self.source.width, len(step.rounds)
        found = [np.empty((self._words + 2, 0), np.int64)]
        for chain in chains(rows[:, words + depth], is_new, rows[:, words : words + depth], step):
            slots = np.ascontiguousarray(rows[chain.rows, words + depth + 1 :])
            found.append(self._changes(chain, chain.old(is_new), slots, step))
        changes = np.concatenate(found, axis=1)
        return np.concatenate((np.repeat(key[:, None], changes.shape[1], axis=1), changes))

    def _changes(self, chain: Chain, old: np.ndarray, slots: np.ndarray, step: Step) -> np.ndarray:
        """The changes of the answer along a chain: words, time and diff, [W + 2, n].

        `old` says which of the chain's rows count as published, and `slots` has the rows' diffs.
        """
        raise TypeError(f"{type(self).__name__} does not define _changes")


class SweptThreshold(Swept):
    """A bag's rows with clamped multiplicities."""

    def __init__(self, source: Arrangement, clamp: Clamp) -> None:
        super().__init__(source, source.width, 0)
        self._clamp = CLAMP_DISTINCT if clamp is Clamp.DISTINCT else CLAMP_POSITIVE

    def _changes(self, chain: Chain, old: np.ndarray, slots: np.ndarray, step: Step) -> np.ndarray:
        lines = sweep_clamped(chain.positions, chain.strict, old, slots, chain.start, chain.bits, self._clamp)
        return np.stack((chain.times(lines[:, 0]), lines[:, 1]))


class SweptSums(Swept):
    """COUNT, SUM and AVG from slots, which are accumulated in the diffs."""

    def __init__(
        self,
        source: Arrangement,
        finish: tuple[Finish, ...],
        labels: tuple[str, ...],
        failures: FailureLog,
    ) -> None:
        super().__init__(source, source.width, len(finish))
        self._finish = Finishing(finish, labels, failures)
        self.failures = failures

    def _changes(self, chain: Chain, old: np.ndarray, slots: np.ndarray, step: Step) -> np.ndarray:
        """The changes of the aggregates; sums that overflow become errors."""
        finish = self._finish.lines
        lines = sweep_sums(chain.positions, chain.strict, old, slots, chain.start, chain.bits, finish)
        times = chain.times(lines[:, 1])
        fine = lines[:, 3] == FINE
        words = lines[fine, 4 : 4 + len(finish)].T
        left = self._finish.finished(lines[~fine], times[~fine], step)
        return np.hstack((np.vstack((words, times[fine], lines[fine, 2])), left.delta))
