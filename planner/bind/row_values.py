"""Comparisons of rows of values: the first unequal pair decides.

In SQL's rows a NULL is unknown, so it decides nothing. In a struct NULL is a value, greater than all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.plan.expressions import Op
from engine.schema import BOOLEAN
from planner.bind.coercion import bind_comparison
from planner.errors import InvalidQuery
from planner.ir import Expression
from planner.ir.scalars import call, conjoin, disjoin, negate

_STRICT = {Op.LT: Op.LT, Op.LE: Op.LT, Op.GT: Op.GT, Op.GE: Op.GT}


def compare_rows(
    op: Op, left: Sequence[Expression], right: Sequence[Expression], dialect: str = ""
) -> Expression:
    """`(a, b) op (c, d)`. Raises InvalidQuery if the rows have different lengths."""
    if len(left) != len(right):
        raise InvalidQuery("rows of different lengths cannot be compared")
    pairs = list(zip(left, right, strict=True))
    if op is Op.NE:
        return negate(compare_rows(Op.EQ, left, right, dialect))
    if op is Op.DISTINCT:
        return disjoin(bind_comparison(op, a, b, dialect) for a, b in pairs)
    if op not in _STRICT:
        return conjoin(bind_comparison(op, a, b, dialect) for a, b in pairs)
    *before, last = pairs
    result = bind_comparison(op, *last, dialect)
    for a, b in reversed(before):
        result = disjoin(
            [
                bind_comparison(_STRICT[op], a, b, dialect),
                conjoin([bind_comparison(Op.EQ, a, b, dialect), result]),
            ]
        )
    return result


def compare_values(
    op: Op, left: Sequence[Expression], right: Sequence[Expression], dialect: str = ""
) -> Expression:
    """The same for the fields of two structs; never NULL. Raises InvalidQuery."""
    if len(left) != len(right):
        raise InvalidQuery("rows of different lengths cannot be compared")
    pairs = list(zip(left, right, strict=True))
    if op in (Op.EQ, Op.NOT_DISTINCT):
        return conjoin(bind_comparison(Op.NOT_DISTINCT, a, b, dialect) for a, b in pairs)
    if op in (Op.NE, Op.DISTINCT):
        return disjoin(bind_comparison(Op.DISTINCT, a, b, dialect) for a, b in pairs)
    if op in (Op.GT, Op.GE):
        return compare_values(Op.LT if op is Op.GT else Op.LE, right, left, dialect)
    if op is Op.LE:
        return negate(compare_values(Op.LT, right, left, dialect))
    *before, last = pairs
    result = _less(*last, dialect)
    for a, b in reversed(before):
        equal = bind_comparison(Op.NOT_DISTINCT, a, b, dialect)
        result = disjoin([_less(a, b, dialect), conjoin([equal, result])])
    return result


def _less(a: Expression, b: Expression, dialect: str) -> Expression:
    """Whether `a < b`, where NULL is greater than all values."""
    by_null = conjoin([negate(call(Op.IS_NULL, a)), call(Op.IS_NULL, b)])
    return call(Op.COALESCE, bind_comparison(Op.LT, a, b, dialect), by_null, type=BOOLEAN)
