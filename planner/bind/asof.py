"""ASOF JOIN: pairs each row of the left with the nearest row of the right in an order.

The condition has equalities and one inequality between the sides. The match is the nearest row that meets it;
the row's columns in turn break ties.
"""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Call, Op
from engine.plan.nodes import Ordering
from planner.bind.row_limits import complete
from planner.bind.session import Session
from planner.errors import InvalidQuery
from planner.ir import (
    Attribute,
    Expression,
    JoinKind,
    Project,
    Relational,
    Selection,
    ThetaJoin,
    Top,
    references,
)
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE, conjuncts
from planner.positions import fail

_TURNED = {Op.GE: Op.LE, Op.GT: Op.LT, Op.LE: Op.GE, Op.LT: Op.GT}


def asof_join(
    session: Session,
    node: exp.Join,
    kind: JoinKind,
    left: Relational,
    right: Relational,
    columns: tuple[Attribute, ...],
    condition: Expression,
) -> ThetaJoin:
    """Return the join; `columns` are those of the right side, in the order that breaks ties."""
    nearness = [part for part in (_nearness(p, left, right) for p in conjuncts(condition)) if part]
    if len(nearness) != 1:
        fail(
            InvalidQuery("ASOF JOIN needs one inequality between a value of the left and one of the right"),
            node,
        )
    op, value = nearness[0]
    place = session.attribute("place", value.type, True)
    placed = Project(right, (*identity(right.columns), (place, value)))
    order = complete((Ordering(place.id, op in (Op.GE, Op.GT)),), columns)
    nearest = Top(Selection(placed, condition), (), order, 1)
    return ThetaJoin(kind, left, Project(nearest, identity(right.columns)), TRUE)


def _nearness(part: Expression, left: Relational, right: Relational) -> tuple[Op, Expression] | None:
    """The comparison of a left value with a right value in `part`, and the right value; else None."""
    if not isinstance(part, Call) or part.op not in _TURNED:
        return None
    for op, (a, b) in ((part.op, part.args), (_TURNED[part.op], part.args[::-1])):
        if references(a) and references(b) and references(a) <= left.ids and references(b) <= right.ids:
            return op, b
    return None
