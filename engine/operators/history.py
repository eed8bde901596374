"""The output of a view, or the rows of a source, with every epoch that may still be read."""

from __future__ import annotations

import numpy as np

from engine.operators.arrangement import Arrangement
from engine.operators.operator import Operator
from engine.times import Frontier


class History(Arrangement):
    """An arrangement that keeps epochs apart from `trace.since` on."""

    def __init__(self, name: str, source: Operator, columns: tuple[int, ...], width: int) -> None:
        """`name` is the relation's."""
        super().__init__(source, columns, width, 0)
        self.name = name

    def publish(self, frontier: Frontier) -> None:
        batch: np.ndarray | None = self.batch
        if batch is not None:
            self.trace.insert(batch)
        self.trace.map(self._received)
        self.reset()
