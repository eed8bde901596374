"""Histories: the output of a view, or the rows of a source, at every epoch that can still be read."""

from __future__ import annotations

import numpy as np

from engine.kernels.parallel.divided_sort import arrange_delta
from engine.operators.arrangement import Arrangement
from engine.operators.operator import NO_ROUNDS, Operator
from engine.state.packed_times import Frontier


class History(Arrangement):
    """An arrangement that keeps epochs apart from `trace.since` on."""

    keeps_epochs = True

    def __init__(self, name: str, source: Operator, columns: tuple[int, ...], width: int) -> None:
        """`name` is the relation's name."""
        super().__init__(source, columns, width, 0)
        self.name = name

    def begin_with(self, delta: np.ndarray, since: int) -> None:
        """Start with the differences of a delta at complete epochs, readable from `since` on."""
        self.trace.since = since
        batch = arrange_delta(delta, self.order, NO_ROUNDS)
        if len(batch):
            self.trace.insert(batch)
        self.reset()

    def publish(self, frontier: Frontier) -> None:
        self._insert(self.trace.since)
        self.reset()

    def forget(self, before: int, at_once: bool) -> bool:
        """Stop telling the epochs before `before` apart, now or as rows are merged; returns whether anything
        changed."""
        if before <= self.trace.since:
            return False
        self.trace.since = before
        if at_once:
            self.trace.finish()
            self.reset()
        return True
