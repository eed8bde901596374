"""Rewriting operators and the expressions in them, whatever their kinds."""

from __future__ import annotations

from collections.abc import Callable

from planner.ir import Attribute, Expression, Item, Relational, Subquery, children
from planner.ir.declared import Holds, with_parts
from planner.ir.scalars import rewrite
from planner.limits import check_time


def with_inputs(operator: Relational, inputs: tuple[Relational, ...]) -> Relational:
    """The same operator over other inputs, in the order of `inputs`; the operator itself if they are
    unchanged. Every pass comes here for every operator, so the time is checked here."""
    check_time()
    if all(new is old for new, old in zip(inputs, operator.inputs, strict=True)):
        return operator
    return with_parts(operator, {Holds.INPUT: inputs})


def with_expressions(operator: Relational, expressions: tuple[Expression, ...]) -> Relational:
    """The same operator with other expressions, in the order of `expressions`."""
    return with_parts(operator, {Holds.EXPRESSION: expressions})


def bottom_up(operator: Relational, *rules: Callable[[Relational], Relational]) -> Relational:
    """Apply the rules to every operator, one after the other, inputs first."""
    changed = with_inputs(operator, tuple(bottom_up(i, *rules) for i in operator.inputs))
    for rule in rules:
        changed = rule(changed)
    return changed


Change = Callable[[Expression], Expression | None]


def map_expressions(operator: Relational, change: Change) -> Relational:
    """Apply `change`, as in `scalars.rewrite`, to all expressions here and below, including those of
    subqueries."""
    below = with_inputs(operator, tuple(map_expressions(i, change) for i in operator.inputs))
    if not below.expressions:
        return below
    return with_expressions(below, tuple(map_expression(e, change) for e in below.expressions))


def map_expression(expression: Expression, change: Change) -> Expression:
    """Apply `change` to the parts of one expression, and to those of the queries inside it."""

    def deep(part: Expression) -> Expression | None:
        changed = change(part)
        if changed is not None or not isinstance(part, Subquery):
            return changed
        new = [map_expression(e, change) for e in children(part)]
        return with_parts(part, {Holds.INPUT: (map_expressions(part.query, change),), Holds.EXPRESSION: new})

    return rewrite(expression, deep)


def identity(columns: tuple[Attribute, ...]) -> tuple[Item, ...]:
    """Items that pass the columns through."""
    return tuple((column, column.ref) for column in columns)
