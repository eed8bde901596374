"""Join: two arrangements meet by key.

`Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB`, where B' is B after the step, and A is as before it.
"""

from __future__ import annotations

import numpy as np

from engine.errors import JoinTooLarge
from engine.kernels.join import MOST_PAIRS
from engine.kernels.narrow.narrow_rows import Batch
from engine.kernels.parallel.divided_join import join_batch
from engine.kernels.stepping import opcodes
from engine.operators.arrangement import ArrangementReader
from engine.operators.operator import Deferred, Instruction, Operator, Step


class JoinOperator(Operator):
    """The pairs of rows with equal keys; a result's words are chosen from both sides."""

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

    @property
    def instruction(self) -> Instruction:
        sides = (self.inputs[0], self.inputs[1])
        return Instruction(opcodes.JOIN, sides, self.key, self._from_left, self._from_right)

    def step(self, step: Step) -> None:
        self.out = self.deferred.take(step.rounds) if step.rounds else []
        left: ArrangementReader = self.inputs[0]  # type: ignore[assignment]
        right: ArrangementReader = self.inputs[1]  # type: ignore[assignment]
        changed = left.batch
        if changed is not None:
            self._pair(changed, left, right.after(), right, self._from_left, step)
        changed = right.batch
        if changed is not None:
            self._pair(changed, right, left.before(), left, self._from_right, step)

    def _pair(
        self,
        batch: Batch,
        side: ArrangementReader,
        table: np.ndarray,
        other: ArrangementReader,
        columns: np.ndarray,
        step: Step,
    ) -> None:
        now, later, excess = join_batch(
            batch,
            side.width + side.depth,
            table,
            self.key,
            other.width,
            other.depth,
            step.array,
            columns,
            step.masks,
        )
        if excess:
            raise JoinTooLarge.of(excess, MOST_PAIRS)
        if now.shape[1]:
            self.out.append(now)
        self.deferred.put_all(later, len(step.rounds), step.scope)
