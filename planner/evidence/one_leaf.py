"""The leaf below projections and filters, and what a row says of the leaf's row that it is made of."""

from __future__ import annotations

from collections.abc import Mapping

from engine.plan.expressions import ColumnRef
from planner.ir import Distinct, Project, Relational, Selection


def one_leaf(operator: Relational, goal: Mapping[int, int]) -> tuple[Relational, dict[int, int]]:
    """The operator below all projections, filters and DISTINCTs, and those of its words that are known if
    those of the goal are: what projections only pass on."""
    match operator:
        case Selection(input=input) | Distinct(input=input):
            return one_leaf(input, goal)
        case Project(input=input, items=items):
            passed = {e.index: goal[a.id] for a, e in items if isinstance(e, ColumnRef) and a.id in goal}
            return one_leaf(input, passed)
    return operator, {id: word for id, word in goal.items() if id in operator.ids}
