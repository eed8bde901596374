"""Reducers of a group's live rows for which words do not sort or add up as values do.

Each takes words [n, 1] and counts [n], and gives the group's one row, of one word.
"""

from __future__ import annotations

import math

import numpy as np

from engine.dictionary import Dictionary
from engine.kernels.floats import floats_of, to_word
from engine.operators.reduce import Reducer
from engine.schema import NULL


def extreme_text(dictionary: Dictionary, largest: bool) -> Reducer:
    """The least or largest text by code points."""
    choose = max if largest else min

    def reduce(words: np.ndarray, counts: np.ndarray) -> list[tuple[int, ...]]:
        values = [word for word in words[:, 0].tolist() if word != NULL]
        return [(choose(values, key=dictionary.text) if values else NULL,)]

    return reduce


def sum_of_floats(words: np.ndarray, counts: np.ndarray) -> list[tuple[int, ...]]:
    """The sum, rounded once: it depends on the values alone, not on their order or history."""
    total = _sum(words, counts)
    return [(NULL if total is None else to_word(total),)]


def average_of_floats(words: np.ndarray, counts: np.ndarray) -> list[tuple[int, ...]]:
    total = _sum(words, counts)
    if total is None:
        return [(NULL,)]
    return [(to_word(total / int(counts[words[:, 0] != NULL].sum())),)]


def _sum(words: np.ndarray, counts: np.ndarray) -> float | None:
    present = words[:, 0] != NULL
    if not present.any():
        return None
    values = floats_of(np.ascontiguousarray(words[present, 0])) * counts[present]
    if not np.isfinite(values).all():
        return float(values.sum())
    try:
        return math.fsum(values)
    except OverflowError:
        return float(values.sum())
