"""Clamped multiplicities: how often a bag's rows are there, at least never and perhaps at most once."""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.reduce import VALUES, delta_of, sweep

CLAMP_DISTINCT = 0
CLAMP_POSITIVE = 1


@njit(inline="always")
def _add(base, s, batch, j, width, diffs):
    """Count a row at a corner."""
    base[s, 0] += batch[j, diffs]


@njit(inline="always")
def _finish(base, s, clamp, lines, written):
    """The row's multiplicity at a corner."""
    if base[s, 0] <= 0:
        return 0
    return 1 if clamp[0, 0] == CLAMP_DISTINCT else base[s, 0]


@kernel(
    "Tuple((int64[:,::1], int64[:,::1]))(int64[:,::1], int64[:,::1], int64, int64, int64[::1], int64)",
)
def threshold(keys, table, old, depth, rounds, clamp):
    """The changes of a bag's clamped multiplicities, for the rows `keys` [m, W] at one step.

    `table` holds the published batches (the first `old`), then the new ones. Returns a delta [W + 2, n], and
    lines (rounds, row) to visit in later rounds.
    """
    how = np.full((1, 1), clamp)
    lines, later = sweep(_add, _finish, keys, table, old, keys.shape[1], rounds, 1, 0, how)
    return delta_of(keys, lines, VALUES, 0), later
