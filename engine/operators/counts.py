"""How often a row may be there: counts stay below 2**62, so that no sum or product of them wraps around.

A batch is *light* if all its counts together are far below that, as nearly always. Only the rows of a batch
that is not light are looked up in the arrangement.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.arrange import distinct_keys
from engine.kernels.lookup import find_ranges
from engine.kernels.magnitudes import MOST, any_large, mass
from engine.kernels.narrow.narrow_rows import table_of
from engine.operators.operator import Step

LIGHT = 2.0**40
"""A batch whose counts add up to less than this is light."""


def require_small_counts(batch: np.ndarray, table: np.ndarray, distinct: int, epoch: int, step: Step) -> None:
    """Raise OverflowError if a row of the batch is in a table MOST times or more.

    The first `distinct` words tell rows apart, and `epoch` is the column of the epoch. Where times are not
    totally ordered, the differences at all times count, and fewer are allowed, because a reduce adds up a
    corner for each subset of a time's other coordinates.
    """
    keys = distinct_keys(batch, distinct)
    lows, highs = find_ranges(table, keys)
    corners = len(step.rounds) + max(len(step.masks) - 1, 0)
    in_order = corners == 0 and distinct == epoch
    if any_large(table, lows, highs, epoch, MOST / 2**corners, in_order):
        raise OverflowError("a row would be there too often")


def mass_of(batch: np.ndarray) -> float:
    """The sum of the magnitudes of a batch's last counts."""
    return mass(np.ascontiguousarray(batch[:, -1]))


def require_small_sums(parts: list[np.ndarray], words: int) -> None:
    """Raise OverflowError if a row of sorted parts of a batch cannot be added up.

    `words` are the columns that lead the counts.
    """
    if sum(map(mass_of, parts)) >= LIGHT:
        table = table_of(parts)
        for part in parts:
            lows, highs = find_ranges(table, distinct_keys(part, words))
            if any_large(table, lows, highs, words - 1, float(MOST), False):
                raise OverflowError("a count does not fit into 64 bits")
