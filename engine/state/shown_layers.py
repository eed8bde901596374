"""The batches of a trace as readers take them at one moment. A moment costs a copy of a few lines of the
trace's table; those batches that compiled code has inserted become layers once somebody reads them.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.layers import COLUMNS, WORD
from engine.state.layer import Layer


class NursedLayers:
    """What lies in nurseries of compiled code as layers, which are views of them: nothing is overwritten
    there.

    Any thread may ask. A batch that the last answer had is the same layer again.
    """

    __slots__ = ("_found", "_old", "newest")

    def __init__(self, newest: np.ndarray, old: NursedLayers | None = None) -> None:
        """With `old`, batches may still lie in its newest nursery."""
        self.newest = newest
        self._old = None if old is None else old.newest
        self._found: dict[int, Layer] = {} if old is None else old._found

    def at(self, lines: bytes) -> tuple[Layer, ...]:
        """The layers of some lines of a table."""
        known, found = self._found, {}
        for address, rows, columns, *_ in np.frombuffer(lines, np.int64).reshape(-1, COLUMNS).tolist():
            layer = known.get(address)
            if layer is None:
                layer = Layer(self._words(address, rows * columns).reshape(rows, columns))
            found[address] = layer
        self._found = found
        return tuple(found.values())

    def _words(self, address: int, count: int) -> np.ndarray:
        """So many words at an address."""
        nursery = self.newest
        start = (address - nursery.ctypes.data) // WORD
        if self._old is not None and not 0 <= start < len(nursery):
            nursery = self._old
            start = (address - nursery.ctypes.data) // WORD
        return nursery[start : start + count]


class ShownLayers:
    """Some layers and, behind them, the batches of some `lines` of a table, which lie in a nursery."""

    __slots__ = ("_layers", "_lines", "_nursed", "_settled")

    def __init__(
        self, settled: tuple[Layer, ...] = (), nursed: NursedLayers | None = None, lines: bytes = b""
    ) -> None:
        self._settled = settled
        self._nursed = nursed
        self._lines = lines
        self._layers: tuple[Layer, ...] | None = settled if nursed is None else None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All of them. Any thread may ask."""
        layers = self._layers
        if layers is None and self._nursed is not None:
            layers = self._layers = (*self._settled, *self._nursed.at(self._lines))
        return layers or ()
