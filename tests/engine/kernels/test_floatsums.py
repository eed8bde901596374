"""Sums of floats are exact until they are rounded once, and come back when values go."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from engine.kernels.floats import to_float, words_of
from engine.kernels.floatsums import arrange_floats, reduce_floats
from engine.kernels.narrow.narrow_rows import table_of
from engine.kernels.words import NULL
from tests.seeds import each_seed

NO_ROUNDS = np.empty(0, np.int64)
EDGES = [1e308, -1e308, 5e-324, -5e-324, 1e-310, 0.1, -0.1, 1e16, 1.0, -0.0, 1.7976931348623157e308]


def total(words: list[int], diffs: list[int], average: bool = False) -> list[float | None]:
    """What the values of one group come to, in the order of epochs at which that changes."""
    delta = np.vstack((np.zeros(len(words), np.int64), words, np.ones(len(words), np.int64), diffs))
    batch = arrange_floats(np.ascontiguousarray(delta), np.array([0, 2]), NO_ROUNDS, 1)
    out, _ = reduce_floats(np.array([[0]]), table_of([batch]), 0, 0, NO_ROUNDS, average)
    return [None if word == NULL else float(to_float(word)) for word in out[1].tolist()]


def exactly(values: list[float]) -> float:
    """The double nearest to the sum."""
    try:
        return float(sum(map(Fraction, values)))
    except OverflowError:
        return math.inf if sum(map(Fraction, values)) > 0 else -math.inf


@each_seed(20)
def test_sums_are_rounded_once(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        values = [
            rng.choice(EDGES)
            if rng.random() < 0.3
            else math.ldexp(rng.uniform(-1, 1), rng.randint(-1074, 1023))
            for _ in range(rng.randint(1, 12))
        ]
        assert total(words_of(np.array(values)).tolist(), [1] * len(values)) == [exactly(values)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, 1.0], math.nan),
    ],
)
def test_what_is_not_finite(values: list[float], expected: float) -> None:
    assert total(words_of(np.array(values)).tolist(), [1] * len(values)) == [
        pytest.approx(expected, nan_ok=True)
    ]


def test_nulls_are_skipped() -> None:
    one = int(words_of(np.array([1.5]))[0])
    assert total([NULL, one], [1, 2]) == [3.0]
    assert total([NULL, one], [3, 2], average=True) == [1.5]
    assert total([NULL], [2]) == [None]


def test_what_is_taken_back_leaves_nothing() -> None:
    huge, small = words_of(np.array([1e300, 1e-300])).tolist()
    assert total([huge, small, huge], [1, 1, -1]) == [1e-300]
    assert total([huge, huge], [1, -1]) == []
