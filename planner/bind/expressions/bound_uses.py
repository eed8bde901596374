"""Aggregates, windows and lists in expressions, which the clause collects."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from engine.plan.expressions import Foreign
from engine.schema import BIGINT, INTERVAL
from planner.bind.aggregate_calls import aggregate_call
from planner.bind.aggregate_uses import bind_aggregate
from planner.bind.coercion import default_of_none
from planner.bind.expressions.binding import Binding
from planner.bind.statistics import moment
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.ir import Expression, references
from planner.ir.scalars import may_be_null
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.rewriting.interval_sums import is_spread, of_intervals

_WHOLE = "CAST(trunc({0}) AS BIGINT)"


def bind_aggregation(binding: Binding, node: exp.Expression) -> Expression:
    call = aggregate_call(node, binding.session.dialect)
    if binding.collector is None:
        written = node.sql(binding.session.dialect)
        hint = "write the condition in HAVING" if binding.clause == "WHERE" else ""
        fail(InvalidQuery(f"{binding.clause} cannot contain an aggregate: {written}", hint), node)
    inside = binding.within("an aggregate's argument")
    only = _filter(binding, call.only)
    derived = moment(call, inside.bind, only)
    uses = (bind_aggregate(call, inside.bind, only),) if derived is None else derived.uses
    used = frozenset().union(*(references(e) for use in uses for e in use.arguments))
    if used and not used & binding.scope.ids():
        refuse(node, "an aggregate over an outer query's columns is not supported")
    with binding.session.provenance.noting(node):
        columns: list[Expression] = [binding.collector.column(use, call.name).ref for use in uses]
    defaults = has(binding.session.dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node)
    defaults = defaults and (call.name == "array_agg" or not _may_be_null(binding, call.arguments, inside))
    if defaults and derived is None:
        columns = [default_of_none(call.name, column) for column in columns]
    if _is_whole_average(binding, call.name, uses[0].arguments):
        return Foreign(_WHOLE, (columns[0],), BIGINT)  # type: ignore[arg-type]
    if derived is None:
        return columns[0]
    value = derived.value(columns)
    return default_of_none(call.name, value) if defaults else value


def _may_be_null(binding: Binding, arguments: Sequence[exp.Expression], inside: Binding) -> bool:
    """Whether an aggregate of these arguments takes values that may be NULL."""
    columns = {c.id: c for table in binding.scope.tables for c in (*table.columns, *binding.scope.star)}
    return any(may_be_null(inside.bind(argument), columns) for argument in arguments)


def _window_or_default(binding: Binding, node: exp.Window, inside: Binding, value: Expression) -> Expression:
    """The value of a window function, or the default if a frame has no rows."""
    function = node.this.this if isinstance(node.this, exp.Filter) else node.this
    arguments = [function.this] if isinstance(function.this, exp.Expression) else []
    stars = (exp.Star, exp.IgnoreNulls)
    if not arguments or isinstance(arguments[0], stars) or _may_be_null(binding, arguments, inside):
        return value
    return default_of_none(function.sql_name().lower(), value)


def bind_spread(binding: Binding, node: exp.Expression) -> Expression | None:
    """A sum or an average of intervals, also over a window; None for anything else."""
    if not is_spread(node, binding.session.dialect):
        return None
    inside = binding if isinstance(node, exp.Window) else binding.within("an aggregate's argument")
    parts = of_intervals(node, lambda value: inside.bind(value).type == INTERVAL)
    return None if parts is None else binding.bind(parts)


def _filter(binding: Binding, condition: exp.Expression | None) -> Expression | None:
    if condition is None:
        return None
    return binding.within("FILTER").predicate(condition)


def bind_elements(binding: Binding, node: exp.Expression) -> Expression:
    if binding.lists is None:
        refuse(node, f"UNNEST is not supported in {binding.clause}", "write it in FROM")
    inside = binding.within("UNNEST", binding.collector, binding.windows)
    return binding.lists.column(node, inside.bind).ref


def bind_grouping(binding: Binding, node: exp.Grouping | exp.GroupingId) -> Expression:
    if binding.collector is None:
        fail(InvalidQuery(f"{binding.clause} cannot contain GROUPING"), node)
    return binding.collector.grouping(tuple(binding.bind(part) for part in node.expressions)).ref


def bind_window(binding: Binding, node: exp.Window) -> Expression:
    if binding.windows is None:
        fail(
            InvalidQuery(
                f"{binding.clause} cannot contain a window function: {node.sql(binding.session.dialect)}",
                "use QUALIFY, or a query around this one",
            ),
            node,
        )
    inside = binding.within("a window function", binding.collector)
    with binding.session.provenance.noting(node):
        value: Expression = binding.windows.column(node, binding.clause, inside.bind, inside.predicate).ref
    if has(binding.session.dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node):
        value = _window_or_default(binding, node, inside, value)
    averaged = [inside.bind(node.this.this)] if isinstance(node.this, exp.Avg) else []
    return Foreign(_WHOLE, (value,), BIGINT) if _is_whole_average(binding, "avg", averaged) else value  # type: ignore[arg-type]


def _is_whole_average(binding: Binding, name: str, values: Sequence[Expression]) -> bool:
    """Whether the average of these values is a whole number in the dialect."""
    is_average = name == "avg" and has(binding.session.dialect, Trait.AVERAGES_ARE_WHOLE)
    return is_average and bool(values) and values[0].type.is_integer
