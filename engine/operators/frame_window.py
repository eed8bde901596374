"""Window functions whose frames slide: by distance, over floats and over texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.neighbours.float_totals import block_totals
from engine.kernels.neighbours.sliding import reduce_frames
from engine.operators.framing import FrameFunctions
from engine.operators.interesting_times import Groups
from engine.operators.window import PlaceFigures, Reduced, WindowOperator


class FrameFigures(PlaceFigures):
    """The totals of floats before places, and the kernel that begins with them."""

    functions: FrameFunctions  # type: ignore[assignment]
    kinds = 1

    def of_batch(self, batch: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, ...]:
        return (block_totals(batch, self.functions.summed, self.codes, words),)

    def reduce(self, groups: Groups, texts: Sequence[np.ndarray]) -> Reduced:
        functions = self.functions
        return reduce_frames(  # type: ignore[no-any-return]
            groups.keys,
            groups.table,
            groups.published,
            *self.tables(groups.batches[: groups.published], texts[0]),
            functions.lines,
            functions.summed,
            functions.shape,
            functions.extent,
            self.codes,
            *texts,
        )


class FrameWindowOperator(WindowOperator):
    """The input's rows with their functions' values."""

    figures_of = FrameFigures
