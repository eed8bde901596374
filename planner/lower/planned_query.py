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
    the user's text that the plan's nodes come from.
    """

    plan: Node
    schema: Schema
    sql: str
    reads: frozenset[str]
    logical: RelationalProgram
    optimized: RelationalProgram
    spans: Spans = field(default_factory=dict, compare=False)
