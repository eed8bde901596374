"""Outer joins become joins that pad less, if an operator above drops the padded rows.

    filter(b.x > 1, a left join b)                   →   filter(b.x > 1, a inner join b)
    c inner join (a full join b) on b.x = c.x        →   c inner join (b left join a) on b.x = c.x

The pass carries down the predicates that every row must satisfy above, in a filter or as a join's condition.
A padded row is dropped if its NULLs keep one of them from being true.
"""

from __future__ import annotations

from dataclasses import replace

from planner.ir import (
    Aggregate,
    Distinct,
    Expression,
    JoinKind,
    Nearest,
    Over,
    Prioritized,
    Project,
    Relational,
    Selection,
    SetOp,
    ThetaJoin,
    Top,
    references,
)
from planner.ir.rewrite import with_inputs
from planner.ir.scalars import conjuncts, inline, rejects_null, rename

Predicates = list[Expression]


def simplify_outer_joins(operator: Relational) -> Relational:
    return _needing(operator, [])


def _needing(operator: Relational, above: Predicates) -> Relational:
    """The operator, given that only rows for which all predicates `above` are true matter."""
    match operator:
        case Selection(input=input, predicate=predicate):
            return Selection(_needing(input, [*above, *conjuncts(predicate)]), predicate)
        case Project(input=input, items=items):
            values = {attribute.id: expression for attribute, expression in items}
            return Project(_needing(input, [inline(p, values) for p in above]), items)
        case Distinct(input=input) | Prioritized(input=input):
            return replace(operator, input=_needing(input, above))
        case Aggregate(input=input, keys=keys) | Top(input=input, keys=keys) | Over(input=input, keys=keys):
            kept = [p for p in above if references(p) and references(p) <= set(keys)]
            return replace(operator, input=_needing(input, kept))
        case SetOp(left=left, right=right):
            sides = [
                _needing(side, [rename(p, names) for p in above])
                for side, names in ((left, _names(operator, 0)), (right, _names(operator, 1)))
            ]
            return replace(operator, left=sides[0], right=sides[1])
        case ThetaJoin():
            return _join(_unpadded(operator, above), above)
        case Nearest(left=left, right=right):
            drops = any(rejects_null(p, right.ids) for p in above)
            kind = JoinKind.INNER if drops else operator.kind
            return replace(operator, kind=kind, left=_needing(left, above), right=_needing(right, []))
        case _:
            return with_inputs(operator, tuple(_needing(i, []) for i in operator.inputs))


def _names(operation: SetOp, side: int) -> dict[int, int]:
    ids = (operation.lefts, operation.rights)[side]
    return {column.id: id for column, id in zip(operation.columns, ids, strict=True)}


def _unpadded(join: ThetaJoin, above: Predicates) -> ThetaJoin:
    """The join without padding that the predicates reject."""
    drops_left = any(rejects_null(p, join.left.ids) for p in above)
    drops_right = any(rejects_null(p, join.right.ids) for p in above)
    match join.kind:
        case JoinKind.LEFT if drops_right:
            return replace(join, kind=JoinKind.INNER)
        case JoinKind.FULL if drops_left and drops_right:
            return replace(join, kind=JoinKind.INNER)
        case JoinKind.FULL if drops_left:
            return replace(join, kind=JoinKind.LEFT)
        case JoinKind.FULL if drops_right:
            return ThetaJoin(JoinKind.LEFT, join.right, join.left, join.condition)
    return join


def _join(join: ThetaJoin, above: Predicates) -> ThetaJoin:
    """The sides, restricted to the rows that matter; on the padded side, those that meet the condition."""
    own = conjuncts(join.condition)
    match join.kind:
        case JoinKind.INNER:
            lefts = rights = [*above, *own]
        case JoinKind.SEMI:
            lefts, rights = [*above, *own], own
        case JoinKind.FULL:
            lefts, rights = [], []
        case _:
            lefts, rights = above, own
    return replace(join, left=_needing(join.left, lefts), right=_needing(join.right, rights))
