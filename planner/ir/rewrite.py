"""Rewriting operators: the one place that knows how to rebuild each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from planner.ir import (
    Aggregate,
    Attribute,
    Context,
    Distinct,
    Exists,
    Expression,
    Fixpoint,
    Over,
    Prioritized,
    Project,
    Relational,
    Renaming,
    ScalarSubquery,
    Selection,
    SetOp,
    Some,
    Subquery,
    ThetaJoin,
    Top,
    UnnestLists,
)
from planner.ir.scalars import rewrite, with_children
from planner.limits import check_time


def with_inputs(operator: Relational, inputs: tuple[Relational, ...]) -> Relational:
    """The same operator over other inputs, in the order of `inputs`; the operator itself if they are
    unchanged. Every pass comes here for every operator, so the time is checked here."""
    check_time()
    if all(new is old for new, old in zip(inputs, operator.inputs, strict=True)):
        return operator
    match operator:
        case (
            Project()
            | Selection()
            | Aggregate()
            | Distinct()
            | Context()
            | Prioritized()
            | Top()
            | UnnestLists()
            | Over()
        ):
            return replace(operator, input=inputs[0])
        case ThetaJoin() | SetOp():
            return replace(operator, left=inputs[0], right=inputs[1])
        case Fixpoint(bindings=bindings):
            new = tuple(replace(b, value=value) for b, value in zip(bindings, inputs, strict=True))
            return replace(operator, bindings=new)
        case _:
            return operator


def with_expressions(operator: Relational, expressions: tuple[Expression, ...]) -> Relational:
    """The same operator with other expressions, in the order of `expressions`."""
    match operator:
        case Project(input=input, items=items):
            attributes = (attribute for attribute, _ in items)
            return Project(input, tuple(zip(attributes, expressions, strict=True)))
        case Selection(input=input):
            return Selection(input, expressions[0])
        case ThetaJoin():
            return replace(operator, condition=expressions[0])
        case Prioritized():
            return replace(operator, round=expressions[0])
        case _:
            return operator


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
        match part:
            case Exists(query=query):
                return Exists(map_expressions(query, change))
            case ScalarSubquery(query=query, column=column, type=type):
                return ScalarSubquery(map_expressions(query, change), column, type)
            case Some(predicate=predicate, query=query):
                return Some(map_expression(predicate, change), map_expressions(query, change))

    return rewrite(expression, deep)


def identity(columns: tuple[Attribute, ...]) -> tuple[tuple[Attribute, Expression], ...]:
    """Items that pass the columns through."""
    return tuple((column, column.ref) for column in columns)


def renaming_of(renaming: Renaming) -> Mapping[int, int]:
    """The old number of each new number."""
    return {attribute.id: old for attribute, old in renaming}


__all__ = [
    "identity",
    "map_expression",
    "map_expressions",
    "renaming_of",
    "with_children",
    "with_expressions",
    "with_inputs",
]
