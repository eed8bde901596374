"""ASOF: each left row meets the nearest right row, found in a trace by key and place."""

from __future__ import annotations

import numpy as np

from engine.kernels.neighbours.nearest import join_nearest
from engine.kernels.parallel.divided_sort import keys_of
from engine.kernels.rounds import distinct_rows
from engine.operators.operator import Operator, Step
from engine.operators.topk import OrderedArrangement


class NearestJoinOperator(Operator):
    """The left side's rows, each with its nearest of the right side (`engine.kernels.neighbours.nearest`).

    It has no rounds: in a loop, or where times are no epochs, pairs are joined (`plan.nearest_joins`).
    """

    pairs_changes = True

    def __init__(
        self,
        left: OrderedArrangement,
        right: OrderedArrangement,
        key: int,
        place: int,
        *,
        is_strict: bool,
        pads: bool,
    ) -> None:
        """`key` words lead both sides, and then the `place` words of the place, in reverse orders."""
        super().__init__([left, right])
        left.look_up_by(key)
        right.look_up_by(key)
        self.key = key
        self._words = key + place
        self._is_strict = is_strict
        self._pads = pads
        self.read = 0
        """Rows that the last step read."""

    def step(self, step: Step) -> None:
        self.out = []
        left: OrderedArrangement = self.inputs[0]  # type: ignore[assignment]
        right: OrderedArrangement = self.inputs[1]  # type: ignore[assignment]
        found = [keys_of(side.batch, self.key) for side in (left, right) if side.batch is not None]
        if not found:
            return
        keys = found[0] if len(found) == 1 else distinct_rows(np.concatenate(found))
        _, *texts = left.dictionary.store
        delta, counts = join_nearest(
            keys,
            self._words,
            self._is_strict,
            self._pads,
            left.after(),
            left.published,
            left.codes,
            right.after(),
            right.published,
            right.codes,
            *texts,
        )
        self.read, passed_left, passed_right = counts.tolist()
        left.passed += passed_left
        right.passed += passed_right
        if delta.shape[1]:
            self.out = [delta]
