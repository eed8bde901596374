"""Writes a narrow batch row by row, as a merge makes it.

Its columns get the bytes that both inputs need. Sums of diffs may need more: the rows written so far are then
written again, in a wider format.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.narrow.batch_type import WORD
from engine.kernels.narrow.narrow_rows import (
    Batch,
    NarrowRows,
    around,
    ends_in,
    ends_of,
    format_for,
    write_rows,
)

STRETCH = 4096
"""Rows that are written again at a time."""


_MOST = np.iinfo(np.int64).max


class NarrowWriter:
    """The rows written so far, of at most `room`, of which the last columns are `diffs` diffs."""

    def __init__(self, room: int, inputs: Sequence[Batch], diffs: int, since: int) -> None:
        """`inputs` are the batches that are merged, with epochs advanced to `since`."""
        fitting = around([ends_in(batch) for batch in inputs])
        np.maximum(fitting[:, -diffs - 1], since, out=fitting[:, -diffs - 1])
        self._room = room
        self._diffs = diffs
        self._written = 0
        self._known = np.array([[_MOST] * diffs, [-_MOST - 1] * diffs])
        """The least and greatest diffs that are written."""
        self._use(fitting)

    def _use(self, fitting: np.ndarray) -> None:
        """Begin an empty batch for words between these ends."""
        self._fitting = fitting
        self._format, self._stride = format_for(fitting)
        self._data = np.empty(self._room * self._stride + WORD, np.uint8)

    @property
    def bytes(self) -> int:
        """The bytes of the room."""
        return self._data.nbytes

    @property
    def rows(self) -> NarrowRows:
        """What is written so far. Words that are gone still count for their ends, diffs do not."""
        ends = self._fitting.copy()
        if self._written:
            ends[:, -self._diffs :] = self._known
        return NarrowRows(self._data, self._written, self._format, self._stride, ends)

    def write(self, rows: np.ndarray) -> int:
        """Write more rows, at least one; returns the place of the first."""
        start = self._written
        if not write_rows(rows, self._format, self._stride, self._data, start, self._known):
            self._widen(ends_of(rows))
            write_rows(rows, self._format, self._stride, self._data, start, self._known)
        self._written += len(rows)
        return start

    def _widen(self, ends: np.ndarray) -> None:
        """Write everything again in a format in which words between these ends fit too, and their sums with
        those that are there."""
        old, fitting = self.rows, around((self._fitting, ends))
        fitting[:, -self._diffs :] = around((fitting, fitting + ends))[:, -self._diffs :]
        self._use(fitting)
        for start in range(0, len(old), STRETCH):
            stretch = old[start : start + STRETCH]
            write_rows(stretch, self._format, self._stride, self._data, start, self._known)
