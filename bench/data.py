"""Tables of random rows, and changes to them, as word and delta matrices.

All randomness comes from the generator that is passed in (`numpy.random.default_rng(SEED)`), so that a run
can be repeated change by change. Values are plain integers, which need no dictionary.

Shapes are the engine's: words are int64[columns, rows]; a delta adds the epoch and the diff.
"""

from __future__ import annotations

import numpy as np

SEED = 1


def random_words(rng: np.random.Generator, bounds: tuple[tuple[int, int], ...], rows: int) -> np.ndarray:
    """`rows` rows with each column uniform in its half-open range of `bounds`: int64[len(bounds), rows]."""
    words = np.empty((len(bounds), rows), np.int64)
    for column, (low, high) in zip(words, bounds, strict=True):
        column[:] = rng.integers(low, high, rows)
    return words


def insertion(words: np.ndarray, epoch: int) -> np.ndarray:
    """The delta that inserts every row of `words` at `epoch`."""
    columns, rows = words.shape
    delta = np.empty((columns + 2, rows), np.int64)
    delta[:columns] = words
    delta[columns] = epoch
    delta[columns + 1] = 1
    return delta


def replace(words: np.ndarray, positions: np.ndarray, new: np.ndarray, epoch: int) -> np.ndarray:
    """Put `new` at `positions` of `words`, in place; returns the delta: deletions, then insertions."""
    columns, rows = new.shape
    delta = np.empty((columns + 2, 2 * rows), np.int64)
    delta[:columns, :rows] = words[:, positions]
    delta[:columns, rows:] = new
    delta[columns] = epoch
    delta[columns + 1, :rows] = -1
    delta[columns + 1, rows:] = 1
    words[:, positions] = new
    return delta


def choose(rng: np.random.Generator, rows: int, count: int) -> np.ndarray:
    """`count` different positions among `rows`."""
    return rng.choice(rows, count, replace=False, shuffle=False)
