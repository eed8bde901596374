"""Exact comoments against Python's integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.kernels.limbs import LIMB, rounded
from engine.kernels.moments import PRODUCT_LIMBS, comoment, product_limb
from tests.seeds import SEED

EXTREMES = (0, 1, -1, 2**31, 2**32 - 1, -(2**32), 2**62, 2**63 - 1, -(2**63) + 1)


def _limbs(x: int, y: int) -> list[int]:
    return [product_limb(x, y, place) for place in range(PRODUCT_LIMBS)]


def test_limbs_make_the_product() -> None:
    rng = random.Random(SEED)
    for _ in range(500):
        x, y = (rng.choice((rng.choice(EXTREMES), rng.randint(-(2**63) + 1, 2**63 - 1))) for _ in range(2))
        limbs = _limbs(x, y)
        assert sum(limb << (LIMB * place) for place, limb in enumerate(limbs)) == x * y
        assert all(abs(limb) < 2**LIMB for limb in limbs)


@pytest.mark.parametrize("near", [0, 10**15, 2**63 - 200])
def test_comoments_are_exact(near: int) -> None:
    rng = random.Random(f"{near} {SEED}")
    for size in (1, 2, 3, 17, 400):
        spread = rng.choice((3, 100, 2**40 if near == 0 else 150))
        pairs = [
            (near - rng.randint(0, spread), rng.choice((-1, 1)) * near + rng.randint(-99, 99))
            for _ in range(size)
        ]
        products, halves = np.zeros(PRODUCT_LIMBS, np.int64), np.zeros((2, 2), np.int64)
        for pair in pairs:
            products += _limbs(*pair)
            for i, value in enumerate(pair):
                halves[i] += value >> LIMB, value & (2**LIMB - 1)
        exact = size * sum(x * y for x, y in pairs) - sum(x for x, _ in pairs) * sum(y for _, y in pairs)
        assert comoment(size, products, *halves.ravel()) == float(exact)


def test_rounding_is_that_of_python() -> None:
    rng = random.Random(SEED)
    for _ in range(500):
        number = rng.randint(-(2**200), 2**200) >> rng.randrange(200)
        if rng.random() < 0.3:
            number = (number >> 53 << 53) + rng.choice((0, 1, 2**52, 2**52 + 1))
        limbs = np.array([(abs(number) >> (LIMB * k)) & (2**LIMB - 1) for k in range(8)], np.int64)
        assert rounded(limbs if number >= 0 else -limbs, 0) == float(number)
