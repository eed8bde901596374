"""Comparisons of rows of values, as in PostgreSQL: the first unequal pair decides."""

from __future__ import annotations

from collections.abc import Sequence

from engine.plan.expressions import Op
from planner.bind.coercion import bind_comparison
from planner.errors import InvalidQuery
from planner.ir import Expression
from planner.ir.scalars import conjoin, disjoin, negate

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
