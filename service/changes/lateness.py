"""Rows that come too late for the watermark of their table, and are left out.

A row is late if its time is before the greatest time that the table had before its request, less the delay.
So rows of one request never make each other late. The greatest time is maintained in an index of the engine,
as those of constraints are: after a start it is what it was. Rows without a time are never late.

A time that is infinite, or in a year that no calendar has, is refused: every later row would be late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from engine.codec.timestamps import EPOCH, MICROSECOND, timestamp_text
from engine.kernels.words import NULL
from engine.plan.nodes import AggregateSpec, Function, Node, Reduce, project
from engine.runtime.engine import Snapshot
from engine.schema import TIMESTAMP
from planner.relation import Relation, Watermark
from service.changes.index_names import index_name
from service.changes.table_changes import TableChanges
from service.errors import Invalid

_FIRST, _LAST = ((moment - EPOCH) // MICROSECOND for moment in (datetime.min, datetime.max))
"""The times that the column of a watermark may have: those of the years 1 to 9999."""


def newest_index(relation: Relation) -> dict[str, Node]:
    """The index that has the greatest time of a table with a watermark, by its name in the engine."""
    if relation.watermark is None:
        return {}
    times = project(relation.plan, (relation.schema.index(relation.watermark.column),))
    return {_name(relation): Reduce(times, (), (AggregateSpec(Function.MAX, 0, TIMESTAMP),))}


def newest_time(relation: Relation, snapshot: Snapshot) -> int:
    """The greatest time of a table with a watermark; NULL if it has none."""
    words, _ = snapshot.rows(_name(relation))
    return int(words[0, 0]) if words.shape[1] else NULL


def far_times(relation: Relation, changes: TableChanges) -> Iterator[tuple[Invalid, np.ndarray]]:
    """The fault of changes whose times a watermark cannot follow, and which they are, bool[n]; if any."""
    if relation.watermark is None:
        return
    column = relation.watermark.column
    times = changes.words[relation.schema.index(column)]
    far = (times != NULL) & ((times < _FIRST) | (times > _LAST)) & ~changes.removes
    if far.any():
        time = timestamp_text(int(times[far.argmax()]))
        yield (
            Invalid(
                f"has {time} in column {column} of table {relation.name}, whose watermark follows the times "
                "of the years 1 to 9999",
                "leave the time out, as NULL, if it is not known",
                code="time_too_far",
            ),
            far,
        )


def _name(relation: Relation) -> str:
    return index_name(relation.name, "newest")


@dataclass(frozen=True)
class Lateness:
    """Which rows are late: the times are in `column`, and the greatest one so far is `newest`."""

    column: int
    watermark: Watermark
    newest: int

    @classmethod
    def of(cls, relation: Relation, snapshot: Snapshot) -> Lateness | None:
        """That of a table in a snapshot; None if it has no watermark."""
        if relation.watermark is None:
            return None
        column = relation.schema.index(relation.watermark.column)
        return cls(column, relation.watermark, newest_time(relation, snapshot))

    @property
    def mark(self) -> int | None:
        """The time before which rows are late; None if none are."""
        return None if self.newest == NULL else int(self.watermark.after(np.array([self.newest]))[0])

    def late(self, words: np.ndarray, request: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Whether each of the rows int64[W, n], by requests int64[n] in order, is late. `counts` bool[n]
        marks the rows that requests which are made bring."""
        times = words[self.column]
        has_time = counts & (times != NULL)
        greatest = np.full(int(request.max(initial=-1)) + 2, NULL, np.int64)
        greatest[0] = self.newest
        np.maximum.at(greatest, request[has_time] + 1, times[has_time])
        before = np.maximum.accumulate(greatest)[request]
        return has_time & (before != NULL) & (times < self.watermark.after(before))
