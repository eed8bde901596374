"""Comparisons of values, of rows, and of a value with ANY or ALL of several."""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Op
from planner.bind.arrays import each
from planner.bind.expressions.binding import Binding
from planner.bind.expressions.bound_operators import bind_any_of, rows_compared
from planner.bind.expressions.taken_digits import take_common_digits, take_digits_of_rows
from planner.bind.expressions.untyped_texts import take_beside
from planner.bind.subqueries import quantified
from planner.dialects.row_comparisons import row_parts
from planner.errors import UnsupportedType
from planner.ir import Expression

COMPARISONS: dict[type[exp.Expression], Op] = {
    exp.EQ: Op.EQ,
    exp.NEQ: Op.NE,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
    exp.NullSafeEQ: Op.NOT_DISTINCT,
    exp.NullSafeNEQ: Op.DISTINCT,
}


def bind_comparing(binding: Binding, node: exp.Expression) -> Expression:
    quantifier = _quantifier_of(node.expression)
    if quantifier is not None:
        return _quantified(binding, node, quantifier)
    op, dialect = COMPARISONS[type(node)], binding.session.dialect
    left, right = row_parts(node.this, dialect), row_parts(node.expression, dialect)
    if left is not None and right is not None:
        return rows_compared(binding, op, left, right)
    try:
        a, b = binding.bind(node.this), binding.bind(node.expression)
        take_beside(binding.session, node.this, a, b.type)
        take_beside(binding.session, node.expression, b, a.type)
        take_common_digits(binding.session, [node.this, node.expression], [a.type, b.type])
        return binding.compared(op, a, b)
    except UnsupportedType:
        return binding.function(node)


def _quantified(binding: Binding, node: exp.Expression, quantifier: exp.Any | exp.All) -> Expression:
    """A comparison with ANY or ALL of a query's rows or of an array's elements."""
    inner = quantifier.this
    while isinstance(inner, exp.Paren):  # not those of a query, which may be VALUES
        inner = inner.this
    op = COMPARISONS[type(node)]
    if isinstance(inner, exp.Query) and isinstance(inner, exp.Expression):
        row, rows = binding.row(node.this), binding.query(inner)
        take_digits_of_rows(binding.session, node.this, row, inner, rows)
        return quantified(op, row, quantifier, rows, binding.session.dialect)
    every = isinstance(quantifier, exp.All)
    if isinstance(inner, exp.Array) and op is Op.EQ and not every:
        return bind_any_of(binding, node.this, inner.expressions)
    value, array = binding.bind(node.this), binding.bind(inner)
    take_common_digits(binding.session, [node.this, inner], [value.type, array.type])
    return each(op, value, array, every, node, binding.session.dialect)


def _quantifier_of(node: exp.Expression) -> exp.Any | exp.All | None:
    """The ANY, SOME or ALL on a comparison's right side, or None."""
    if isinstance(node, exp.Any | exp.All):
        return node
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        match node.name.upper():
            case "ALL":
                return exp.All(this=node.expressions[0])
            case "SOME":
                return exp.Any(this=node.expressions[0])
    return None
