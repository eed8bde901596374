"""Rewrites predicates with subqueries into the cheapest equivalent forms.

A filter keeps a row if its predicate is true. So below AND and OR a subquery's result may be false or NULL
alike; below NOT it matters whether the result could be true.
"""

from __future__ import annotations

from itertools import product

from engine.plan.expressions import Call, ColumnRef, Op
from planner.ir import Expression, Some, references, subqueries
from planner.ir.nullability import Columns, known_columns
from planner.ir.scalars import call, conjoin, conjuncts, disjoin, may_be_null, negate, split_chain

MAX_ALTERNATIVES = 9


def negations_inward(expression: Expression) -> Expression:
    """NOT pushed through AND, OR and NOT where subqueries lie below them."""
    if not (isinstance(expression, Call) and expression.op is Op.NOT and subqueries(expression)):
        if isinstance(expression, Call) and expression.op in (Op.AND, Op.OR):
            parts = [negations_inward(part) for part in split_chain(expression.op, expression)]
            return conjoin(parts) if expression.op is Op.AND else disjoin(parts)
        return expression
    inner = expression.args[0]
    if isinstance(inner, Call) and inner.op in (Op.AND, Op.OR):
        parts = [negations_inward(negate(part)) for part in split_chain(inner.op, inner)]
        return disjoin(parts) if inner.op is Op.AND else conjoin(parts)
    if isinstance(inner, Call) and inner.op is Op.NOT:
        return negations_inward(inner.args[0])
    return expression


def possible(some: Some, columns: Columns) -> list[Expression]:
    """Predicates of which one holds for a row exactly if `some.predicate` is not false.

    The first is `some.predicate` itself; the others test which operand is NULL. `columns` are the outer ones.
    """
    known = {**columns, **known_columns(some.query)}
    choices: list[list[Expression]] = []
    for part in conjuncts(some.predicate):
        operands = _operands(part)
        if operands is None:
            return _unsplit(some, known)
        nulls = [call(Op.IS_NULL, operand) for operand in operands if may_be_null(operand, known)]
        choices.append([part, *nulls])
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MAX_ALTERNATIVES:
        return _unsplit(some, known)
    return [conjoin(alternative) for alternative in product(*choices)]


def _operands(part: Expression) -> tuple[Expression, ...] | None:
    """The operands of a comparison, or of its negation, that is NULL exactly if one of them is; else None."""
    if isinstance(part, Call) and part.op is Op.NOT:
        return _operands(part.args[0])
    if isinstance(part, Call) and part.op in (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE):
        return part.args
    return None


def _unsplit(some: Some, known: Columns) -> list[Expression]:
    if not may_be_null(some.predicate, known):
        return [some.predicate]
    return [some.predicate, call(Op.IS_NULL, some.predicate)]


def outer_operands(some: Some, outer: frozenset[int]) -> list[Expression]:
    """The operands of the predicate's comparisons that depend on outer columns alone."""
    found: list[Expression] = []
    for part in conjuncts(some.predicate):
        for operand in _operands(part) or ():
            used = references(operand)
            asks = bool(used) or bool(subqueries(operand))
            if asks and used <= outer and not isinstance(operand, ColumnRef) and operand not in found:
                found.append(operand)
    return found
