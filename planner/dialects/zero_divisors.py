"""Divisors whose zero fails, as it does for whole numbers, where DuckDB's quotient would be infinite."""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql, with_parts

_DIVISOR = "CASE WHEN {0} = 0 THEN 1 % CAST({0} AS BIGINT) ELSE {0} END"
_GUARDED = "guarded"


def guarded_division(node: exp.Div) -> exp.Expression:
    """The division with a divisor that fails for zero; the node itself if it is none."""
    if _GUARDED in node.meta or not _may_be_zero(node.expression):
        return node
    return with_parts(node, _GUARDED, expression=sql(_DIVISOR, [node.expression]))


def _may_be_zero(divisor: exp.Expression) -> bool:
    is_number = isinstance(divisor, exp.Literal) and divisor.name.strip("0.") != ""
    return not is_number and not isinstance(divisor, exp.Nullif)
