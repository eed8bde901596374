"""Rows that fail: what evaluators report, and what a program returns.

An evaluator reports a `Failure`: the rows of its input that failed, and a function that makes their messages.
Messages are made at the end, because AND, OR, CASE and COALESCE drop the failures of rows whose value does
not depend on the part that failed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Failures:
    """The rows of a batch for which some expression fails, int64[k], ascending and unique, with messages.

    A row's message depends on the row and the expressions only, not on the batch.
    """

    rows: np.ndarray
    messages: list[str]


@dataclass(frozen=True)
class Failure:
    """`rows` int64[k] that failed; `explain` makes messages, given `places`, its own numbers of the rows."""

    rows: np.ndarray
    places: np.ndarray
    explain: Callable[[np.ndarray], list[str]]

    def among(self, keep: np.ndarray) -> Failure | None:
        """The failure of those rows where bool[n] `keep` is set; None if there are none."""
        kept = keep[self.rows]
        if kept.all():
            return self
        return Failure(self.rows[kept], self.places[kept], self.explain) if kept.any() else None

    def moved(self, rows: np.ndarray) -> Failure:
        """The same failure in the batch from which the rows int64[m] were taken."""
        return Failure(rows[self.rows], self.places, self.explain)


Report = list[Failure]
"""The list to which evaluators append failures, in an order that is the same for every batch."""


def keep(report: Report, failures: Report, rows: np.ndarray) -> None:
    """Append to `report` those `failures` where bool[n] `rows` is set."""
    report.extend(left for failure in failures if (left := failure.among(rows)) is not None)


def first_failures(report: Report) -> Failures | None:
    """The first failure of each row; None if there are no failures."""
    if not report:
        return None
    rows = np.concatenate([failure.rows for failure in report])
    unique, first = np.unique(rows, return_index=True)
    messages = [""] * unique.size
    start = 0
    for failure in report:
        wanted = np.flatnonzero((first >= start) & (first < start + failure.rows.size))
        texts = failure.explain(failure.places[first[wanted] - start])
        for position, text in zip(wanted.tolist(), texts, strict=True):
            messages[position] = text
        start += failure.rows.size
    return Failures(unique, messages)
