"""Comparisons with the time become moments: `Reached`, which the plan can maintain.

    WHERE ts > now() - INTERVAL '1 hour'    →    WHERE NOT now() >= ts + INTERVAL '1 hour'

The date, which changes once a day, may stand anywhere. The time itself changes at every instant, and with it
every row that shows it: a query in which the time remains is refused.
"""

from __future__ import annotations

from engine.plan.expressions import Cast
from engine.schema import BOOLEAN, DATE
from planner.errors import Unsupported
from planner.ir import Expression, Now, Relational, children
from planner.ir.rewrite import map_expressions
from planner.passes.temporal.equations import Unsolvable, has_now, is_comparison
from planner.passes.temporal.solving import solve


def solve_times(operator: Relational) -> Relational:
    """The query with moments instead of the time. Raises Unsupported where that is impossible."""
    solved = map_expressions(operator, _solved)
    _check(solved)
    return solved


def _solved(expression: Expression) -> Expression | None:
    if expression.type != BOOLEAN or not is_comparison(expression) or not has_now(expression):
        return None
    try:
        return solve(expression)
    except Unsolvable:
        return None


def _check(operator: Relational) -> None:
    for input in operator.inputs:
        _check(input)
    if any(_shows_time(expression) for expression in operator.expressions):
        raise Unsupported(
            "now() outside of a comparison changes every row at every instant, so it cannot be maintained",
            "compare it with a column, plus or minus an interval, or use CURRENT_DATE",
        )


def _shows_time(expression: Expression) -> bool:
    match expression:
        case Cast(arg=Now(), type=type) if type == DATE:
            return False
        case Now():
            return True
        case _:
            return any(_shows_time(part) for part in children(expression))
