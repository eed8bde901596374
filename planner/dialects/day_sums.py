"""Moments and numbers of days: GETDATE() - 1 in T-SQL, hired + 1 / 24 in Oracle."""

from __future__ import annotations

from engine.plan.expressions import Op
from engine.schema import Kind, Type

_SUM = "{MOMENT} {SIGN} to_microseconds(CAST(round({NUMBER} * 86400000000) AS BIGINT))"
_SIGNS = {Op.ADD: "+", Op.SUB: "-"}


def day_sum(op: Op, left: Type, right: Type) -> str | None:
    """DuckDB's SQL for a moment and a number of days, which may have a fraction; None for other operands."""
    sides = (left, right) if op is Op.SUB or right.is_numeric else (right, left)
    moment, number = ("{0}", "{1}") if sides[0] is left else ("{1}", "{0}")
    if op not in _SIGNS or not sides[1].is_numeric:
        return None
    if sides[0].kind is Kind.DATE and not sides[1].is_integer:
        moment = f"CAST({moment} AS TIMESTAMP)"
    elif sides[0].kind not in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return None
    return _SUM.replace("{MOMENT}", moment).replace("{SIGN}", _SIGNS[op]).replace("{NUMBER}", number)
