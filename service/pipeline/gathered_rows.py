"""Rows that this process takes for a load, batch after batch: the words of good ones, the number of bad."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.judging.row_judge import RowJudge
from engine.runtime.execution import Scanned
from engine.state.dictionary import Dictionary
from service.errors import Invalid

SHOWN = 5
"""The most bad rows that a failure quotes."""


class GatheredRows:
    """The rows of one load. The words of a batch are all that is kept of it."""

    def __init__(self, judge: RowJudge, dictionary: Dictionary) -> None:
        self._judge = judge
        self._dictionary = dictionary
        self._parts: list[np.ndarray] = []
        self._rows = 0
        self._skipped = 0
        self._examples: list[str] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes the rows of a batch."""
        judged = self._judge.judged(batch, self._dictionary)
        self._skipped += int(judged.bad.sum())
        self._examples += judged.messages(SHOWN - len(self._examples))
        good = judged.good
        self._rows += good.shape[1]
        self._parts.append(good)

    def taken(self, skip_bad: bool) -> tuple[np.ndarray, Scanned]:
        """The words int64[W, n] of all rows. Raises Invalid for bad ones, unless they are to be skipped."""
        scanned = Scanned(self._rows, self._skipped, tuple(self._examples))
        if self._skipped and not skip_bad:
            raise _bad_rows(scanned)
        words = np.empty((len(self._judge.columns), self._rows), np.int64)
        at = 0
        self._parts.reverse()
        while self._parts:
            part = self._parts.pop()
            words[:, at : at + part.shape[1]] = part
            at += part.shape[1]
        return words, scanned


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
