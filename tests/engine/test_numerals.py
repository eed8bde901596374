"""Numbers beyond a word's digits: their words keep sign and magnitude, their texts order."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.codec.numerals import (
    are_special,
    is_wide,
    number_of,
    numbers_of,
    rank_of,
    special_of,
    word_of,
    words_of_numbers,
)
from engine.codec.ordered_text import text_word, word_text
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


SPECIALS = (-inf, inf, nan)


@given(NUMBERS)
def test_specials_stand_beyond_all_numbers(number: int) -> None:
    dictionary = Dictionary()
    numbers = sorted((*SPECIALS, number), key=rank_of)
    assert str(numbers) == str([-inf, number, inf, nan])
    words = words_of_numbers(numbers, dictionary)
    assert are_special(words, dictionary).tolist() == [True, False, True, True]
    for one, other in pairwise(words):
        is_text = is_wide(np.array([one, other])).all() and (one < 0) == (other < 0)
        if is_text:
            assert dictionary.compare(np.array([one]), np.array([other]))[0] < 0
        else:
            assert one < other
    assert [str(found) for found in numbers_of(words, dictionary)] == list(map(str, numbers))
    texts = [word_text(each) for each in numbers]
    assert texts == sorted(texts) and list(map(str, map(text_word, texts))) == list(map(str, numbers))


@pytest.mark.parametrize("name", ["NaN", "nan", " Infinity", "INF", "+inf", "-Infinity ", "-inf"])
def test_names_of_specials_are_postgresqls(name: str) -> None:
    special = special_of(name)
    assert special is not None
    assert isnan(special) if name.lower() == "nan" else special == (-inf if "-" in name else inf)


@pytest.mark.parametrize("name", ["", "+nan", "-NaN", "infinit", "sNaN", "inf inity", "1"])
def test_other_texts_name_none(name: str) -> None:
    assert special_of(name) is None
