"""Sums of intervals in ad-hoc queries: DuckDB has none, and adds them up in a list.

    sum(i)   →   list_reduce(list(i) FILTER (WHERE i IS NOT NULL), lambda a, b: a + b)

An argument is an interval where its form says so, or the name of a column that has one type in the query's
tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from engine.schema import Kind, Type
from planner.adhoc.enum_labels import types_by_name
from planner.adhoc.from_clauses import Relations
from planner.native import templates

_TIMES = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.INTERVAL})


def with_interval_sums(query: exp.Expression, relations: Relations) -> None:
    """Replaces the sums of intervals in a query."""
    sums = list(query.find_all(exp.Sum))
    types = types_by_name(query, relations) if sums else {}
    for node in sums:
        if _is_interval(node.this, types):
            _add_up(node)


def _add_up(node: exp.Sum) -> None:
    value = node.this
    whole: exp.Expr = node
    bare = value.expressions[0] if isinstance(value, exp.Distinct) else value
    is_there: exp.Expr = exp.Not(this=exp.Is(this=bare.copy(), expression=exp.Null()))
    if isinstance(node.parent, exp.Filter) and node.parent.this is node:
        whole = node.parent
        is_there = exp.And(this=exp.Paren(this=whole.expression.this), expression=is_there)
    listed: exp.Expr = exp.Filter(this=exp.ArrayAgg(this=value.copy()), expression=exp.Where(this=is_there))
    if isinstance(whole.parent, exp.Window) and whole.parent.this is whole:
        window = whole.parent
        whole.replace(listed)
        whole, listed = window, window.copy()
    whole.replace(templates.sql("list_reduce({0}, lambda a, b: a + b)", [listed]))


def _is_interval(node: exp.Expr, types: Mapping[str, Type]) -> bool:
    match node:
        case exp.Paren() | exp.Distinct() | exp.Neg():
            inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
            return _is_interval(inner, types)
        case exp.Interval():
            return True
        case exp.Cast(to=exp.DataType(this=exp.DType.INTERVAL)) | exp.Cast(to=exp.Interval()):
            return True
        case exp.Mul():
            return _is_interval(node.this, types) or _is_interval(node.expression, types)
        case exp.Sub():
            return all(_kind(side, types) in _TIMES for side in (node.this, node.expression))
    return _kind(node, types) is Kind.INTERVAL


def _kind(node: exp.Expr, types: Mapping[str, Type]) -> Kind | None:
    found = types.get(node.name.lower()) if isinstance(node.unnest(), exp.Column) else None
    return None if found is None else found.kind
