"""Wide arrangements: looked up by more keys than they are divided by, so every shard gets all new rows.

The published part can be read by all shards from files anyway. Of the new rows, a shard works on its own part
only; it keeps the other shards' parts beside it, to be looked up.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.layers import COLUMNS
from engine.kernels.narrow.narrow_rows import Batch
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.state.layer import Layer


class ForeignParts:
    """Other shards' parts of an arrangement's new batches: of the current step, and of earlier steps."""

    def __init__(self) -> None:
        self.current: list[np.ndarray] = []
        """The current step's batches."""
        self.earlier: list[np.ndarray] = []
        """The batches of earlier steps."""

    def end_step(self) -> None:
        """Count the current step's parts among the earlier ones."""
        self.earlier += self.current
        self.current = []


class WideArrangement:
    """An arrangement, perhaps entered into a loop, together with the other shards' parts of it."""

    def __init__(self, source: Arrangement | EnteredArrangement, foreign: ForeignParts) -> None:
        self._source = source
        self._foreign = foreign
        self.width = source.width
        self.depth = source.depth

    @property
    def batch(self) -> Batch | None:
        return self._source.batch

    @property
    def published(self) -> int:
        return self._source.published

    @property
    def changed(self) -> int:
        current = self._foreign.current if self._is_now else []
        return self._source.changed + sum(map(len, current))

    def look_up_by(self, key: int) -> None:
        self._source.look_up_by(key)

    def before(self) -> np.ndarray:
        if not self._is_now:
            return self.after()
        return self._with(self._source.before(), self._foreign.earlier)

    def after(self) -> np.ndarray:
        return self._with(self._source.after(), [*self._foreign.earlier, *self._foreign.current])

    @property
    def _is_now(self) -> bool:
        """Whether the changes belong to the current step."""
        return not isinstance(self._source, EnteredArrangement) or self._source.entering

    def _with(self, table: np.ndarray, batches: list[np.ndarray]) -> np.ndarray:
        wider = np.empty((len(table) + len(batches), COLUMNS), np.int64)
        wider[: len(table)] = table
        for line, batch in enumerate(batches, len(table)):
            Layer(batch).register(wider, line, 0)
        return wider
