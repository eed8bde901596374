"""Arrangements of the scope outside, read inside a loop."""

from __future__ import annotations

import numpy as np

from engine.kernels.layers import COLUMNS
from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.kernels.stepping import opcodes
from engine.operators.arrangement import Arrangement, ArrangementReader
from engine.operators.operator import Instruction, Operator, Step
from engine.state.layer import Layer


class EnteredArrangement(Operator):
    """An arrangement of the scope outside, read inside a loop without a copy.

    Its changes happen at round 0; later rounds see them as part of the table. When the loop is rebuilt, all
    its rows are new at round 0, at the epoch of the change.
    """

    def __init__(self, source: Arrangement | EnteredArrangement) -> None:
        super().__init__([source])
        self.width: int = source.width
        self.depth: int = source.depth
        self.entering = False
        """Whether the changes outside happen in the current step."""
        self._whole: Layer | None = None
        self._table = np.empty((1, COLUMNS), np.int64)

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.ENTERED)

    def look_up_by(self, key: int) -> None:
        self._source.look_up_by(key)

    @property
    def _source(self) -> Arrangement | EnteredArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    @property
    def published(self) -> int:
        return self._source.published if self._whole is None else 0

    def step(self, step: Step) -> None:
        self.entering = step.entering

    @property
    def batch(self) -> Batch | None:
        if not self.entering:
            return None
        if self._whole is None:
            return self._source.batch
        return self._whole.matrix if len(self._whole) else None

    @property
    def changed(self) -> int:
        batch = self.batch
        return 0 if batch is None else len(batch)

    @property
    def has_changes(self) -> bool:
        return self.batch is not None

    def before(self) -> np.ndarray:
        if not self.entering:
            return self.after()
        return self._source.before() if self._whole is None else self._table[:0]

    def after(self) -> np.ndarray:
        if self._whole is None:
            return self._source.after()
        return self._table[: len(self._whole) > 0]

    def batches(self) -> list[Batch]:
        """The batches of `after()`, in the table's order."""
        if self._whole is None:
            return self._source.batches()
        return [self._whole.rows] if len(self._whole) else []

    @property
    def change(self) -> Batch | None:
        """What changes outside in the current step."""
        return self._source.batch

    @property
    def rows(self) -> int:
        """How many differences exist outside, without the current step's."""
        return sum(map(len, self._source.batches())) - (0 if self.change is None else len(self.change))

    @property
    def arrangement(self) -> Arrangement:
        """The arrangement itself, whatever scope it belongs to."""
        source = self._source
        while isinstance(source, EnteredArrangement):
            source = source._source
        return source

    def begin_rebuild(self, epoch: int) -> None:
        """Treat all rows outside as new at `epoch`, until `end_rebuild`."""
        source = self.arrangement
        whole = source.trace.merge_all(source.batches(), epoch)
        self._whole = Layer(whole).indexed(source.trace.key)
        self._whole.register(self._table, 0, source.trace.key)

    def end_rebuild(self) -> None:
        """Treat only the changes outside as new again."""
        self._whole = None

    def abandon(self) -> None:
        self.end_rebuild()


class ArrangementChanges(Operator):
    """An arrangement's changes as deltas, for readers that look nothing up."""

    def __init__(self, source: Operator) -> None:
        super().__init__([source])

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.CHANGES, (self.inputs[0],))

    def step(self, step: Step) -> None:
        source: ArrangementReader = self.inputs[0]  # type: ignore[assignment]
        batch = source.batch
        self.out = [] if batch is None else [np.ascontiguousarray(as_matrix(batch).T)]
