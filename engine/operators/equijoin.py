"""Join: two arrangements meet by key.

`Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB`, where B' is B after the step, and A is as before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.errors import JoinTooLarge
from engine.kernels.join import MOST_PAIRS
from engine.kernels.narrow.narrow_rows import Batch
from engine.kernels.parallel import threads
from engine.kernels.parallel.divided_join import DividedJoin
from engine.kernels.stepping import opcodes
from engine.operators.arrangement import ArrangementReader
from engine.operators.operator import Deferred, Instruction, Operator, Step, WaitingOperator, pieces_of


class JoinOperator(WaitingOperator):
    """The pairs of rows with equal keys; a result's words are chosen from both sides.

    If it is `pulled`, those of large changes wait until they are asked for, some parts at a time.
    """

    pairs_changes = True

    def __init__(
        self, left: Operator, right: Operator, key: int, columns: tuple[tuple[int, int], ...]
    ) -> None:
        """`key` words lead both arrangements; `columns` has, for each result word, its side (0, 1) and word
        there."""
        super().__init__([left, right])
        for side in (left, right):
            side.look_up_by(key)  # type: ignore[attr-defined]
        self.key = key
        self._from_left = np.array([~word if side else word for side, word in columns], np.int64)
        self._from_right = np.array([word if side else ~word for side, word in columns], np.int64)
        self.deferred: Deferred = Deferred()
        self._waiting: list[DividedJoin] = []

    @property
    def instruction(self) -> Instruction:
        sides = (self.inputs[0], self.inputs[1])
        return Instruction(opcodes.JOIN, sides, self.key, self._from_left, self._from_right)

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds) if step.rounds else []
        left: ArrangementReader = self.inputs[0]  # type: ignore[assignment]
        right: ArrangementReader = self.inputs[1]  # type: ignore[assignment]
        if left.batch is not None:
            self._meet(left.batch, left, right.after(), right, self._from_left, step)
        if right.batch is not None:
            self._meet(right.batch, right, left.before(), left, self._from_right, step)
        self.waits = bool(self._waiting)

    def _meet(
        self,
        batch: Batch,
        side: ArrangementReader,
        table: np.ndarray,
        other: ArrangementReader,
        columns: np.ndarray,
        step: Step,
    ) -> None:
        """Pair a side's changes with the rows of the other one, now or when the reader asks for pairs."""
        if not len(table):
            return
        epoch, masks = side.width + side.depth, step.masks
        meeting = DividedJoin(
            batch, epoch, table, self.key, other.width, other.depth, step.array, columns, masks
        )
        if self.is_pulled and step.may_wait and len(batch) >= threads.LARGE:
            self._waiting.append(meeting)
            return
        now, later, excess = meeting.all()
        if excess:
            raise JoinTooLarge.of(excess, MOST_PAIRS)
        if now.shape[1]:
            self.out.append(now)
        self.deferred.put_all(later, len(step.rounds), step.scope)

    def pieces(self, step: Step) -> Iterator[np.ndarray]:
        yield from super().pieces(step)
        for meeting in self._waiting:
            for pairs in meeting.by_parts():
                self.made += pairs.shape[1]
                if step.meter is not None:
                    step.meter.ran(0, pairs.shape[1], 0)
                yield from pieces_of(pairs)

    def clear(self) -> None:
        super().clear()
        self._waiting.clear()
