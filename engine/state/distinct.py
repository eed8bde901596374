"""Equal columns of a matrix of words, found by sorting.

numpy's `unique` does the same for columns as records, which is ten times slower and holds the interpreter.
"""

from __future__ import annotations

import numpy as np


def grouped(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A stable order of the columns of int64[K, n]; the group of each in that order, counted from 0; and the
    place of each group's first column. Groups are in the order of their words."""
    if len(words) == 1:
        order = words[0].argsort(kind="stable")
        new = differs(words[0][order])
    elif not len(words):
        order = np.arange(words.shape[1])
        new = order == 0
    else:
        order = np.lexsort(words[::-1])
        ordered = words[:, order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return order, np.cumsum(new) - 1, order[new]


def distinct(words: np.ndarray) -> np.ndarray:
    """The distinct columns of int64[K, n], in order."""
    return np.ascontiguousarray(words[:, grouped(words)[2]])


def numbered(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct columns [K, m] of int64[K, n], in order, and the place [n] of each column among them."""
    order, group, firsts = grouped(words)
    number = np.empty_like(group)
    number[order] = group
    return np.ascontiguousarray(words[:, firsts]), number


def differs(values: np.ndarray) -> np.ndarray:
    """Whether each value differs from the one before it; true for the first."""
    found = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=found[1:])
    return found
