"""Casts of numbers round as Python's decimals do, also in the middle, and refuse what is out of range."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from engine.kernels.casts import from_floats, rescale
from engine.kernels.floats import words_of
from engine.kernels.words import NULL

HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]
OTHERS = [-2.51, -0.49, 0.0, 0.49, 0.51, 2.49, 1e6]


@pytest.mark.parametrize(("to_even", "rounding"), [(True, ROUND_HALF_EVEN), (False, ROUND_HALF_UP)])
@pytest.mark.parametrize("power", [1.0, 100.0])
def test_floats_in_the_middle(power: float, to_even: bool, rounding: str) -> None:
    values = np.array([value / power for value in HALVES] + OTHERS)
    out = np.empty(len(values), np.int64)
    assert from_floats(words_of(values), power, to_even, -1e18, 1e18, out) == 0
    meant = [int(Decimal(float(value) * power).quantize(Decimal(1), rounding)) for value in values]
    assert out.tolist() == meant


def test_floats_beyond_the_bounds_fail_and_null_stays() -> None:
    words = np.append(words_of(np.array([9.4, 9.5, -10.5, np.nan, np.inf])), NULL)
    out = np.empty(len(words), np.int64)
    assert from_floats(words, 1.0, False, -10.0, 10.0, out) == 4
    assert out.tolist() == [9, NULL, NULL, NULL, NULL, NULL]


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_decimals_that_lose_digits_are_rounded_away_from_zero(digits: int) -> None:
    divisor = 10**digits
    words = np.arange(-3 * divisor, 3 * divisor + 1)
    out = np.empty(len(words), np.int64)
    assert rescale(words, 1, divisor, -(10**9), 10**9, out) == 0
    meant = [
        int(Decimal(word).scaleb(-digits).quantize(Decimal(1), ROUND_HALF_UP)) for word in words.tolist()
    ]
    assert out.tolist() == meant


def test_decimals_beyond_the_bounds_fail_and_null_stays() -> None:
    words = np.array([99, -99, 100, -100, NULL], np.int64)
    out = np.empty(len(words), np.int64)
    assert rescale(words, 10, 1, -999, 999, out) == 2
    assert out.tolist() == [990, -990, NULL, NULL, NULL]
