"""Dear operators: which operator takes most of a view's time, memory or changes, and what would make it less.

A cure is offered only where it is known to help. It may change what the query means, which its author has to
judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.costs.view_cost import OperatorCost, ViewCost
from engine.plan.group_queries import GroupQuery
from engine.plan.nodes import Clamp, Filter, GroupBy, Join, Map, Node, Source, Threshold
from engine.plan.window_functions import Window
from planner.explain.analyze import nodes_of

_WORTH = 0.2
"""The part from which on an operator is worth a word."""
_MANY_PAIRS = 4.0
"""So many rows out for each one in are many."""
_FEW = 1_000
"""Fewer rows are not worth a cure."""
_OF_TABLES = "every row of the table is kept for a join: a condition on it keeps fewer"
_OF_PRODUCTS = "no columns are equated here, so every row meets every other: add a condition a.x = b.y"
_OF_LOOPS = "begin the recursion with fewer rows: put conditions of the query into its first part"


@dataclass(frozen=True)
class DearOperator:
    """The operator, by its place, that takes the greatest `part` of the view's `what`."""

    what: str
    place: int
    part: float
    cure: str | None


def dear_operators(cost: ViewCost) -> Iterator[DearOperator]:
    """The dearest operators in time, memory and changes, where one of them takes much."""
    figures: tuple[tuple[str, Callable[[OperatorCost], float]], ...] = (
        ("time", lambda each: each.seconds),
        ("memory", lambda each: each.memory),
        ("changes", lambda each: each.change_rows),
    )
    for what, figure in figures:
        values = [figure(each) for each in cost.operators]
        total = sum(values)
        place = max(range(len(values)), key=values.__getitem__)
        if total and values[place] >= _WORTH * total:
            yield DearOperator(what, place, values[place] / total, _cure(cost.operators[place]))


def _cure(operator: OperatorCost) -> str | None:
    if max(operator.taken, operator.rows, operator.kept, operator.change_rows) < _FEW:
        return None
    key = operator.operator.key
    made = _made_by(next(iter(nodes_of(key)), None))
    if isinstance(made, Join) and not made.left_keys:
        return _OF_PRODUCTS
    if isinstance(key, tuple):
        is_table = key[:1] == ("arrange",) and isinstance(made, Source)
        return _OF_TABLES if is_table else _OF_LOOPS if key[:1] == ("loop",) else None
    match made:
        case Join() if operator.rows > _MANY_PAIRS * operator.taken:
            return "a row meets many others here: if only sums of them are needed, GROUP BY before the join"
        case Window(keys=()):
            return "all rows are one window here: with PARTITION BY, a change reaches its own part alone"
        case GroupBy() | GroupQuery():
            return "a group is computed as a whole here: finer groups, or COUNT, SUM, MIN and MAX, cost less"
        case Threshold(clamp=Clamp.DISTINCT):
            return "duplicates are looked for here: if there are none, leave out DISTINCT, or use UNION ALL"
    return None


def _made_by(node: Node | None) -> Node | None:
    """The node that makes the rows which this one only takes over."""
    while isinstance(node, Map | Filter):
        node = node.input
    return node
