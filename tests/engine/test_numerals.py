"""Numbers beyond a word's digits: their words keep sign and magnitude, their texts order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.codec.numerals import is_wide, number_of, numbers_of, word_of, words_of_numbers
from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary

NUMBERS = st.one_of(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(-(10**19), 10**19))
FIRST = 10**18


@given(NUMBERS)
def test_a_number_comes_back_and_its_word_keeps_its_side(number: int) -> None:
    dictionary = Dictionary()
    word = word_of(number, dictionary)
    assert number_of(word, dictionary) == number
    assert (word > 0) == (number > 0) and (word == 0) == (number == 0)
    assert (abs(word) >= FIRST) == (abs(number) >= FIRST)
    assert word == number or abs(number) >= FIRST
    assert word != NULL and -(2**63) < word < 2**63


@given(NUMBERS, NUMBERS)
def test_wide_numbers_order_as_their_texts(one: int, other: int) -> None:
    dictionary = Dictionary()
    left, right = words_of_numbers((one, None), dictionary), words_of_numbers((other, None), dictionary)
    if is_wide(left)[0] and is_wide(right)[0]:
        assert dictionary.compare(left[:1], right[:1])[0] == (one > other) - (one < other)
    elif one != other:
        assert (left[0] < right[0]) == (one < other)
    assert numbers_of(left, dictionary) == [one, None]


def test_null_is_not_wide() -> None:
    assert is_wide(np.array([NULL, FIRST, -FIRST, FIRST - 1, 0])).tolist() == [
        False,
        True,
        True,
        False,
        False,
    ]
