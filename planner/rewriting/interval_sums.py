"""Sums of intervals, which DuckDB lacks, from sums of their months, days and microseconds.

sum(i)  →  to_months(sum(months of i)) + to_days(sum(days of i)) + to_microseconds(sum(microseconds of i))
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.native import templates
from planner.native.templates import with_parts

_PARTS = (
    "CAST(extract(year FROM {0}) * 12 + extract(month FROM {0}) AS BIGINT)",
    "CAST(extract(day FROM {0}) AS BIGINT)",
    "CAST(extract(hour FROM {0}) * 3600000000 + extract(minute FROM {0}) * 60000000 "
    "+ extract(microsecond FROM {0}) AS BIGINT)",
)
_SUM = (
    "to_months(CAST({0} AS INTEGER)) + to_days(CAST({1} AS INTEGER)) + to_microseconds(CAST({2} AS BIGINT))"
)
_DAYS = "round(({0} / {3} - trunc({0} / {3})) * 30, 6)"
_SECONDS = f"round(({{1}} / {{3}} - trunc({{1}} / {{3}}) + {_DAYS} - trunc({_DAYS})) * 86400, 6)"
_AVERAGE = (
    f"list_transform([{_SECONDS}], lambda s: to_months(CAST(trunc({{0}} / {{3}}) AS INTEGER)) "
    f"+ to_days(CAST(trunc({{1}} / {{3}}) + trunc({_DAYS}) + trunc(s / 86400) AS INTEGER)) "
    "+ to_microseconds(CAST({2} / {3} + (s - trunc(s / 86400) * 86400) * 1000000 AS BIGINT)))[1]"
)


def is_spread(node: exp.Expression, dialect: str) -> bool:
    """Whether the dialect's meaning of the call over intervals is that of `of_intervals`."""
    call = _call(node)
    return isinstance(call, exp.Sum) or (
        isinstance(call, exp.Avg) and has(dialect, Trait.AVERAGES_PARTS_OF_INTERVALS)
    )


def of_intervals(
    node: exp.Expression, is_interval: Callable[[exp.Expression], bool]
) -> exp.Expression | None:
    """The expression for a sum or an average of intervals, also over a window; None for any other."""
    call = _call(node)
    if call is None or isinstance(call.this, exp.Distinct) or not is_interval(call.this):
        return None
    parts = [_with(node, exp.Sum(this=templates.whole(part, call.this))) for part in _PARTS]
    if isinstance(call, exp.Sum):
        return templates.whole(_SUM, *parts)
    return templates.whole(_AVERAGE, *parts, _with(node, exp.Count(this=call.this.copy())))


def _call(node: exp.Expression) -> exp.Sum | exp.Avg | None:
    """The call below FILTER and OVER."""
    while isinstance(node, exp.Window | exp.Filter):
        node = node.this
    return node if isinstance(node, exp.Sum | exp.Avg) else None


def _with(node: exp.Expression, call: exp.Expression) -> exp.Expression:
    """The node with another call below its FILTER and OVER."""
    if not isinstance(node, exp.Window | exp.Filter):
        return call
    return with_parts(node, this=_with(node.this, call))
