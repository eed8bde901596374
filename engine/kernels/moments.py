"""Exact comoments: n * sum(x * y) - sum(x) * sum(y), from sums that are kept in differences.

A product of two words is kept as four limbs of 32 bits with its sign, a sum of words as its high and low
halves. The result has some 220 bits, and is rounded once: nothing is lost if the values are large and close
together, and a retraction leaves no trace.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.limbs import LIMB, MASK, add_product, magnitude, rounded

PRODUCT_LIMBS = 4
_LIMBS = 10
"""Limbs of a comoment, with room for carries: six of the sum of products and two of the count, or four each
of two sums."""


@njit
def product_limb(x, y, place):
    """Limb `place` of the product of two words, with its sign."""
    low_x, high_x = np.uint64(abs(x) & MASK), np.uint64(abs(x) >> LIMB)
    low_y, high_y = np.uint64(abs(y) & MASK), np.uint64(abs(y) >> LIMB)
    mask, bits = np.uint64(MASK), np.uint64(LIMB)
    low = low_x * low_y
    one, other = low_x * high_y, high_x * low_y
    middle = (low >> bits) + (one & mask) + (other & mask)
    high = high_x * high_y + (one >> bits) + (other >> bits) + (middle >> bits)
    if place == 0:
        limb = low & mask
    elif place == 1:
        limb = middle & mask
    elif place == 2:
        limb = high & mask
    else:
        limb = high >> bits
    return -np.int64(limb) if (x < 0) != (y < 0) else np.int64(limb)


@njit
def comoment(count, products, x_high, x_low, y_high, y_low):
    """The comoment of `count` pairs, given the sums of their products' limbs, and both sums' halves."""
    total = np.zeros(_LIMBS, np.int64)
    number = np.array([count & MASK, count >> LIMB])
    sums = np.zeros((3, PRODUCT_LIMBS + 2), np.int64)
    for place in range(PRODUCT_LIMBS):
        sums[0, place] = products[place]
    sums[1, 0], sums[1, 1] = x_low, x_high
    sums[2, 0], sums[2, 1] = y_low, y_high
    sign = magnitude(sums[0])
    add_product(sums[0], number, sign, total)
    sign = magnitude(sums[1]) * magnitude(sums[2])
    add_product(sums[1, :4], sums[2, :4], -sign, total)
    return rounded(total, 0)
