"""An operator that has no rows, because a filter is never true, becomes empty VALUES.

filter(a = 1 AND a = 2, t)             →   values()
join(values(), t)                      →   values()
values() UNION ALL t                   →   t
t left join values()                   →   project(t.*, NULL)
filter(TRUE, t)                        →   t
"""

from __future__ import annotations

from engine.plan.expressions import Literal
from planner.ir import (
    Context,
    Distinct,
    Expression,
    JoinKind,
    Nearest,
    Over,
    Prioritized,
    Project,
    Relational,
    Selection,
    SetKind,
    SetOp,
    ThetaJoin,
    Top,
    UnnestLists,
    Values,
)
from planner.ir.declared import fact
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE, conjuncts
from planner.passes.contradictions import is_contradictory


def remove_empty(operator: Relational) -> Relational:
    if is_empty(operator):
        return Values(operator.columns, ())
    match operator:
        case Selection(input=input, predicate=predicate) if predicate == TRUE:
            return input
        case ThetaJoin(kind=JoinKind.ANTI, left=left) if _never_matches(operator):
            return left
        case ThetaJoin(kind=JoinKind.LEFT, left=left, right=right) if _never_matches(operator):
            padding = [(c, Literal(None, c.type)) for c in operator.columns if c.id in right.ids]
            return Project(left, (*identity(left.columns), *padding))
        case SetOp(kind=SetKind.UNION, left=left, right=right, lefts=lefts, rights=rights):
            if is_empty(left) or is_empty(right):
                side, ids = (right, rights) if is_empty(left) else (left, lefts)
                refs = (side.attribute(id).ref for id in ids)
                return Project(side, tuple(zip(operator.columns, refs, strict=True)))
    return operator


@fact
def is_empty(operator: Relational) -> bool:
    """Whether the operator certainly has no row; its expressions are simplified."""
    match operator:
        case Values(rows=()):
            return True
        case Selection(input=input, predicate=predicate):
            return is_empty(input) or _is_never_true(predicate)
        case Top(input=input, limit=limit):
            return limit == 0 or is_empty(input)
        case Project() | Distinct() | Context() | Prioritized() | UnnestLists() | Over():
            return is_empty(operator.input)
        case ThetaJoin(kind=JoinKind.INNER | JoinKind.SEMI, left=left):
            return is_empty(left) or _never_matches(operator)
        case ThetaJoin(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.MARK, left=left):
            return is_empty(left)
        case Nearest(kind=kind, left=left, right=right):
            return is_empty(left) or (kind is JoinKind.INNER and is_empty(right))
        case SetOp(kind=SetKind.UNION, left=left, right=right):
            return is_empty(left) and is_empty(right)
        case SetOp(left=left):
            return is_empty(left)
        case _:
            return False


def _never_matches(join: ThetaJoin) -> bool:
    return is_empty(join.right) or _is_never_true(join.condition)


def _is_never_true(predicate: Expression) -> bool:
    return is_contradictory(conjuncts(predicate))
