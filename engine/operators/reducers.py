"""Reducers of a group's live rows whose words do not sort as values do.

Each takes words [n, 1] and counts [n], and gives the group's one row, of one word.
"""

from __future__ import annotations

import numpy as np

from engine.dictionary import Dictionary
from engine.operators.reduce import Reducer
from engine.schema import NULL


def extreme_text(dictionary: Dictionary, largest: bool) -> Reducer:
    """The least or largest text by code points."""
    choose = max if largest else min

    def reduce(words: np.ndarray, counts: np.ndarray) -> list[tuple[int, ...]]:
        values = [word for word in words[:, 0].tolist() if word != NULL]
        return [(choose(values, key=dictionary.text) if values else NULL,)]

    return reduce
