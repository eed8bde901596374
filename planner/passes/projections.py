"""Merges projections over projections, unless an expression would then be computed twice.

    project(x + 1 → y, project(a → x, t))   →   project(a + 1 → y, t)

A projection that passes every column of its input through, and adds nothing, is removed.
"""

from __future__ import annotations

from collections import Counter

from engine.plan.expressions import ColumnRef, Literal
from planner.ir import Expression, Project, Relational, children
from planner.ir.scalars import inline


def merge_projections(operator: Relational) -> Relational:
    if not isinstance(operator, Project):
        return operator
    if isinstance(operator.input, Project):
        values = {attribute.id: expression for attribute, expression in operator.input.items}
        if _once(operator.expressions, values):
            items = tuple((a, inline(e, values)) for a, e in operator.items)
            operator = Project(operator.input.input, items)
    handed_on = all(e == attribute.ref for attribute, e in operator.items)
    return operator.input if handed_on and operator.ids == operator.input.ids else operator


def _once(expressions: tuple[Expression, ...], values: dict[int, Expression]) -> bool:
    """Whether replacing columns with the values repeats no work."""
    uses: Counter[int] = Counter(id for e in expressions for id in _columns(e))
    return all(uses[id] <= 1 or isinstance(value, ColumnRef | Literal) for id, value in values.items())


def _columns(expression: Expression) -> list[int]:
    """The columns that the expression reads, once per occurrence."""
    if isinstance(expression, ColumnRef):
        return [expression.index]
    return [id for part in children(expression) for id in _columns(part)]
