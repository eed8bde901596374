"""Merges projections over projections, unless an expression would then be computed twice.

    project(x + 1 → y, project(a → x, t))   →   project(a + 1 → y, t)

A projection that passes every column of its input through, and adds nothing, is removed.
"""

from __future__ import annotations

from collections import Counter

from engine.plan.expressions import ColumnRef, Literal
from planner.ir import Expression, Project, Relational, RelationalProgram, children
from planner.ir.rewrite import with_inputs
from planner.ir.scalars import inline


def merge_projections(program: RelationalProgram) -> RelationalProgram:
    return RelationalProgram(tuple(map(_merged, program.definitions)), _merged(program.root), program.outputs)


def _merged(operator: Relational) -> Relational:
    below = with_inputs(operator, tuple(_merged(i) for i in operator.inputs))
    if not isinstance(below, Project):
        return below
    if isinstance(below.input, Project):
        values = {attribute.id: expression for attribute, expression in below.input.items}
        if _once(below.expressions, values):
            items = tuple((a, inline(e, values)) for a, e in below.items)
            below = Project(below.input.input, items)
    handed_on = all(e == attribute.ref for attribute, e in below.items)
    return below.input if handed_on and below.ids == below.input.ids else below


def _once(expressions: tuple[Expression, ...], values: dict[int, Expression]) -> bool:
    """Whether replacing columns with the values repeats no work."""
    uses: Counter[int] = Counter(id for e in expressions for id in _columns(e))
    return all(uses[id] <= 1 or isinstance(value, ColumnRef | Literal) for id, value in values.items())


def _columns(expression: Expression) -> list[int]:
    """The columns that the expression reads, once per occurrence."""
    if isinstance(expression, ColumnRef):
        return [expression.index]
    return [id for part in children(expression) for id in _columns(part)]
