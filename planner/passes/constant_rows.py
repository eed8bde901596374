"""A join with one row of constants becomes a projection: its values replace its columns.

t JOIN (SELECT now() - INTERVAL '1 day' AS edge) AS c ON ts > c.edge
    →   filter(ts > edge, project(t.*, now() - INTERVAL '1 day' → edge, t))
ts > (SELECT DATE '2024-01-01')
    →   ts > DATE '2024-01-01'
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.plan.expressions import ColumnRef, Literal
from planner import ir
from planner.ir.rewrite import bottom_up, identity, map_expressions
from planner.ir.scalars import inline


def inline_constants(operator: ir.Relational) -> ir.Relational:
    """The rows of constants in `operator`, and as values inside its expressions, replaced by constants."""
    return bottom_up(map_expressions(operator, _value), _joined)


def _value(expression: ir.Expression) -> ir.Expression | None:
    if not isinstance(expression, ir.ScalarSubquery):
        return None
    row = _constants(expression.query)
    return None if row is None else row[expression.column]


def _joined(join: ir.Relational) -> ir.Relational:
    if not (isinstance(join, ir.ThetaJoin) and join.kind is ir.JoinKind.INNER):
        return join
    for side, other in ((join.right, join.left), (join.left, join.right)):
        row = _constants(side)
        if row is not None:
            other = _given(other, row)
            items = (*identity(other.columns), *((column, row[column.id]) for column in side.columns))
            return ir.Selection(ir.Project(other, items), join.condition)
    return join


def _given(operator: ir.Relational, row: Mapping[int, ir.Expression]) -> ir.Relational:
    """The operator, possibly lateral to the row, with its references to the row replaced by the row's
    values."""
    if not operator.free & row.keys():
        return operator
    return inline_constants(
        map_expressions(operator, lambda e: row.get(e.index) if isinstance(e, ColumnRef) else None)
    )


def _constants(operator: ir.Relational) -> Mapping[int, ir.Expression] | None:
    """The values of an operator that certainly has one row, always the same; None for any other operator."""
    match operator:
        case ir.Values(columns=columns, rows=(values,)):
            return {c.id: Literal(value, c.type) for c, value in zip(columns, values, strict=True)}
        case ir.Project(input=input, items=items):
            row = _constants(input)
            if row is None or any(ir.references(e) - row.keys() or ir.subqueries(e) for _, e in items):
                return None
            return {attribute.id: inline(e, row) for attribute, e in items}
    return None
