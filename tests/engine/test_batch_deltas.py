"""Rows of batches as a delta: of matrices and narrow batches, few and many, in part or whole."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.narrow.narrow_rows import NarrowRows
from engine.state.batch_deltas import delta_of


@pytest.mark.parametrize("rows", [1, 5000, 70_000])
def test_a_delta_has_the_columns_of_all_stretches(rows: int) -> None:
    random = np.random.default_rng(rows)
    matrix = random.integers(-(2**40), 2**40, (rows, 5))
    narrow = NarrowRows.of(random.integers(-9, 9, (rows, 5)))
    columns = (3, 0, 4)
    first, last = rows // 3, rows - rows // 4
    found = delta_of([(matrix, first, last), (matrix[:0], 0, 0), (narrow, 0, rows)], columns)
    expected = np.concatenate((matrix[first:last], narrow[:]))[:, columns].T
    assert found.flags.c_contiguous
    assert np.array_equal(found, expected)


def test_of_nothing_there_is_a_delta_without_rows() -> None:
    assert delta_of([], (1, 0)).shape == (2, 0)
