"""Time in plans: the clock, and rows that exist while a clock shows certain times.

The clock is a source of one row, the time of the epoch. Its time never goes back; the engine's user feeds it,
and in an advance it may change at any of the epochs. A view that depends on the clock changes with it, at the
cost of the rows that come or go. Any other node of at most one row serves as a clock too, if its time never
goes back: the greatest time of an input that only grows.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PlanError
from engine.plan.node import Node, SameSchema, check_columns
from engine.plan.nodes import Source
from engine.schema import DATE, TIMESTAMP, Column, Schema

CLOCK = Source("now()", Schema((Column("now", TIMESTAMP, nullable=False),)))
"""The time of the epoch, in UTC: exactly one row, from the first epoch on."""


_TODAY = Schema((Column("today", DATE, nullable=False),))


@dataclass(frozen=True, eq=False)
class Temporal(SameSchema):
    """The input's rows while `since` <= the clock < `until`, two columns of the row.

    As long as a clock has no row, it shows the beginning. Both columns are moments, as words of TIMESTAMP. A
    row without `since`, or with NULL there, exists from the beginning; one without `until`, or with NULL
    there, stays.
    """

    since: int | None
    until: int | None
    clock: Node = CLOCK

    def __post_init__(self) -> None:
        if self.clock.schema.types != CLOCK.schema.types:
            raise PlanError("a clock is one column of TIMESTAMP")
        moments = tuple(column for column in (self.since, self.until) if column is not None)
        check_columns("a temporal node", moments, self.input.schema)
        if not moments:
            raise PlanError("a temporal node has no moment")
        if any(self.input.schema.types[column] != TIMESTAMP for column in moments):
            raise PlanError("a moment is not a TIMESTAMP")

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, self.clock)

    @property
    def only_grows(self) -> bool:  # type: ignore[override]
        return self.until is None and self.input.only_grows


@dataclass(frozen=True, eq=False)
class Today(Node):
    """The clock's date: one row, which changes once a day."""

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return _TODAY

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (CLOCK,)
