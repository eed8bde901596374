"""Simplifies expressions without changing their meaning.

    CAST('2020-01-01' AS DATE)             →   DATE '2020-01-01'
    5 < x                                  →   x > 5
    CAST(day AS TIMESTAMP) < TIMESTAMP '2020-01-01'   →   day < DATE '2020-01-01'
    x IS NULL, where x is never NULL       →   FALSE

A constant that cannot be computed stays: it is an error of the rows that need it.
"""

from __future__ import annotations

from datetime import datetime, time

from engine.plan.expressions import Call, Case, Cast, Literal, Op
from engine.schema import BOOLEAN, DATE
from planner.ir import Expression, Relational, Selection, ThetaJoin, children
from planner.ir.constants import fold_constant
from planner.ir.nullability import Columns, known_columns
from planner.ir.rewrite import with_expressions
from planner.ir.scalars import (
    FALSE,
    TRUE,
    TURNED,
    conjoin,
    conjuncts,
    may_be_null,
    split_chain,
    with_children,
)
from planner.passes.junctions import junction

_UNKNOWN = Literal(None, BOOLEAN)


def simplify_expressions(operator: Relational) -> Relational:
    if not operator.expressions:
        return operator
    known = {id: column for i in operator.inputs for id, column in known_columns(i).items()}
    new = tuple(simplified(e, known) for e in operator.expressions)
    if isinstance(operator, Selection | ThetaJoin):
        new = tuple(conjoin(_strict(part, known) for part in conjuncts(e)) for e in new)
    return with_expressions(operator, new)


def simplified(expression: Expression, known: Columns) -> Expression:
    """The expression, parts first; `known` are the columns that it reads."""
    if isinstance(expression, Call) and expression.op in (Op.AND, Op.OR):
        return junction(
            expression.op, [simplified(part, known) for part in split_chain(expression.op, expression)]
        )
    parts = children(expression)
    new = tuple(simplified(part, known) for part in parts)
    if any(a is not b for a, b in zip(new, parts, strict=True)):
        expression = with_children(expression, new)
    match expression:
        case Call(op=Op.NOT, args=(Literal(value=value),)):
            return Literal(None if value is None else not value, BOOLEAN)
        case Call(op=op, args=(Literal() as left, right), type=type) if op in TURNED and not (
            isinstance(right, Literal)
        ):
            return Call(TURNED[op], (right, left), type)  # type: ignore[arg-type]
        case Call(op=op, args=(Cast(arg=arg), Literal(value=datetime() as value))) if (
            op in TURNED and arg.type == DATE and value.tzinfo is None and value.time() == time()
        ):
            return Call(op, (arg, Literal(value.date(), DATE)), BOOLEAN)  # type: ignore[arg-type]
        case Call(op=Op.IS_NULL, args=(arg,)) if not may_be_null(arg, known):
            return FALSE
        case Call(op=Op.IS_NULL, args=(Literal(value=None),)):
            return TRUE
        case Call(op=Op.NOT_DISTINCT, args=(left, right)) if not (
            may_be_null(left, known) or may_be_null(right, known)
        ):
            return Call(Op.EQ, expression.args, BOOLEAN)
        case Case(branches=branches, otherwise=otherwise, type=type):
            taken = tuple((test, value) for test, value in branches if test not in (FALSE, _UNKNOWN))
            return Case(taken, otherwise, type) if taken else otherwise
        case _:
            return fold_constant(expression)


def _strict(part: Expression, known: Columns) -> Expression:
    """A conjunct that may be NULL instead of false; a column that is never NULL equals no NULL."""
    match part:
        case Call(op=Op.NOT_DISTINCT, args=args) if not all(may_be_null(arg, known) for arg in args):
            return Call(Op.EQ, args, BOOLEAN)
    return part
