"""The first rows of each group, in a wanted order; MIN and MAX are the first of all."""

from __future__ import annotations

import numpy as np

from engine.kernels.ordered import AS_IS, arrange_ordered
from engine.kernels.top import reduce_top
from engine.operators.arrangement import Arrangement
from engine.operators.operator import Operator, Step
from engine.operators.reduce import GroupOperator

MOST = 2**61
"""Places beyond which no group has a row: what is above counts as this."""


class OrderedArrangement(Arrangement):
    """The input's rows by key, and then in a wanted order, as coded words (`engine.kernels.ordered`).

    Where rows come and go at a group's front, their differences pile up there until a merge
    cancels them. Readers count in `passed` how many they went past; when these are as many as the
    trace has, it is merged at once, so that a reader goes past few, and no row is merged more often
    than others were passed.
    """

    def __init__(
        self,
        source: Operator,
        key: tuple[int, ...],
        order: tuple[tuple[int, tuple[int, int]], ...],
        rest: tuple[int, ...],
        width: int,
        depth: int,
    ) -> None:
        """The words `key`, those of `order` with their codes, then `rest`, of an input of `width` words."""
        super().__init__(source, (*key, *(word for word, _ in order), *rest), width, depth)
        codes = [AS_IS] * len(key) + [code for _, code in order] + [AS_IS] * len(rest)
        self.codes = np.array(codes, np.int64).reshape(-1, 2)
        self.passed = 0

    def _arrange(self, delta: np.ndarray, step: Step) -> np.ndarray:
        return arrange_ordered(delta, self.order, step.array, self.codes)

    def publish(self, upper: int) -> None:
        super().publish(upper)
        if self.passed > self.trace.rows:
            self.trace.finish()
            self.reset()
            self.passed = 0


class TopK(GroupOperator):
    """The rows that have the places offset < p ≤ offset + limit of their group; a copy takes one."""

    def __init__(self, source: OrderedArrangement, key: int, offset: int, limit: int) -> None:
        super().__init__(source, key)
        self._offset = min(offset, MOST)
        self._limit = min(limit, MOST)

    @property
    def _ordered(self) -> OrderedArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self._ordered
        delta, later, passed = reduce_top(
            keys,
            source.after(),
            source.published,
            source.depth,
            step.array,
            source.codes,
            self._offset,
            self._limit,
        )
        source.passed += passed
        return delta, later
