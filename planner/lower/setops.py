"""UNION, EXCEPT and INTERSECT over bags, by sums, differences and a threshold."""

from __future__ import annotations

from engine.plan.nodes import Clamp, Threshold
from planner.ir import SetKind, SetOp
from planner.lower.lowered import NOBODY, Lowered, difference, lowered, projected, sum_of


def lower_set_operation(operation: SetOp, left: Lowered, right: Lowered) -> Lowered:
    ids = tuple(column.id for column in operation.columns)
    minuend = projected(left, operation.lefts)
    a, b = minuend.node, projected(right, operation.rights).node
    match operation.kind:
        case SetKind.UNION:
            return lowered(sum_of((a, b)), ids or (NOBODY,))
        case SetKind.EXCEPT:
            return lowered(Threshold(difference(a, b), Clamp.POSITIVE), ids or (NOBODY,), minuend.key)
        case SetKind.INTERSECT:
            surplus = Threshold(difference(a, b), Clamp.POSITIVE)
            return lowered(difference(a, surplus), ids or (NOBODY,), minuend.key)
