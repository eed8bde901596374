"""Averages of dates in ad-hoc queries, as views have them: of moments. DuckDB averages dates in nanoseconds,
which begin in 1677 and end in 2262."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from engine.schema import Kind, Type
from planner.adhoc.column_types import column_type


def with_averaged_dates(query: exp.Expression, types: Mapping[str, Type]) -> None:
    """Casts what is averaged to TIMESTAMP if it is a cast to DATE, or a column that has this type in the
    query's tables; `types` are those of columns, by name."""
    for call in query.find_all(exp.Avg):
        values = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this]
        for value in values:
            if _is_date(value.unnest(), types):
                value.replace(exp.cast(value.copy(), "TIMESTAMP"))


def _is_date(value: exp.Expr, types: Mapping[str, Type]) -> bool:
    if isinstance(value, exp.Cast):
        return value.to.is_type(exp.DType.DATE)
    type = column_type(value, types)
    return type is not None and type.kind is Kind.DATE
