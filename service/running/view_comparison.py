"""Two states of a view compared: the maintained one, and one that was computed anew, at the same epoch.

Rows are compared as multisets. A row that fails is a part of the state too, as its message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.arrange import arrange
from engine.schema import Schema
from engine.state.reading import Rows

SHOWN = 10
"""The most differing rows, and messages, that a comparison has."""
Errors = Sequence[tuple[str, int]]
"""Messages, with the number of rows that fail so."""
_NO_ROUNDS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class ViewComparison:
    """A view at `epoch`: `rows` is their number, and `differing` of the distinct ones differ.

    `words` int64[W, k] are the first of those, with their counts as `maintained` and as `recomputed`.
    `errors` are differing messages, each with these two counts. `texts` keeps the texts of the words.
    """

    name: str
    epoch: int
    schema: Schema
    rows: int
    differing: int
    words: np.ndarray
    maintained: np.ndarray
    recomputed: np.ndarray
    errors: tuple[tuple[str, int, int], ...]
    texts: object

    @property
    def is_equal(self) -> bool:
        return not self.differing and not self.errors


def compare(
    name: str,
    epoch: int,
    schema: Schema,
    maintained: tuple[Rows, Errors],
    recomputed: tuple[Rows, Errors],
    texts: object,
) -> ViewComparison:
    """Compare the rows, with words in the schema's order, and the errors of two states."""
    (words, counts), (new_words, new_counts) = maintained[0], recomputed[0]
    width = len(schema)
    delta = np.zeros((width + 2, words.shape[1] + new_words.shape[1]), np.int64)
    delta[:width] = np.concatenate([words, new_words], axis=1)
    delta[-1] = np.concatenate([-counts, new_counts])
    differing = arrange(delta, np.arange(width + 1), _NO_ROUNDS)
    shown = np.ascontiguousarray(differing[:SHOWN, :width].T)
    old, new = dict(maintained[1]), dict(recomputed[1])
    errors = ((text, old.get(text, 0), new.get(text, 0)) for text in sorted(old.keys() | new.keys()))
    return ViewComparison(
        name,
        epoch,
        schema,
        int(counts.sum()),
        len(differing),
        shown,
        _counted(words, counts, shown),
        _counted(new_words, new_counts, shown),
        tuple(error for error in errors if error[1] != error[2])[:SHOWN],
        texts,
    )


def _counted(words: np.ndarray, counts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How often each of the wanted rows [W, k] is there, int64[k]."""
    found = [counts[(words == row[:, np.newaxis]).all(axis=0)].sum() for row in wanted.T]
    return np.array(found, np.int64)
