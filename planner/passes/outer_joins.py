"""Outer joins become joins that pad less, if an operator above drops the padded rows.

    filter(b.x > 1, a left join b)                   →   filter(b.x > 1, a inner join b)
    c inner join (a full join b) on b.x = c.x        →   c inner join (b left join a) on b.x = c.x

The pass carries down the predicates that every row must satisfy above, in a filter or as a join's condition.
A padded row is dropped if its NULLs keep one of them from being true.
"""

from __future__ import annotations

from dataclasses import replace

from planner import ir
from planner.ir.rewrite import with_inputs
from planner.ir.scalars import conjuncts, inline, rejects_null, rename

Predicates = list[ir.Expression]


def simplify_outer_joins(operator: ir.Relational) -> ir.Relational:
    return _needing(operator, [])


def _needing(operator: ir.Relational, above: Predicates) -> ir.Relational:
    """The operator, given that only rows for which all predicates `above` are true matter."""
    match operator:
        case ir.Selection(input=input, predicate=predicate):
            return ir.Selection(_needing(input, [*above, *conjuncts(predicate)]), predicate)
        case ir.Project(input=input, items=items):
            values = {attribute.id: expression for attribute, expression in items}
            return ir.Project(_needing(input, [inline(p, values) for p in above]), items)
        case ir.Distinct(input=input) | ir.Prioritized(input=input):
            return replace(operator, input=_needing(input, above))
        case (
            ir.Aggregate(input=input, keys=keys)
            | ir.Top(input=input, keys=keys)
            | ir.Over(input=input, keys=keys)
        ):
            kept = [p for p in above if ir.references(p) and ir.references(p) <= set(keys)]
            return replace(operator, input=_needing(input, kept))
        case ir.SetOp(left=left, right=right):
            sides = [
                _needing(side, [rename(p, names) for p in above])
                for side, names in ((left, _names(operator, 0)), (right, _names(operator, 1)))
            ]
            return replace(operator, left=sides[0], right=sides[1])
        case ir.ThetaJoin():
            return _join(_unpadded(operator, above), above)
        case ir.Nearest(left=left, right=right):
            drops = any(rejects_null(p, right.ids) for p in above)
            kind = ir.JoinKind.INNER if drops else operator.kind
            return replace(operator, kind=kind, left=_needing(left, above), right=_needing(right, []))
        case _:
            return with_inputs(operator, tuple(_needing(i, []) for i in operator.inputs))


def _names(operation: ir.SetOp, side: int) -> dict[int, int]:
    ids = (operation.lefts, operation.rights)[side]
    return {column.id: id for column, id in zip(operation.columns, ids, strict=True)}


def _unpadded(join: ir.ThetaJoin, above: Predicates) -> ir.ThetaJoin:
    """The join without padding that the predicates reject."""
    drops_left = any(rejects_null(p, join.left.ids) for p in above)
    drops_right = any(rejects_null(p, join.right.ids) for p in above)
    match join.kind:
        case ir.JoinKind.LEFT if drops_right:
            return replace(join, kind=ir.JoinKind.INNER)
        case ir.JoinKind.FULL if drops_left and drops_right:
            return replace(join, kind=ir.JoinKind.INNER)
        case ir.JoinKind.FULL if drops_left:
            return replace(join, kind=ir.JoinKind.LEFT)
        case ir.JoinKind.FULL if drops_right:
            return ir.ThetaJoin(ir.JoinKind.LEFT, join.right, join.left, join.condition)
    return join


def _join(join: ir.ThetaJoin, above: Predicates) -> ir.ThetaJoin:
    """The sides, restricted to the rows that matter; on the padded side, those that meet the condition."""
    own = conjuncts(join.condition)
    match join.kind:
        case ir.JoinKind.INNER:
            lefts = rights = [*above, *own]
        case ir.JoinKind.SEMI:
            lefts, rights = [*above, *own], own
        case ir.JoinKind.FULL:
            lefts, rights = [], []
        case _:
            lefts, rights = above, own
    return replace(join, left=_needing(join.left, lefts), right=_needing(join.right, rights))
