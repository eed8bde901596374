"""Indexes by epoch: the rows of a batch that belong to a range of epochs, without a look at the others.

A batch is sorted by its words, so the rows of one epoch lie anywhere in it. Its least epoch is often that of
most of its rows: of a load, or of all history that was compacted. Those rows need no place in the index.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from engine.kernels.narrow.narrow_rows import NarrowColumn

FEW = 1024
"""Batches of up to this many rows are looked through."""

Places = np.ndarray | slice
"""Rows of a batch: their places int64[k], or a stretch."""

_NONE = slice(0, 0)


class EpochIndex:
    """The epochs of a batch's rows. Nothing is sorted before a range of epochs asks for some of the rows."""

    def __init__(self, epochs: np.ndarray | NarrowColumn) -> None:
        """`epochs` [n], n > 0, a column of the batch."""
        self._epochs = epochs
        self._order: np.ndarray | None = None
        self.least = int(epochs.min())
        self.greatest = int(epochs.max())

    @property
    def bytes(self) -> int:
        """The size of the index."""
        return 0 if self._order is None else self._order.nbytes

    def places(self, since: int, until: int) -> Places:
        """The rows at epochs after `since` up to `until`, in any order."""
        if self.greatest <= since or until < self.least:
            return _NONE
        if since < self.least and self.greatest <= until:
            return slice(None)
        if len(self._epochs) <= FEW:
            epochs = self._epochs[:]
            return np.flatnonzero((epochs > since) & (epochs <= until))
        order = self._sorted()
        if since < self.least and len(order) < len(self._epochs):
            return np.flatnonzero(self._epochs[:] <= until)
        return order[self._after(order, since) : self._after(order, until)]

    def count(self, since: int, until: int) -> int:
        """How many rows there are at epochs after `since` up to `until`."""
        places = self.places(since, until)
        if isinstance(places, slice):
            return len(self._epochs) if places.stop is None else 0
        return len(places)

    def _after(self, order: np.ndarray, epoch: int) -> int:
        """How many of the rows in `order` have an epoch up to this one."""
        return bisect_right(range(len(order)), epoch, key=lambda place: int(self._epochs[order[place]]))

    def _sorted(self) -> np.ndarray:
        """The rows sorted by epoch; without those at the least epoch if they are at least half of all."""
        order = self._order
        if order is None:
            later = np.flatnonzero(self._epochs[:] > self.least)
            if 2 * len(later) > len(self._epochs):
                later = np.arange(len(self._epochs))
            by_epoch = np.argsort(self._epochs[later], kind="stable")
            order = later[by_epoch].astype(np.int32 if len(self._epochs) < 2**31 else np.int64)
            self._order = order
        return order
