"""Numerals: the numbers of a NUMERIC column that are too large for a word.

A NUMERIC's word is the number times 10**scale, as long as that has at most 18 digits. A larger number, of up
to 38 digits, has the word of a text in the dictionary: `NUMERAL`, a digit for the sign, and the number's
digits. The hash gives this word the number's sign, and a magnitude greater than all words of the first kind
(`engine.kernels.hashing`). So words sort as the numbers do unless both are numerals of one sign; these are
ordered by their texts. Only columns whose type `may_be_wide` can have numerals.

NaN and the infinities of PostgreSQL's NUMERIC are numerals too, beyond all numbers: -Infinity is less than
every number, Infinity greater, and NaN, which equals itself, the greatest. As numbers they are Python's
floats nan, inf and -inf, whose sums, differences and products with whole numbers are PostgreSQL's. Columns
whose type `has_specials` can have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isnan

import numpy as np

from engine.codec.ordered_text import digits_number, digits_text
from engine.kernels.hashing import FIRST_NUMERAL, NUMERAL
from engine.kernels.words import NULL
from engine.schema import Type
from engine.state.dictionary import Dictionary

Number = int | float
"""A number times 10**scale; a float is one of the specials nan, inf and -inf."""

_TEXTS = {"NaN": f"{chr(NUMERAL)}1N", "Infinity": f"{chr(NUMERAL)}1I", "-Infinity": f"{chr(NUMERAL)}0-"}
"""The texts of the specials' numerals, by their names; they sort as the specials do."""
SPECIALS = tuple(_TEXTS)
"""The names of the specials."""
INFINITIES = SPECIALS[1:]
_SPECIALS = {text: float(name) for name, text in _TEXTS.items()}
_SPELLING = re.compile(r"\s*(nan|[+-]?inf(?:inity)?)\s*", re.IGNORECASE)


def is_wide(words: np.ndarray) -> np.ndarray:
    """bool[n]: which words, of a column that may be wide, are numerals. (NULL has no magnitude.)"""
    return np.abs(words) >= FIRST_NUMERAL


def explained(words: np.ndarray, type: Type) -> np.ndarray:
    """The words of a column that are in the dictionary: all but NULL of an interned kind, and wide
    numbers."""
    if type.is_interned:
        return words[words != NULL]
    return words[is_wide(words)] if type.may_be_wide else words[:0]


def name_of(special: float) -> str:
    """The name of a special."""
    return "NaN" if isnan(special) else "Infinity" if special > 0 else "-Infinity"


def special_of(text: str) -> float | None:
    """The special that a text names in one of PostgreSQL's spellings; None if it names none."""
    found = _SPELLING.fullmatch(text)
    return float(found[1]) if found else None


def are_special(words: np.ndarray, dictionary: Dictionary, names: Iterable[str] = SPECIALS) -> np.ndarray:
    """bool[...]: which words of a column that `has_specials` are NaN or infinite, or one of the specials with
    these names."""
    found = np.isin(words, [dictionary.word_if_known(_TEXTS[name]) for name in names])
    for place in zip(*np.nonzero(found), strict=True):  # an unknown special may share its word with a number
        found[place] = isinstance(number_of(int(words[place]), dictionary), float)
    return found


def rank_of(number: Number) -> tuple[bool, Number]:
    """What sorts as numbers do, with NaN as the greatest."""
    return (True, 0) if isnan(number) else (False, number)


def word_of(number: Number, dictionary: Dictionary) -> int:
    """The word of a number times 10**scale."""
    return number if -FIRST_NUMERAL < number < FIRST_NUMERAL else dictionary.word(_text(number))  # type: ignore[return-value]


def number_of(word: int, dictionary: Dictionary) -> Number:
    """The number times 10**scale of a word that is not NULL; KeyError for an unknown numeral."""
    return word if -FIRST_NUMERAL < word < FIRST_NUMERAL else _number(dictionary.text(word))


def words_of_numbers(numbers: Iterable[Number | None], dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of numbers, NULL for None."""
    return np.array([NULL if n is None else word_of(n, dictionary) for n in numbers], np.int64)


def numbers_of(words: np.ndarray, dictionary: Dictionary) -> list[Number | None]:
    """The numbers of words, None for NULL."""
    return [None if word == NULL else number_of(word, dictionary) for word in words.tolist()]


def _text(number: Number) -> str:
    """A text that sorts as the number does: by sign, length and digits, both complemented for negative
    numbers."""
    if isinstance(number, float):
        return _TEXTS[name_of(number)]
    return f"{chr(NUMERAL)}{int(number > 0)}{digits_text(number)}"


def _number(text: str) -> Number:
    if text in _SPECIALS:
        return _SPECIALS[text]
    return digits_number(text[2:], text[1] == "1")
