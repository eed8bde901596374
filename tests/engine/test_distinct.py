"""Equal columns: the same as numpy's `unique` finds, for any number of rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

from engine.state.distinct import differs, distinct, grouped, numbered
from tests.seeds import SEED


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("columns", [0, 1, 2, 7, 500])
def test_as_numpy_has_them(rows: int, columns: int) -> None:
    rng = np.random.default_rng([SEED, rows, columns])
    words = rng.integers(-3, 3, (rows, columns))
    expected, inverse = np.unique(words, axis=1, return_inverse=True)
    found, number = numbered(words)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(number, inverse.ravel())
    np.testing.assert_array_equal(distinct(words), expected)


def test_the_order_is_stable_and_the_first_of_each_group_comes_first() -> None:
    words = np.array([[2, 1, 2, 1, 2], [0, 5, 0, 5, 1]])
    order, group, firsts = grouped(words)
    assert order.tolist() == [1, 3, 0, 2, 4]
    assert group.tolist() == [0, 0, 1, 1, 2]
    assert firsts.tolist() == [1, 0, 4]


def test_columns_without_rows_are_all_equal() -> None:
    found, number = numbered(np.zeros((0, 3), np.int64))
    assert found.shape == (0, 1)
    assert number.tolist() == [0, 0, 0]


def test_differs_from_the_one_before() -> None:
    assert differs(np.array([4, 4, 5, 4])).tolist() == [True, False, True, True]
    assert differs(np.array([], np.int64)).tolist() == []
