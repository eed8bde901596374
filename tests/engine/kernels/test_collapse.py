"""A batch without its rounds has the sum of each row's diffs, and no row whose sums are all zero."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from engine.kernels.collapse import collapse, few_rows
from engine.kernels.narrow.narrow_rows import table_of


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


@pytest.mark.parametrize("is_range", [False, True])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_few_rows_are_those_of_all_batches_up_to_the_epoch(width: int, is_range: bool) -> None:
    rng = np.random.default_rng(width + 10 * is_range)
    positions = rng.permutation(width)
    for epoch in range(5):
        batches = [_sorted(rng.integers(0, 4, (size, width + 2)), width) for size in (0, 1, 30, 60)]
        low = np.array([[1], [3]], np.int64)
        high = low + rng.integers(0, 2, (2, 1)) if is_range else low
        sums: dict[tuple[int, ...], int] = defaultdict(int)
        differences = 0
        for row in np.concatenate(batches).tolist():
            is_wanted = any(a <= row[0] <= b for (a,), (b,) in zip(low.tolist(), high.tolist(), strict=True))
            differences += is_wanted
            if is_wanted and row[width] <= epoch:
                sums[tuple(row[:width])] += row[-1]
        expected = [
            [*(words[place] for place in positions), count]
            for words, count in sorted(sums.items())
            if count > 0
        ]
        table = table_of(batches)
        assert few_rows(table, low, high, positions, epoch, differences).T.tolist() == expected
        if differences:
            assert few_rows(table, low, high, positions, epoch, differences - 1).shape == (0, 0)


def _sorted(rows: np.ndarray, width: int) -> np.ndarray:
    """The rows as a batch: in the order of their words and epochs, with diffs from -1 to 2."""
    rows[:, -1] -= 1
    return np.ascontiguousarray(rows[np.lexsort(rows[:, width::-1].T)], np.int64)
