"""Time in plans: the clock, and rows that are there while it shows certain times.

The clock is a source of one row, the time of the epoch. It never goes back, and who feeds the engine says
what it is: in an advance it may change at any of the epochs. A view that depends on it changes with it, at
the cost of the rows that come or go.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PlanError
from engine.plan.node import Node, SameSchema, check_columns
from engine.plan.nodes import Source
from engine.schema import DATE, TIMESTAMP, Column, Schema

CLOCK = Source("now()", Schema((Column("now", TIMESTAMP, nullable=False),)))
"""The time of the epoch, in UTC: exactly one row, as soon as there is an epoch."""


_TODAY = Schema((Column("today", DATE, nullable=False),))


@dataclass(frozen=True)
class Temporal(SameSchema):
    """The rows of the input while `since` <= the clock < `until`, which are columns of theirs.

    Both are moments, as words of TIMESTAMP. Without `since`, or where it is NULL, a row is there from the
    beginning; without `until`, or where it is NULL, it stays.
    """

    since: int | None
    until: int | None
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        moments = tuple(column for column in (self.since, self.until) if column is not None)
        check_columns("a temporal node", moments, self.input.schema)
        if not moments:
            raise PlanError("a temporal node has no moment")
        if any(self.input.schema.types[column] != TIMESTAMP for column in moments):
            raise PlanError("a moment is no TIMESTAMP")

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, CLOCK)


@dataclass(frozen=True)
class Today(Node):
    """The date that the clock shows: one row, which changes once a day."""

    __hash__ = Node.__hash__

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return _TODAY

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (CLOCK,)
