"""A join with one row of constants becomes a projection: its values replace its columns.

t JOIN (SELECT now() - INTERVAL '1 day' AS edge) AS c ON ts > c.edge
    →   filter(ts > edge, project(t.*, now() - INTERVAL '1 day' → edge, t))
ts > (SELECT DATE '2024-01-01')
    →   ts > DATE '2024-01-01'
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.plan.expressions import ColumnRef, Literal
from planner.ir import (
    Expression,
    JoinKind,
    Project,
    Relational,
    ScalarSubquery,
    Selection,
    ThetaJoin,
    Values,
    references,
    subqueries,
)
from planner.ir.rewrite import bottom_up, identity, map_expressions
from planner.ir.scalars import inline


def inline_constants(operator: Relational) -> Relational:
    """The rows of constants in `operator`, and as values inside its expressions, replaced by constants."""
    return bottom_up(map_expressions(operator, _value), _joined)


def _value(expression: Expression) -> Expression | None:
    if not isinstance(expression, ScalarSubquery):
        return None
    row = _constants(expression.query)
    return None if row is None else row[expression.column]


def _joined(join: Relational) -> Relational:
    if not (isinstance(join, ThetaJoin) and join.kind is JoinKind.INNER):
        return join
    for side, other in ((join.right, join.left), (join.left, join.right)):
        row = _constants(side)
        if row is not None:
            other = _given(other, row)
            items = (*identity(other.columns), *((column, row[column.id]) for column in side.columns))
            return Selection(Project(other, items), join.condition)
    return join


def _given(operator: Relational, row: Mapping[int, Expression]) -> Relational:
    """The operator, possibly lateral to the row, with its references to the row replaced by the row's
    values."""
    if not operator.free & row.keys():
        return operator
    return inline_constants(
        map_expressions(operator, lambda e: row.get(e.index) if isinstance(e, ColumnRef) else None)
    )


def _constants(operator: Relational) -> Mapping[int, Expression] | None:
    """The values of an operator that certainly has one row, always the same; None for any other operator."""
    match operator:
        case Values(columns=columns, rows=(values,)):
            return {c.id: Literal(value, c.type) for c, value in zip(columns, values, strict=True)}
        case Project(input=input, items=items):
            row = _constants(input)
            if row is None or any(references(e) - row.keys() or subqueries(e) for _, e in items):
                return None
            return {attribute.id: inline(e, row) for attribute, e in items}
    return None
