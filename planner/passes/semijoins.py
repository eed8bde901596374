"""Moves semijoins down to the relation that they test, if it has no more rows than the operator above it.

    semi(join(a, b), s, a.x = s.x)   →   join(semi(a, s, a.x = s.x), b)

A side that is planned against a context of the rows above stays there, where these rows are fewest.
"""

from __future__ import annotations

from dataclasses import replace

from engine.plan.expressions import ColumnRef
from planner import ir
from planner.ir.estimates import size_of
from planner.ir.scalars import inline


def sink_semijoins(operator: ir.Relational) -> ir.Relational:
    match operator:
        case ir.ThetaJoin(kind=ir.JoinKind.SEMI | ir.JoinKind.ANTI, right=right) if _stands_alone(right):
            return _sunk(operator)
    return operator


def _stands_alone(operator: ir.Relational) -> bool:
    """Whether no part of the operator is computed from rows of the query around it."""
    return not isinstance(operator, ir.Context | ir.SharedRef) and all(map(_stands_alone, operator.inputs))


def _sunk(join: ir.ThetaJoin) -> ir.Relational:
    left = join.left
    used = ir.references(join.condition) - join.right.ids
    match left:
        case ir.ThetaJoin(kind=ir.JoinKind.INNER | ir.JoinKind.LEFT as kind):
            sides = [left.left, left.right] if kind is ir.JoinKind.INNER else [left.left]
            for place, side in enumerate(sides):
                if used and used <= side.ids and size_of(side).rows <= size_of(left).rows:
                    below = _sunk(replace(join, left=side))
                    return replace(left, left=below) if place == 0 else replace(left, right=below)
        case ir.Selection(input=input, predicate=predicate):
            below = _sunk(replace(join, left=input))
            return ir.Selection(below, predicate) if not _is_same(below, join, input) else join
        case ir.Project(input=input, items=items):
            values = {attribute.id: e for attribute, e in items if isinstance(e, ColumnRef)}
            if used <= values.keys():
                below = _sunk(replace(join, left=input, condition=inline(join.condition, values)))
                return ir.Project(below, items) if not _is_same(below, join, input) else join
    return join


def _is_same(below: ir.Relational, join: ir.ThetaJoin, input: ir.Relational) -> bool:
    """Whether the semijoin went no further down than the operator at which it was tried."""
    return isinstance(below, ir.ThetaJoin) and below.right is join.right and below.left is input
