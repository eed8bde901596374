"""Sums and averages of intervals in ad-hoc queries, as views have them (`planner.rewriting.interval_sums`).

An argument is an interval where its form says so, or the name of a column that has one type in the query's
tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from engine.schema import Kind, Type
from planner.adhoc.column_types import column_type
from planner.rewriting.interval_sums import is_spread, of_intervals

_TIMES = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.INTERVAL})


def with_summed_intervals(query: exp.Expression, types: Mapping[str, Type], dialect: str) -> None:
    """Replaces the sums and averages of intervals in a query; `types` are those of columns, by name."""
    for call in list(query.find_all(exp.Sum, exp.Avg)):
        whole: exp.Expression = call  # type: ignore[assignment]
        while isinstance(whole.parent, exp.Window | exp.Filter) and whole.parent.this is whole:
            whole = whole.parent  # type: ignore[assignment]
        if is_spread(whole, dialect):
            found = of_intervals(whole, lambda value: _is_interval(value, types))
            if found is not None:
                whole.replace(found)


def _is_interval(node: exp.Expr, types: Mapping[str, Type]) -> bool:
    match node:
        case exp.Paren() | exp.Neg():
            return _is_interval(node.this, types)
        case exp.Interval():
            return True
        case exp.Cast(to=exp.DataType(this=exp.DType.INTERVAL) | exp.Interval()):
            return True
        case exp.Mul():
            return _is_interval(node.this, types) or _is_interval(node.expression, types)
        case exp.Sub():
            return all(_kind(side, types) in _TIMES for side in (node.this, node.expression))
    return _kind(node, types) is Kind.INTERVAL


def _kind(node: exp.Expr, types: Mapping[str, Type]) -> Kind | None:
    found = column_type(node, types)
    return None if found is None else found.kind
