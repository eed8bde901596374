"""Whole numbers of any size, in limbs of 32 bits: int64[n], the lowest first.

While numbers are added up, limbs may exceed 32 bits and have signs of their own, so that adding is linear.
Limbs are carried when the number is read.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LIMB = 32
MASK = 0xFFFFFFFF


@njit
def carry(limbs):
    """Bring all limbs but the last into [0, 2**32); the last one keeps the sign."""
    for k in range(limbs.shape[0] - 1):
        limbs[k + 1] += limbs[k] >> LIMB
        limbs[k] &= MASK


@njit
def magnitude(limbs):
    """Carry the limbs and make the number positive; returns its sign."""
    carry(limbs)
    if limbs[-1] >= 0:
        return 1
    for k in range(limbs.shape[0]):
        limbs[k] = -limbs[k]
    carry(limbs)
    return -1


@njit
def add_product(left, right, sign, out):
    """Add the product of two positive, carried numbers, with a sign, to `out`."""
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            if left[i] != 0 and right[j] != 0:
                product = np.uint64(left[i]) * np.uint64(right[j])
                out[i + j] += sign * np.int64(product & np.uint64(MASK))
                out[i + j + 1] += sign * np.int64(product >> np.uint64(LIMB))


@njit
def _bit_length(number):
    bits = 0
    while number > 0:
        number >>= 1
        bits += 1
    return bits


@njit
def _bits_at(limbs, first, count):
    """`count` (at most 62) bits of the number in `limbs`, from bit `first` on."""
    result = 0
    for k in range(count):
        position = first + k
        if (limbs[position >> 5] >> (position & 31)) & 1:
            result |= 1 << k
    return result


@njit
def rounded(limbs, exponent):
    """The double nearest to the number times 2**exponent, ties to even; destroys `limbs`."""
    sign = magnitude(limbs)
    top = limbs.shape[0] - 1
    while top >= 0 and limbs[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    length = top * LIMB + _bit_length(limbs[top])
    dropped = max(length - 53, 0)
    mantissa = _bits_at(limbs, dropped, min(length, 53))
    if dropped > 0:
        half = _bits_at(limbs, dropped - 1, 1)
        rest = False
        for position in range(dropped - 1):
            if (limbs[position >> 5] >> (position & 31)) & 1:
                rest = True
                break
        if half == 1 and (rest or mantissa & 1):
            mantissa += 1
    return sign * math.ldexp(np.float64(mantissa), dropped + exponent)
