"""An operator that has no rows, because a filter is never true, becomes empty VALUES.

filter(a = 1 AND a = 2, t)             →   values()
join(values(), t)                      →   values()
values() UNION ALL t                   →   t
t left join values()                   →   project(t.*, NULL)
filter(TRUE, t)                        →   t
"""

from __future__ import annotations

from engine.plan.expressions import Literal
from planner import ir
from planner.ir.declared import fact
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE, conjuncts
from planner.passes.contradictions import is_contradictory


def remove_empty(operator: ir.Relational) -> ir.Relational:
    if is_empty(operator):
        return ir.Values(operator.columns, ())
    match operator:
        case ir.Selection(input=input, predicate=predicate) if predicate == TRUE:
            return input
        case ir.ThetaJoin(kind=ir.JoinKind.ANTI, left=left) if _never_matches(operator):
            return left
        case ir.ThetaJoin(kind=ir.JoinKind.LEFT, left=left, right=right) if _never_matches(operator):
            padding = [(c, Literal(None, c.type)) for c in operator.columns if c.id in right.ids]
            return ir.Project(left, (*identity(left.columns), *padding))
        case ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right, lefts=lefts, rights=rights):
            if is_empty(left) or is_empty(right):
                side, ids = (right, rights) if is_empty(left) else (left, lefts)
                refs = (side.attribute(id).ref for id in ids)
                return ir.Project(side, tuple(zip(operator.columns, refs, strict=True)))
    return operator


@fact
def is_empty(operator: ir.Relational) -> bool:
    """Whether the operator certainly has no row; its expressions are simplified."""
    match operator:
        case ir.Values(rows=()):
            return True
        case ir.Selection(input=input, predicate=predicate):
            return is_empty(input) or _is_never_true(predicate)
        case ir.Top(input=input, limit=limit):
            return limit == 0 or is_empty(input)
        case ir.Project() | ir.Distinct() | ir.Context() | ir.Prioritized() | ir.UnnestLists() | ir.Over():
            return is_empty(operator.input)
        case ir.ThetaJoin(kind=ir.JoinKind.INNER | ir.JoinKind.SEMI, left=left):
            return is_empty(left) or _never_matches(operator)
        case ir.ThetaJoin(kind=ir.JoinKind.LEFT | ir.JoinKind.ANTI | ir.JoinKind.MARK, left=left):
            return is_empty(left)
        case ir.Nearest(kind=kind, left=left, right=right):
            return is_empty(left) or (kind is ir.JoinKind.INNER and is_empty(right))
        case ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right):
            return is_empty(left) and is_empty(right)
        case ir.SetOp(left=left):
            return is_empty(left)
        case _:
            return False


def _never_matches(join: ir.ThetaJoin) -> bool:
    return is_empty(join.right) or _is_never_true(join.condition)


def _is_never_true(predicate: ir.Expression) -> bool:
    return is_contradictory(conjuncts(predicate))
