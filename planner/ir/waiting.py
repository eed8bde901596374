"""Joins whose rows wait until a greatest time is theirs: `x.moment <= (SELECT max(at) FROM t)`.

The rows of t must only come, and never go, so that the time never goes back.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan.expressions import Call, ColumnRef, Op
from engine.plan.nodes import Function
from engine.schema import TIMESTAMP
from planner.ir import Aggregate, Expression, Project, Relational, TableScan, ThetaJoin, references
from planner.ir.declared import fact


@dataclass(frozen=True)
class Waiting:
    """Rows that come when the `newest` time, an aggregate of one row, is `moment` or later."""

    moment: Expression
    newest: Aggregate


def waiting(join: ThetaJoin) -> Waiting | None:
    """The form of a join with one row, the greatest time, that only tests the left side; None for any
    other."""
    newest = join.right
    if not isinstance(newest, Aggregate) or newest.keys or not only_grows(newest.input):
        return None
    match join.condition:
        case Call(op=Op.LE, args=(moment, ColumnRef(index=time))):
            pass
        case Call(op=Op.GE, args=(ColumnRef(index=time), moment)):
            pass
        case _:
            return None
    is_greatest = [(item.attribute.id, item.function) for item in newest.items] == [(time, Function.MAX)]
    if not is_greatest or moment.type != TIMESTAMP or not references(moment) <= join.left.ids:
        return None
    return Waiting(moment, newest)


@fact
def only_grows(operator: Relational) -> bool:
    """Whether no row ever goes, as far as the operator shows."""
    match operator:
        case TableScan(plan=plan):
            return plan.only_grows
        case Project(input=input):
            return only_grows(input)
    return False
