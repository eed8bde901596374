"""Rows that this process takes for a load, batch after batch: the words of good ones, the number of bad."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.judging.row_judge import RowJudge
from engine.runtime.execution import Scanned
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ROOM
from service.errors import Invalid

SHOWN = 5
"""The most bad rows that a failure quotes."""
_MOST = 1 << 29
"""The most words of which a file is believed, before they are read, that it has so many."""


class GatheredRows:
    """The rows of one load. The words of a batch are all that is kept of it.

    They are judged into a matrix for `expected` rows, and into others of a batch each once that is full. If
    there are no more rows than were expected, they stay in its memory.
    """

    def __init__(self, judge: RowJudge, dictionary: Dictionary, expected: int = 0) -> None:
        self._judge = judge
        self._dictionary = dictionary
        self._width = len(judge.columns)
        self._room = self._room_for(expected if expected <= _MOST // self._width else 0)
        self._used = 0
        self._full: list[np.ndarray] = []
        self._rows = 0
        self._skipped = 0
        self._examples: list[str] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes the rows of a batch."""
        rows = batch.num_rows
        if self._used + rows > self._room.shape[1]:
            self._full.append(self._room[:, : self._used])
            self._room, self._used = self._room_for(rows), 0
        words = self._room[: self._width, self._used : self._used + rows]
        judged = self._judge.judged(batch, self._dictionary, words)
        bad = int(judged.bad.sum())
        self._skipped += bad
        self._examples += judged.messages(SHOWN - len(self._examples))
        if bad:
            words[:, : rows - bad] = judged.good
        self._used += rows - bad
        self._rows += rows - bad

    def taken(self, skip_bad: bool) -> tuple[np.ndarray, Scanned]:
        """The words of all rows, with room for their differences, int64[W + ROOM, n].

        Raises Invalid for bad rows, unless they are to be skipped.
        """
        scanned = Scanned(self._rows, self._skipped, tuple(self._examples))
        if self._skipped and not skip_bad:
            raise _bad_rows(scanned)
        if self._used == self._rows:
            self._room = _moved_together(self._room, self._rows)
            return self._room, scanned
        parts = [self._room[:, : self._used], *reversed(self._full)]
        self._full, self._room = [], self._room_for(0)
        whole = self._room_for(self._rows)
        at = 0
        while parts:
            part = parts.pop()[: self._width]
            whole[: self._width, at : at + part.shape[1]] = part
            at += part.shape[1]
        return whole, scanned

    def _room_for(self, rows: int) -> np.ndarray:
        return np.empty((self._width + ROOM, rows), np.int64)


def _moved_together(room: np.ndarray, rows: int) -> np.ndarray:
    """The words of so many rows at the beginning of a matrix, as a matrix in the same memory."""
    width, most = room.shape
    if rows == most:
        return room
    memory = room.reshape(-1)
    for line in range(1, width - ROOM):
        memory[line * rows : (line + 1) * rows] = room[line, :rows]
    return memory[: width * rows].reshape(width, rows)


def _bad_rows(scanned: Scanned) -> Invalid:
    """The error for a load with rows that do not fit the table."""
    count, messages = scanned.skipped, scanned.examples
    rest = count - len(messages)
    more = f"; and {rest} more" if rest else ""
    return Invalid(
        f"{count} bad {'row' if count == 1 else 'rows'}: {'; '.join(messages)}{more}",
        'use "bad_rows": "skip" to leave them out and count them',
        code="bad_rows",
    )
