"""A batch without its rounds has the sum of each row's diffs, and no row whose sums are all zero."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from engine.kernels.collapse import collapse


@pytest.mark.parametrize("diffs", [1, 3])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("width", [1, 2])
def test_rows_are_summed_over_all_rounds(width: int, depth: int, diffs: int) -> None:
    rng = np.random.default_rng(width + 2 * depth + 4 * diffs)
    rows = rng.integers(0, 3, (200, width + depth + 1 + diffs))
    rows[:, -diffs:] -= 1
    rows = rows[np.lexsort(rows[:, ::-1].T)]
    sums: dict[tuple[int, ...], np.ndarray] = defaultdict(lambda: np.zeros(diffs, np.int64))
    for row in rows:
        sums[tuple(row[:width].tolist())] += row[-diffs:]
    expected = [[*words, 9, *total.tolist()] for words, total in sorted(sums.items()) if total.any()]
    assert collapse(np.ascontiguousarray(rows), width, depth, 9).tolist() == expected


def test_what_cancels_over_the_rounds_is_gone() -> None:
    rows = np.array([[1, 0, 4, 1], [1, 2, 4, -1], [2, 0, 4, 1]], np.int64)
    assert collapse(rows, 1, 1, 9).tolist() == [[2, 9, 1]]
    assert collapse(rows[:0], 1, 1, 9).shape == (0, 3)
