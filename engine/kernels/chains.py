"""Accumulated reduces, swept along a chain of a group's times: see `engine.operators.interesting_times`.

All rows are counted at every corner that they lie below. Published rows are counted separately too, because
the output of those alone was emitted before.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.reduce import clamped, finish_row, grow, parity


@njit
def _count(slots, i, strict, base):
    """Add a row to the corners that it lies below."""
    for s in range(base.shape[0]):
        if s & strict == s:
            for k in range(base.shape[1]):
                base[s, k] += slots[i, k]


@njit
def _take(positions, strict, old, slots, i, base, published):
    """Count all rows at the position of row i; returns the next row."""
    position = positions[i]
    while i < positions.shape[0] and positions[i] == position:
        _count(slots, i, strict[i], base)
        if old[i]:
            _count(slots, i, strict[i], published)
        i += 1
    return i


@njit
def _finish_corners(base, finish, position, sign, lines, start, written):
    """Settle the rows of all corners into the lines of a position."""
    for s in range(base.shape[0]):
        if base[s, 0] > 0:
            written = finish_row(base, s, finish, 0, position, sign * parity(s), lines, start, written)
    return written


@kernel(
    "int64[:,::1](int64[::1], int64[::1], boolean[::1], int64[:,::1], int64, int64, int64[:,::1])",
)
def sweep_sums(positions, strict, old, slots, start, bits, finish):
    """The changes of a group's aggregates along a chain, as lines [n, 4 + max(A, K)] of `finish_row`.

    `positions` [n] ascend, and take the place of epochs; `slots` [n, K] are the rows' diffs; `finish` is as
    in `reduce_sums`.
    """
    base = np.zeros((1 << bits, slots.shape[1]), np.int64)
    published = np.zeros_like(base)
    lines = np.empty((2 * positions.shape[0] + 16, 4 + max(finish.shape[0], slots.shape[1])), np.int64)
    written = 0
    i = 0
    while i < positions.shape[0]:
        position = positions[i]
        if position < start:
            i = _take(positions, strict, old, slots, i, base, published)
            continue
        while written + (4 << bits) > lines.shape[0]:
            lines = grow(lines)
        first = written
        written = _finish_corners(base, finish, position, -1, lines, first, written)
        written = _finish_corners(published, finish, position, 1, lines, first, written)
        i = _take(positions, strict, old, slots, i, base, published)
        written = _finish_corners(base, finish, position, 1, lines, first, written)
        written = _finish_corners(published, finish, position, -1, lines, first, written)
    return lines[:written]


@njit
def _clamped_corners(base, clamp):
    total = 0
    for s in range(base.shape[0]):
        total += parity(s) * clamped(base[s, 0], clamp)
    return total


@kernel(
    "int64[:,::1](int64[::1], int64[::1], boolean[::1], int64[:,::1], int64, int64, int64)",
)
def sweep_clamped(positions, strict, old, slots, start, bits, clamp):
    """The changes of a row's clamped multiplicity along a chain, as lines [n, 2] of position and diff."""
    base = np.zeros((1 << bits, 1), np.int64)
    published = np.zeros_like(base)
    lines = np.empty((positions.shape[0], 2), np.int64)
    written = 0
    i = 0
    while i < positions.shape[0]:
        position = positions[i]
        before = _clamped_corners(base, clamp) - _clamped_corners(published, clamp)
        i = _take(positions, strict, old, slots, i, base, published)
        change = _clamped_corners(base, clamp) - _clamped_corners(published, clamp) - before
        if position >= start and change != 0:
            lines[written, 0] = position
            lines[written, 1] = change
            written += 1
    return lines[:written]
