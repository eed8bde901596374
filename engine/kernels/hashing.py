"""The content hash of texts: 64 bits from a text's UTF-8 bytes and a round.

Equal bytes and rounds have equal hashes in every process and on every platform: words are read little-endian
on any machine. Each step takes eight bytes, and is a bijection of the state for given bytes, and of the bytes
for a given state. So texts of the same length, up to eight bytes, never share a hash. The hash resists
accidents, not adversaries; the dictionary handles collisions.

A text that begins with `NUMERAL` stands for a number that is too large for a word (`engine.codec.numerals`);
its second byte is the sign. Its hash has that sign, and a magnitude of at least `FIRST_NUMERAL`, which no
number that is its own word has.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel

# Odd 64-bit fractions of the square roots of the first primes, and of the golden ratio.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROOT2 = np.uint64(0x6A09E667F3BCC909)
_ROOT3 = np.uint64(0xBB67AE8584CAA73B)
_ROOT7 = np.uint64(0xA54FF53A5F1D36F1)
_ROOT11 = np.uint64(0x510E527FADE682D1)

NUMERAL = 0x03
POSITIVE = ord("1")
FIRST_NUMERAL = 10**18
_NUMERALS = np.uint64(2**63 - FIRST_NUMERAL)

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
OFFSETS = types.Array(types.int64, 1, "C", readonly=True)


@njit(inline="always")
def eight(data, at):
    """The eight bytes from `at` on, least significant first; compiles to one load."""
    return (
        np.uint64(data[at])
        | np.uint64(data[at + 1]) << np.uint64(8)
        | np.uint64(data[at + 2]) << np.uint64(16)
        | np.uint64(data[at + 3]) << np.uint64(24)
        | np.uint64(data[at + 4]) << np.uint64(32)
        | np.uint64(data[at + 5]) << np.uint64(40)
        | np.uint64(data[at + 6]) << np.uint64(48)
        | np.uint64(data[at + 7]) << np.uint64(56)
    )


@njit(inline="always")
def _step(state, block):
    block *= _ROOT2
    block ^= block >> np.uint64(29)
    block *= _ROOT3
    state ^= block
    state = (state << np.uint64(25)) | (state >> np.uint64(39))
    return state * _ROOT7 + _ROOT11


@njit(inline="always")
def _finish(state):
    state ^= state >> np.uint64(32)
    state *= _GOLDEN
    state ^= state >> np.uint64(29)
    state *= _ROOT3
    return state ^ (state >> np.uint64(32))


@njit(inline="always")
def _numeral(hash, sign):
    size = np.int64(np.uint64(hash) % _NUMERALS) + FIRST_NUMERAL
    return size if sign == POSITIVE else -size


@kernel(types.int64[::1](OFFSETS, BYTES, types.int64))
def hash_texts(offsets, data, round):
    """The hashes int64[n] of the texts `data[offsets[i]:offsets[i + 1]]`, in the given round.

    `offsets` is int64[n + 1] in Arrow's layout, `data` uint8.
    """
    count = offsets.size - 1
    hashes = np.empty(count, np.int64)
    seed = _GOLDEN * np.uint64(round + 1)
    for i in range(count):
        at = offsets[i]
        end = offsets[i + 1]
        state = seed ^ (np.uint64(end - at) * _ROOT11)
        while at + 8 <= end:
            state = _step(state, eight(data, at))
            at += 8
        if at < end:
            block = np.uint64(0)
            shift = np.uint64(0)
            while at < end:
                block |= np.uint64(data[at]) << shift
                shift += np.uint64(8)
                at += 1
            state = _step(state, block)
        hashes[i] = np.int64(_finish(state))
        if offsets[i] + 1 < end and data[offsets[i]] == NUMERAL:
            hashes[i] = _numeral(hashes[i], data[offsets[i] + 1])
    return hashes
