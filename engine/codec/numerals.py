"""Numerals: the numbers of a NUMERIC column that are too large for a word.

A NUMERIC's word is the number times 10**scale while that has at most 18 digits. A larger one, of up to 38,
has the word of a text that the dictionary keeps: `NUMERAL`, a digit for the sign, and the digits of the
number. The hash sees to it that the word has the number's sign and is greater in magnitude than all words of
the other kind (`engine.kernels.hashing`), so that words order as the numbers do unless both are numerals of
one sign; these are ordered by their texts. Only columns whose `Type.may_be_wide` can have them.
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
    """bool[n]: which words, of a column that may be wide, are numerals'. (NULL has no magnitude.)"""
    return np.abs(words) >= FIRST_NUMERAL


def explained(words: np.ndarray, type: Type) -> np.ndarray:
    """Those of a column's words that the dictionary explains: all but NULL of an interned kind, of numbers
    the wide ones."""
    if type.is_interned:
        return words[words != NULL]
    return words[is_wide(words)] if type.may_be_wide else words[:0]


def word_of(number: int, dictionary: Dictionary) -> int:
    """The word of a number times 10**scale."""
    return number if -FIRST_NUMERAL < number < FIRST_NUMERAL else dictionary.word(_text(number))


def number_of(word: int, dictionary: Dictionary) -> int:
    """The number times 10**scale that has a word, not NULL; KeyError for a numeral that is not known."""
    return word if -FIRST_NUMERAL < word < FIRST_NUMERAL else _number(dictionary.text(word))


def words_of(numbers: Iterable[int | None], dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of numbers, NULL for None."""
    return np.array([NULL if n is None else word_of(n, dictionary) for n in numbers], np.int64)


def numbers_of(words: np.ndarray, dictionary: Dictionary) -> list[int | None]:
    """The numbers of words, None for NULL."""
    return [None if word == NULL else number_of(word, dictionary) for word in words.tolist()]


def _text(number: int) -> str:
    """Texts order as their numbers: by sign, length and digits, turned round where less is more."""
    digits = str(abs(number))
    if number > 0:
        return f"{chr(NUMERAL)}1{len(digits):02}{digits}"
    return f"{chr(NUMERAL)}0{_DIGITS - len(digits):02}{digits.translate(_COMPLEMENT)}"


def _number(text: str) -> int:
    digits = text[4:]
    return int(digits) if text[1] == "1" else -int(digits.translate(_COMPLEMENT))
