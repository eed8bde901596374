"""The errors of a view over time: the messages of rows that fail, counted at any epoch, and remembered.

What was counted last stays valid as long as no error comes or goes, also for the epochs that follow.
"""

from __future__ import annotations

import operator

import numpy as np

from engine.state.dictionary import Dictionary
from engine.state.layer import Layer
from engine.state.reading import accumulate

Errors = tuple[tuple[str, int], ...]
"""Messages and their counts, sorted."""

_REMEMBERED = 2


class ErrorHistory:
    """The `layers` of message words whose sum is the history. Any thread may read it."""

    def __init__(self, layers: tuple[Layer, ...] = ()) -> None:
        self.layers = tuple(layer for layer in layers if len(layer))
        self._found: dict[int, Errors] = {}

    def __bool__(self) -> bool:
        return bool(self.layers)

    def with_layers(self, layers: tuple[Layer, ...]) -> ErrorHistory:
        """The history with these layers: itself if they are the same."""
        new = ErrorHistory(layers)
        same = len(new.layers) == len(self.layers) and all(map(operator.is_, new.layers, self.layers))
        return self if same else new

    def at(self, time: int, masks: np.ndarray, dictionary: Dictionary) -> Errors:
        """The errors at a time; `masks` are those of the times' order."""
        if not len(masks):  # times are epochs: after the last one that has errors, nothing changes
            time = min(time, max((layer.epochs.greatest for layer in self.layers), default=0))
        found = self._found.get(time)
        if found is None:
            rows = accumulate((layer.rows for layer in self.layers), 1, time, masks)
            counts = ((dictionary.text(word), count) for word, _, count in rows.tolist())
            found = tuple(sorted((message, count) for message, count in counts if count > 0))
            self._found = {**dict(list(self._found.items())[1 - _REMEMBERED :]), time: found}
        return found
