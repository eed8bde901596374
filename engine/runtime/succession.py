"""Succession: a view gets another plan at an epoch, and its history goes on.

Before that epoch the history has the rows of the old plan, at it the difference between both, and then what
the new plan changes. So whoever reads an earlier epoch finds what was there, and whoever follows the view
finds one epoch that changes what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.words import NULL
from engine.operators.history import History
from engine.operators.linear import as_batch
from engine.state.layer import Layer
from engine.state.snapshot import RelationSnapshot


@dataclass(frozen=True, eq=False)
class Succession:
    """View `name` goes on as the maintained view `by` does, which is then gone, from epoch `epoch` on.

    `layers` are its history before, as rows of the new plan, which can be read from epoch `since` on.
    `difference` is a delta int64[W + 1, n] without epochs: the rows that `by` has more, or fewer.
    """

    name: str
    by: str
    epoch: int
    layers: tuple[Layer, ...]
    since: int
    difference: np.ndarray

    def fill(self, history: History) -> None:
        """Give the history of the new plan, which is empty, what it has at the epoch and before."""
        history.trace.since = self.since
        history.trace.map(self.layers)
        epochs = np.full((1, self.difference.shape[1]), self.epoch, np.int64)
        delta = np.vstack((self.difference[:-1], epochs, self.difference[-1:]))
        history.trace.insert(as_batch(delta))
        history.reset()


@dataclass(frozen=True, eq=False)
class Past:
    """What a view was before epoch `until`. `places` has the place of each of its columns in the relation, or
    -1 for a column that is NULL there."""

    relation: RelationSnapshot
    until: int
    places: tuple[int, ...]

    def delta(self, since: int, until: int) -> np.ndarray:
        """Its differences from epoch `since` on, as a delta int64[W + 2, n] that ends with nothing left at
        epoch `until`."""
        placed = self._placed(self.relation.delta(since))
        kept = placed[:, placed[-2] < until]
        taken = kept.copy()
        taken[-2], taken[-1] = until, -kept[-1]
        return np.concatenate((kept, taken), axis=1)

    def layers(self) -> tuple[Layer, ...]:
        """Its batches, whose rows have the places of the new columns."""
        if self.places == tuple(range(len(self.relation.schema))):
            return self.relation.layers
        batch = as_batch(self._placed(self.relation.delta(self.relation.since)))
        return (Layer(batch).narrowed,) if len(batch) else ()

    def _placed(self, delta: np.ndarray) -> np.ndarray:
        return np.vstack((placed(delta[:-2], self.places), delta[-2:]))


def placed(words: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """The columns at these places, with NULLs for -1."""
    nothing = np.full(words.shape[1], NULL, np.int64)
    rows = [nothing if place < 0 else words[place] for place in places]
    return np.ascontiguousarray(np.array(rows, np.int64).reshape(len(places), words.shape[1]))


def preceding(pasts: Sequence[Past], epoch: int, width: int) -> tuple[np.ndarray, int]:
    """The differences, int64[W + 2, n], that a view had before its plan came at `epoch`; and the first epoch
    that they tell. `pasts` are in order. What was before one that had errors, or is not kept, is not told."""
    parts = [np.empty((width + 2, 0), np.int64)]
    begins = epoch
    if pasts and pasts[-1].until != epoch:
        return parts[0], epoch
    for place in reversed(range(len(pasts))):
        past = pasts[place]
        before = pasts[place - 1].until if place else 0
        since = max(before, past.relation.since)
        if past.relation.errors or since >= begins:
            break
        parts.append(past.delta(since, begins))
        begins = since
        if since > before:
            break
    return np.concatenate(parts, axis=1), begins
