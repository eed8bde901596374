"""Stretches: the epochs of an advance, divided so that no step has many changes at many epochs.

A join pairs every change of a key with every other one, whether they exist together or not, and a window
looks at all new rows of a group at each of its epochs. One step over a long history would cost the square of
its length. Stretch by stretch, each step meets only what the epochs before it have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

import numpy as np

CHANGES = 512
"""A stretch ends once it has about so many changes: enough to pay for the steps, and few enough to pair."""

Input = TypeVar("Input")


def divide(deltas: Mapping[Input, np.ndarray]) -> Iterator[tuple[int | None, dict[Input, np.ndarray]]]:
    """The deltas of some inputs, stretch by stretch; each with the first epoch after it, None for the last.

    An epoch with more changes than a stretch has begins a stretch of its own.
    """
    ends = _ends(list(deltas.values()))
    if not ends:
        yield None, dict(deltas)
        return
    parts = {input: _divided(delta, ends) for input, delta in deltas.items()}
    for place, end in enumerate((*ends, None)):
        yield end, {input: part[place] for input, part in parts.items()}


def _ends(deltas: list[np.ndarray]) -> list[int]:
    """The first epoch after each stretch but the last."""
    every = np.concatenate([delta[-2] for delta in deltas])
    if (every == every[0]).all():
        return []
    epochs, counts = np.unique(every, return_counts=True)
    full = (np.cumsum(counts) - counts) // CHANGES
    begins = (full[1:] > full[:-1]) | (counts[1:] >= CHANGES)
    return epochs[1:][begins].tolist()  # type: ignore[no-any-return]


def _divided(delta: np.ndarray, ends: list[int]) -> list[np.ndarray]:
    """The parts of a delta, one for each stretch."""
    epochs = delta[-2]
    if (epochs[1:] < epochs[:-1]).any():
        order = np.argsort(epochs, kind="stable")
        delta, epochs = delta[:, order], epochs[order]
    return [np.ascontiguousarray(part) for part in np.split(delta, np.searchsorted(epochs, ends), axis=1)]
