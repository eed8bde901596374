"""Floats as words: equal values have one word, and words order as SQL orders the values."""

from __future__ import annotations

import struct

import numpy as np

from engine.kernels.arithmetic import float_basic
from engine.kernels.floats import floats_of, words_of
from engine.kernels.words import NULL

ASCENDING = [-np.inf, -1e300, -1.5, -5e-324, 0.0, 5e-324, 0.1, 1.5, 1e300, np.inf, np.nan]


def test_words_order_as_values_and_come_back() -> None:
    words = words_of(np.array(ASCENDING))
    assert (np.diff(words.astype(object)) > 0).all()
    assert NULL not in words.tolist()
    assert np.array_equal(floats_of(words), ASCENDING, equal_nan=True)


def test_there_is_one_zero() -> None:
    zeros = words_of(np.array([0.0, -0.0]))
    assert zeros.tolist() == [0, 0]
    computed = np.empty(1, np.int64)
    float_basic(2, words_of(np.array([-1.0])), zeros[:1], computed)
    assert computed.tolist() == [0]


def test_there_is_one_nan() -> None:
    patterns = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF]
    nans = np.array([struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in patterns])
    assert len(set(words_of(nans).tolist())) == 1
