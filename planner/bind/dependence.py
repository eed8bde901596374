"""Which parts of a query depend on the rounds of a recursion."""

from __future__ import annotations

from planner.bind.session import Session
from planner.ir import Expression, Prioritized, RecursiveRef, Relational, SharedRef, subqueries

Variables = frozenset[int]


class Dependence:
    """Whether operators and expressions read a recursion's variables, or rows that enter it by priority."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.shared: dict[tuple[int, Variables], bool] = {}

    def of(self, operator: Relational, variables: Variables) -> bool:
        match operator:
            case RecursiveRef(variable=variable):
                return variable in variables
            case SharedRef(number=number):
                if (number, variables) not in self.shared:
                    definition = self.session.definitions[number]
                    self.shared[number, variables] = self.of(definition, variables)
                return self.shared[number, variables]
            case Prioritized(variable=variable) if variable in variables:
                return True
        below = any(self.of(input, variables) for input in operator.inputs)
        return below or any(self.in_subquery(e, variables) for e in operator.expressions)

    def in_subquery(self, expression: Expression, variables: Variables) -> bool:
        return any(self.of(subquery.query, variables) for subquery in subqueries(expression))
