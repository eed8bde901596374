"""Whether the step of a recursion is additive: then the fixed point and the working table give the same rows.

A working table feeds the step the rows of the last round alone, the fixed point all rows so far. A step is
*additive* if its value over a sum of inputs is the sum of its values. Then it makes no difference which rows
come together.
"""

from __future__ import annotations

from planner import ir
from planner.bind.dependence import Dependence, Variables
from planner.bind.session import Session


def is_additive(session: Session, step: ir.Relational, variable: int, as_set: bool) -> bool:
    """Whether the step is additive in the variable's rows; with `as_set`, up to the number of equal rows.

    As a set, it may also have rows that do not depend on the variable: the first round finds them all.
    """
    variables = frozenset({variable})
    additive = _Additivity(session, as_set).holds(step, variables)
    return additive and (as_set or vanishes(session, step, variables))


def vanishes(session: Session, operator: ir.Relational, variables: Variables) -> bool:
    """Whether the operator certainly has no rows while the variables have none."""
    match operator:
        case ir.RecursiveRef(variable=variable):
            return variable in variables
        case ir.SharedRef(number=number):
            return vanishes(session, session.definitions[number], variables)
        case ir.Aggregate(keys=()):
            return False
        case (
            ir.Project(input=input)
            | ir.Selection(input=input)
            | ir.Distinct(input=input)
            | ir.UnnestLists(input=input)
            | ir.Prioritized(input=input)
            | ir.Aggregate(input=input)
            | ir.Over(input=input)
            | ir.Top(input=input)
        ):
            return vanishes(session, input, variables)
        case (
            ir.ThetaJoin(kind=ir.JoinKind.INNER, left=left, right=right)
            | ir.Nearest(kind=ir.JoinKind.INNER, left=left, right=right)
            | ir.SetOp(kind=ir.SetKind.INTERSECT, left=left, right=right)
        ):
            return vanishes(session, left, variables) or vanishes(session, right, variables)
        case (
            ir.ThetaJoin(kind=ir.JoinKind.FULL, left=left, right=right)
            | ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right)
        ):
            return vanishes(session, left, variables) and vanishes(session, right, variables)
        case ir.ThetaJoin(left=left) | ir.Nearest(left=left) | ir.SetOp(left=left):
            return vanishes(session, left, variables)
        case ir.Fixpoint():
            return _stays_empty(session, operator, variables)
        case _:
            return False


def _stays_empty(session: Session, fixpoint: ir.Fixpoint, variables: Variables) -> bool:
    """Whether the result of a recursion has no rows in any round: the bindings that may get some are struck
    out until no more are found."""
    empty = {binding.variable for binding in fixpoint.bindings}
    while True:
        held = {b.variable for b in fixpoint.bindings if b.variable in empty}
        empty = {b.variable for b in fixpoint.bindings if vanishes(session, b.value, variables | held)} & held
        if empty == held:
            return fixpoint.bindings[fixpoint.result].variable in empty


class _Additivity:
    def __init__(self, session: Session, as_set: bool) -> None:
        self.session = session
        self.as_set = as_set
        self.dependence = Dependence(session)

    def holds(self, operator: ir.Relational, variables: Variables) -> bool:
        """Whether the operator is additive, up to rows that do not depend on the variables."""
        if not self.dependence.of(operator, variables):
            return True
        if any(self.dependence.in_subquery(e, variables) for e in operator.expressions):
            return False
        match operator:
            case ir.RecursiveRef():
                return True
            case ir.SharedRef(number=number):
                return self.holds(self.session.definitions[number], variables)
            case ir.Project(input=input) | ir.Selection(input=input) | ir.UnnestLists(input=input):
                return self.holds(input, variables)
            case ir.Distinct(input=input) | ir.Aggregate(input=input, items=()):
                return self.as_set and self.holds(input, variables)
            case ir.ThetaJoin(kind=kind, left=left, right=right):
                return self._join(kind, left, right, variables)
            case ir.Nearest(left=left, right=right):
                return not self.dependence.of(right, variables) and self.holds(left, variables)
            case ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right):
                return self.holds(left, variables) and self.holds(right, variables)
            case ir.Fixpoint(bindings=bindings):
                inner = variables | {binding.variable for binding in bindings}
                return all(self.holds(binding.value, inner) for binding in bindings)
            case _:
                return False

    def _join(
        self, kind: ir.JoinKind, left: ir.Relational, right: ir.Relational, variables: Variables
    ) -> bool:
        if self.dependence.of(right, variables):
            return (
                kind is ir.JoinKind.INNER
                and not self.dependence.of(left, variables)
                and self.holds(right, variables)
            )
        return kind is not ir.JoinKind.FULL and self.holds(left, variables)
