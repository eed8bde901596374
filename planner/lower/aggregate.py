"""Aggregation: Reduce over just the columns that it needs.

Distinct aggregates reduce the distinct rows of keys and argument; where a query has several
kinds, the parts are joined again on the keys. Without keys there is always one row: the row
of nothing (counts zero, all else NULL) stands unless a Reduce has one.
"""

from __future__ import annotations

from engine.expressions import Literal
from engine.plan import Aggregate as EngineAggregate
from engine.plan import Constant, Function, Join, Map, Reduce
from engine.schema import Column, Schema
from planner.ir import Aggregate, AggregateItem
from planner.lower.lowered import Lowered, difference, distinct, projected, sum_of, taken
from planner.lower.values import UNIT_ROW


def lower_aggregate(aggregate: Aggregate, input: Lowered) -> Lowered:
    keys = tuple(dict.fromkeys(aggregate.keys))
    groups: dict[int | None, list[AggregateItem]] = {}
    for item in aggregate.items:
        groups.setdefault(item.argument if item.distinct else None, []).append(item)
    if not groups:
        return distinct(projected(input, _sorted(input, keys))) if keys else UNIT_ROW
    parts = [_part(input, keys, argument, items) for argument, items in groups.items()]
    result = parts[0]
    width = tuple(range(len(keys)))
    for part in parts[1:]:
        node = Join(result.node, part.node, width, width)
        both = Lowered(node, result.ids + part.ids, result.nullable + part.nullable, result.key)
        kept = (*range(len(result.ids)), *range(len(result.ids) + len(keys), len(both.ids)))
        result = taken(both, kept)
    return result


def _sorted(input: Lowered, ids: tuple[int, ...]) -> tuple[int, ...]:
    """The attributes in the order of their positions, so that the order of GROUP BY makes no difference."""
    return tuple(sorted(ids, key=input.position))


def _part(input: Lowered, keys: tuple[int, ...], argument: int | None, items: list[AggregateItem]) -> Lowered:
    """The aggregates of all rows (`argument` None), or of the distinct values of one column."""
    keys = _sorted(input, keys)
    arguments = {i.argument for i in items if i.argument is not None and _reads(i, input)}
    others = [id for id in input.ids if id in arguments and id not in keys]
    rows = projected(input, (*keys, *dict.fromkeys(others)))
    if argument is not None:
        rows = distinct(rows)
    engine_items = tuple(
        EngineAggregate(
            i.function, rows.position(i.argument) if i.argument in arguments else None, i.attribute.type
        )
        for i in items
    )
    node = Reduce(rows.node, rows.positions(keys), engine_items)
    ids = (*keys, *(i.attribute.id for i in items))
    if not keys:
        return _always(node, ids)
    nullable = tuple(rows.nullable[rows.position(k)] for k in keys)
    nullable += tuple(c.nullable for c in node.schema.columns[len(keys) :])
    return Lowered(node, ids, nullable, frozenset(range(len(keys))))


def _reads(item: AggregateItem, input: Lowered) -> bool:
    """Whether the aggregate needs its argument: a count of what is never NULL counts rows."""
    return (
        item.function is not Function.COUNT
        or item.distinct
        or (item.argument is not None and input.nullable[input.position(item.argument)])
    )


def _always(reduce: Reduce, ids: tuple[int, ...]) -> Lowered:
    """A Reduce without keys, with the row of nothing where it has no row."""
    nothing = tuple(0 if a.function is Function.COUNT else None for a in reduce.aggregates)
    literals = tuple(Literal(value, a.type) for value, a in zip(nothing, reduce.aggregates, strict=True))
    nullable = tuple(a.function is not Function.COUNT for a in reduce.aggregates)
    columns = zip(reduce.schema.columns, nullable, strict=True)
    schema = Schema(tuple(Column(c.name, c.type, null) for c, null in columns))
    default, shadow = Constant((nothing,), schema), Map(reduce, literals, schema)
    return Lowered(difference(sum_of((reduce, default)), shadow), ids, nullable, frozenset())
