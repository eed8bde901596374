"""Joining a large batch of changes with a trace in parts: pairs are counted, then written side by side; or
they are made some parts at a time, for readers that need no more of them together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from engine.errors import JoinTooLarge
from engine.kernels.join import (
    MOST_A_ROW,
    MOST_PAIRS,
    find_pairs,
    join,
    room_for_pairs,
    write_pairs,
)
from engine.kernels.layers import ROWS
from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.kernels.parallel import threads
from engine.kernels.parallel.key_parts import leading

TOGETHER = 8
"""Parts whose pairs are made together."""
Found = tuple[slice, np.ndarray, int, int]
"""Rows of the batch, where they meet the trace (`engine.kernels.join`), and the numbers of pairs in this step
and later."""
_START, _STOP = 1, 2
"""Of such a place, the columns with the rows of the batch."""


class DividedJoin:
    """A batch, which meets a trace in parts; see `engine.kernels.join.join`."""

    def __init__(
        self,
        batch: Batch,
        epoch: int,
        table: np.ndarray,
        key: int,
        width: int,
        depth: int,
        rounds: np.ndarray,
        columns: np.ndarray,
        masks: np.ndarray,
    ) -> None:
        self._batch = batch
        self._epoch = epoch
        self._table = table
        self._key = key
        self._trace = width, depth, rounds
        self._output = columns, masks

    def all(self) -> tuple[np.ndarray, np.ndarray, int]:
        """As `engine.kernels.join.join`; the pairs of a large batch come in the order of its parts."""
        batch, (width, depth, rounds), (columns, masks) = self._batch, self._trace, self._output
        if len(batch) < threads.LARGE:
            rows = as_matrix(batch)
            return join(rows, self._epoch, self._table, self._key, width, depth, rounds, columns, masks)  # type: ignore[no-any-return]
        found = threads.each(self._find, threads.parts_of(len(batch)))
        now = [0, *accumulate(now for *_, now, _ in found)]
        later = [0, *accumulate(later for *_, later in found)]
        out, rest, excess = self._room(now[-1], later[-1])
        if not excess:
            numbers = range(len(found))
            threads.each(lambda part: self._write(found[part], out, now[part], rest, later[part]), numbers)
        return out, rest, excess

    def by_parts(self) -> Iterator[np.ndarray]:
        """The pairs of one part after the other, without rounds. Raises JoinTooLarge if they are too many."""
        parts = threads.parts_of(len(self._batch))
        most = max(MOST_PAIRS, MOST_A_ROW * (len(self._batch) + int(self._table[:, ROWS].sum())))
        pairs = 0
        for first in range(0, len(parts), TOGETHER):
            found = threads.each(self._find, parts[first : first + TOGETHER])
            pairs += sum(now for *_, now, _ in found)
            if pairs > most:
                rest = threads.each(self._find, parts[first + TOGETHER :])
                raise JoinTooLarge.of(pairs + sum(now for *_, now, _ in rest), MOST_PAIRS)
            yield from threads.each(self._made, [it for it in found if len(it[1])])

    def _find(self, part: slice) -> Found:
        keys = leading(self._batch, part, self._key)
        places, now, later = find_pairs(keys, self._table, self._key, *self._trace)
        if len(places):
            first, last = int(places[:, _START].min()), int(places[:, _STOP].max())
            places[:, _START : _STOP + 1] -= first
            part = slice(part.start + first, part.start + last)
        return part, places, now, later

    def _room(self, now: int, later: int) -> tuple[np.ndarray, np.ndarray, int]:
        _, _, rounds = self._trace
        columns, _ = self._output
        return room_for_pairs(now, later, len(self._batch), self._table, rounds, columns)  # type: ignore[no-any-return]

    def _made(self, found: Found) -> np.ndarray:
        out, rest, _ = self._room(found[2], 0)
        self._write(found, out, 0, rest, 0)
        return out

    def _write(self, found: Found, out: np.ndarray, now: int, rest: np.ndarray, later: int) -> None:
        part, places, *_ = found
        if len(places):
            rows, room = self._batch[part], (out, now, rest, later)
            write_pairs(rows, self._epoch, self._table, places, *self._trace, *self._output, *room)
