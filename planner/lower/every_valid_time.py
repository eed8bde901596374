"""A query over relations with valid time, at every valid time at once: its rows with their periods."""

from __future__ import annotations

from collections.abc import Mapping

from engine.plan.clocked import Temporal
from engine.plan.node import Node
from engine.plan.periods import during
from planner.errors import InvalidQuery, Unsupported
from planner.relation import Relation, with_period_last
from planner.rewriting.valid_times import FROM, TO

_NOW = "read the tables FOR VALID_TIME AS OF now(), or compare with the time in a view over this one"


def at_every_valid_time(plan: Node, timed: Mapping[str, Relation]) -> Node:
    """The rows of `plan`, which reads the relations `timed` at one time, with the periods for which they
    hold, as the last two columns.

    Raises InvalidQuery if these have the name of another column, and Unsupported if rows that hold at one
    valid time are compared with the clock.
    """
    taken = {name.lower() for name in plan.schema.names} & {FROM, TO}
    if taken:
        name = min(taken)
        raise InvalidQuery(
            f"column {name} would be there twice: the rows of the view get their own periods",
            f"give it another name, or read the tables FOR VALID_TIME ALL to have {name} as a plain column",
        )
    if _follows_clock(plan):
        raise Unsupported("a comparison with the time, at every valid time, is not supported", _NOW)
    return during(plan, {name: with_period_last(of) for name, of in sorted(timed.items())}, (FROM, TO))


def _follows_clock(plan: Node) -> bool:
    """Whether rows that hold at one valid time are compared with the clock."""
    seen: set[int] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not node.free:
            continue
        seen.add(id(node))
        if isinstance(node, Temporal):
            return True
        waiting.extend(node.inputs)
    return False
