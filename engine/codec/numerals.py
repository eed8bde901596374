"""Numerals: the numbers of a NUMERIC column that are too large for a word.

A NUMERIC's word is the number times 10**scale, as long as that has at most 18 digits. A larger number, of up
to 38 digits, has the word of a text in the dictionary: `NUMERAL`, a digit for the sign, and the number's
digits. The hash gives this word the number's sign, and a magnitude greater than all words of the first kind
(`engine.kernels.hashing`). So words sort as the numbers do unless both are numerals of one sign; these are
ordered by their texts. Only columns whose type `may_be_wide` can have numerals.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.kernels.hashing import FIRST_NUMERAL, NUMERAL
from engine.kernels.words import NULL
from engine.schema import Type
from engine.state.dictionary import Dictionary

_DIGITS = 100  # more than any number has
_COMPLEMENT = str.maketrans("0123456789", "9876543210")


def is_wide(words: np.ndarray) -> np.ndarray:
    """bool[n]: which words, of a column that may be wide, are numerals. (NULL has no magnitude.)"""
    return np.abs(words) >= FIRST_NUMERAL


def explained(words: np.ndarray, type: Type) -> np.ndarray:
    """The words of a column that are in the dictionary: all but NULL of an interned kind, and wide
    numbers."""
    if type.is_interned:
        return words[words != NULL]
    return words[is_wide(words)] if type.may_be_wide else words[:0]


def word_of(number: int, dictionary: Dictionary) -> int:
    """The word of a number times 10**scale."""
    return number if -FIRST_NUMERAL < number < FIRST_NUMERAL else dictionary.word(_text(number))


def number_of(word: int, dictionary: Dictionary) -> int:
    """The number times 10**scale of a word that is not NULL; KeyError for an unknown numeral."""
    return word if -FIRST_NUMERAL < word < FIRST_NUMERAL else _number(dictionary.text(word))


def words_of_numbers(numbers: Iterable[int | None], dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of numbers, NULL for None."""
    return np.array([NULL if n is None else word_of(n, dictionary) for n in numbers], np.int64)


def numbers_of(words: np.ndarray, dictionary: Dictionary) -> list[int | None]:
    """The numbers of words, None for NULL."""
    return [None if word == NULL else number_of(word, dictionary) for word in words.tolist()]


def _text(number: int) -> str:
    """A text that sorts as the number does: by sign, length and digits, both complemented for negative
    numbers."""
    digits = str(abs(number))
    if number > 0:
        return f"{chr(NUMERAL)}1{len(digits):02}{digits}"
    return f"{chr(NUMERAL)}0{_DIGITS - len(digits):02}{digits.translate(_COMPLEMENT)}"


def _number(text: str) -> int:
    digits = text[4:]
    return int(digits) if text[1] == "1" else -int(digits.translate(_COMPLEMENT))
