"""The errors of a view over time: the messages of rows that fail, counted at any epoch, and remembered.

What was counted last stays valid as long as no error comes or goes, also for the epochs that follow.
"""

from __future__ import annotations

import operator

import numpy as np

from engine.state.dictionary import Dictionary
from engine.state.layer import Layer
from engine.state.reading import accumulate

_REMEMBERED = 2


class ErrorHistory:
    """The `layers` of message words whose sum is the history. It tells of no error before epoch `begins`. Any
    thread may read it."""

    def __init__(self, layers: tuple[Layer, ...] = (), begins: int = 0) -> None:
        self.begins = begins
        self.layers = tuple(layer for layer in layers if len(layer))
        self._found: dict[int, np.ndarray] = {}

    def __bool__(self) -> bool:
        return bool(self.layers)

    def with_layers(self, layers: tuple[Layer, ...]) -> ErrorHistory:
        """The history with these layers: itself if they are the same."""
        new = ErrorHistory(layers, self.begins)
        same = len(new.layers) == len(self.layers) and all(map(operator.is_, new.layers, self.layers))
        return self if same else new

    def at(
        self, time: int, masks: np.ndarray, dictionary: Dictionary, most: int | None = None
    ) -> list[tuple[str, int]]:
        """The messages at a time with their counts, sorted; the `most` frequent ones if there are more.

        `masks` are those of the times' order.
        """
        if time < self.begins:
            return []
        rows = self._counted(time, masks)
        if most is not None and len(rows) > most:
            rows = rows[np.argsort(-rows[:, -1], kind="stable")[:most]]
        return sorted((dictionary.text(word), count) for word, _, count in rows.tolist())

    def _counted(self, time: int, masks: np.ndarray) -> np.ndarray:
        """The words of the messages at a time, with their counts."""
        if not len(masks):  # times are epochs: after the last one that has errors, nothing changes
            time = min(time, max((layer.epochs.greatest for layer in self.layers), default=0))
        found = self._found.get(time)
        if found is None:
            rows = accumulate((layer.rows for layer in self.layers), 1, time, masks)
            found = rows[rows[:, -1] > 0]
            self._found = {**dict(list(self._found.items())[1 - _REMEMBERED :]), time: found}
        return found
