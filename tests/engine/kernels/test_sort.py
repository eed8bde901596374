"""Rows come out as Python sorts them, by whatever way the kernel takes."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.arrange import arrange, distinct_keys
from engine.kernels.narrow.batch_type import WORD
from engine.kernels.sort import NEAR, SMALL
from engine.kernels.words import NULL
from tests.seeds import SEED

SIZES = [0, 1, 2, SMALL, SMALL + 1, 100, 1_000, 20_000]
RANGES = [1, 3, 50, 10**6, 2**62]
NO_ROUNDS = np.empty(0, np.int64)


@pytest.mark.parametrize("bound", RANGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", [1, 3])
def test_arrange_sorts_and_consolidates(size: int, bound: int, width: int) -> None:
    rng = np.random.default_rng(SEED + size + width)
    words = rng.integers(-bound, bound, (width, size))
    delta = np.ascontiguousarray(np.vstack((words, rng.integers(1, 3, size), rng.choice([-1, 1], size))))

    batch = arrange(delta, np.arange(width + 1), NO_ROUNDS)

    sums: dict[tuple[int, ...], int] = {}
    for *row, diff in delta.T.tolist():
        sums[tuple(row)] = sums.get(tuple(row), 0) + diff
    assert batch.tolist() == sorted([*row, diff] for row, diff in sums.items() if diff)


def test_arrange_puts_the_key_first_and_adds_the_rounds() -> None:
    delta = np.array([[1, 2], [20, 10], [7, 7], [1, 1]])

    batch = arrange(delta, np.array([1, 0, 2]), np.array([3, 4]))

    assert batch.tolist() == [[10, 2, 3, 4, 7, 1], [20, 1, 3, 4, 7, 1]]


def test_many_equal_leading_words_are_sorted_by_the_next() -> None:
    rng = np.random.default_rng(SEED)
    delta = np.zeros((4, 5_000), np.int64)
    delta[0] = rng.integers(0, 3, 5_000)
    delta[1] = rng.permutation(5_000)
    delta[3] = 1

    batch = arrange(delta, np.arange(3), NO_ROUNDS)

    assert batch.tolist() == sorted(delta.T.tolist())


@pytest.mark.parametrize("size", [100, 3_000, 60_000])
def test_values_of_every_magnitude(size: int) -> None:
    """Most of a range agrees in its leading bits, however often it is split by them."""
    rng = np.random.default_rng(SEED + size)
    delta = np.zeros((4, size), np.int64)
    delta[0] = rng.choice([-1, 1], size) << rng.integers(0, 63, size)
    delta[1] = rng.integers(-9, 9, size) ** 19
    delta[2] = np.arange(size)
    delta[3] = 1

    batch = arrange(delta, np.arange(3), NO_ROUNDS)

    assert batch.tolist() == sorted(delta.T.tolist())


@pytest.mark.parametrize("least", [0, NULL])
@pytest.mark.parametrize("bound", [2, 500, 10**7, 2**62])
def test_more_rows_than_the_cache_holds(bound: int, least: int) -> None:
    """A NULL among small words leaves nothing but itself in the leading bits."""
    rng = np.random.default_rng(SEED + bound)
    size = NEAR // (4 * WORD) + 1_000
    delta = np.zeros((4, size), np.int64)
    delta[0] = rng.integers(0, bound, size)
    delta[0, :100] = least
    delta[1] = rng.permutation(size)
    delta[3] = 1

    batch = arrange(delta, np.arange(3), NO_ROUNDS)

    assert np.array_equal(batch, delta.T[np.lexsort((delta[1], delta[0]))])


def test_distinct_keys() -> None:
    batch = np.array([[1, 1, 0, 1], [1, 2, 0, 1], [3, 0, 0, 1]])
    assert distinct_keys(batch, 1).tolist() == [[1], [3]]
