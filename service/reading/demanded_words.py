"""The words that a query demands in columns of a relation, as far as a lookup can compare its values.

A condition whose value does not fit its column is left out: then more rows are found, and DuckDB decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.kernels.words import NULL
from engine.schema import Type
from engine.state.dictionary import Dictionary
from planner.adhoc.comparands import ColumnBound, ColumnEquation
from service.reading.finding import Bounds, Words
from service.reading.lookup_words import Unfit, bound_word, words_of

_LEAST, _GREATEST = NULL + 1, -(NULL + 1)


def equated_words(
    equations: Iterable[ColumnEquation], types: Sequence[Type], dictionary: Dictionary
) -> dict[int, set[int]]:
    """By column, the words that all its equations allow."""
    found: dict[int, set[int]] = {}
    for equation in equations:
        column = equation.column
        try:
            words = set(words_of(equation, types[column], {}, dictionary))
        except Unfit:
            continue
        found[column] = found[column] & words if column in found else words
    return found


def bounded_words(bounds: Iterable[ColumnBound], types: Sequence[Type], dictionary: Dictionary) -> Bounds:
    """By column, the least and the greatest word between its bounds."""
    found: dict[int, tuple[int, int]] = {}
    for bound in bounds:
        column = bound.column
        try:
            word = bound_word(bound, types[column], {}, dictionary)
        except Unfit:
            continue
        low, high = found.get(column, (_LEAST, _GREATEST))
        found[column] = (low, min(high, word)) if bound.is_upper else (max(low, word), high)
    return found


def both(one: Words, other: Words) -> dict[int, set[int]]:
    """By column, the words that both allow."""
    found = {column: set(words) for column, words in one.items()}
    for column, words in other.items():
        found[column] = found[column] & set(words) if column in found else set(words)
    return found
