"""Leading keys: where to look for the rows of a predicate that equates the first columns with literals.

Rows are sorted, so those that begin with given words are found without a look at the others. The predicate
still decides on each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product, takewhile

import numpy as np

from engine.schema import INTEGER_RANGES, Kind, Schema, Type
from engine.state.dictionary import Dictionary

MOST = 1024
"""The most keys to look for; beyond them all rows are read."""

Literals = Mapping[int, tuple[int | str, ...]]
"""By column, the values of which an accepted row has one."""


def leading_keys(
    literals: Literals, schema: Schema, order: Sequence[int], dictionary: Dictionary
) -> np.ndarray | None:
    """The words int64[m, P], distinct and sorted, one of which leads each row that a predicate accepts.

    `order` has the columns in the order by which rows are sorted. None if the literals say nothing about the
    first column, or too much.
    """
    words = {column: _words(schema.types[column], values, dictionary) for column, values in literals.items()}
    known = takewhile(lambda column: words.get(column) is not None, order)
    choices = [words[column] or [] for column in known]
    count = int(np.prod([len(choice) for choice in choices], dtype=np.float64))
    if not choices or count > MOST:
        return None
    return np.array(sorted(product(*choices)), np.int64).reshape(count, len(choices))


def are_enough(keys: np.ndarray, literals: Literals, schema: Schema) -> bool:
    """Whether every row that the keys lead has the literals' values. The word of a text may be another's."""
    return keys.shape[1] == len(literals) and all(schema.types[column].is_integer for column in literals)


def _words(type: Type, values: Sequence[int | str], dictionary: Dictionary) -> list[int] | None:
    """The distinct words of the values that the type has; None if values of another type are compared."""
    if type.kind in INTEGER_RANGES and all(isinstance(value, int) for value in values):
        low, high = INTEGER_RANGES[type.kind]
        return sorted({value for value in values if isinstance(value, int) and low <= value <= high})
    if type.kind is Kind.TEXT and all(isinstance(value, str) for value in values):
        return sorted({dictionary.word_if_known(value) for value in values if isinstance(value, str)})
    return None
