"""The result of planning a query."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.plan.nodes import Node
from engine.schema import Schema
from planner.ir import RelationalProgram
from planner.spans import Spans


@dataclass(frozen=True)
class PlannedQuery:
    """The engine plan, the schema of its rows under the user's names, its canonical text, the names of
    the tables and views that it refers to directly, the program before and after the passes, and the parts of
    the user's text that the plan's nodes come from. If the rows hold during periods of valid time, these are
    the last two columns of the plan, which the program does not have.
    """

    plan: Node
    schema: Schema
    sql: str
    reads: frozenset[str]
    logical: RelationalProgram
    optimized: RelationalProgram
    spans: Spans = field(default_factory=dict, compare=False)
    is_timed: bool = False

    @property
    def period(self) -> tuple[int, int] | None:
        """The positions of the period's columns."""
        width = len(self.schema)
        return (width - 2, width - 1) if self.is_timed else None
