"""Aggregation: each class of functions is computed over only the columns that it needs; the results are
joined on the keys.

Accumulated functions become one Reduce; those of distinct values become a Reduce over the distinct rows of
keys and argument. A first value is a TopK of one row; the general functions share one GroupQuery. Without
keys there is always one row: the row for no input appears unless a part has a row.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from engine.plan.expressions import ColumnRef, Literal
from engine.plan.group_queries import GROUPS, GroupQuery
from engine.plan.nodes import AggregateSpec as EngineAggregate
from engine.plan.nodes import Constant, Function, Join, Map, Node, Ordering, Reduce, TopK
from engine.schema import Column, Schema
from planner.ir import Aggregate, AggregateItem, First, GeneralAggregate, nothing_of
from planner.lower.leaves import UNIT_ROW
from planner.lower.lowered import Lowered, difference, distinct, mapped, projected, sum_of, taken

_OF_ONE_ROW = (Function.MIN, Function.MAX)
"""Functions whose value over a single value is that value."""


def lower_aggregate(aggregate: Aggregate, input: Lowered) -> Lowered:
    keys = tuple(sorted(dict.fromkeys(aggregate.keys), key=input.position))
    groups: dict[Hashable, list[AggregateItem]] = {}
    for item in aggregate.items:
        groups.setdefault(_apart(item), []).append(item)
    if not groups:
        return distinct(projected(input, keys)) if keys else UNIT_ROW
    if keys and _are_rows(input, keys) and all(item.function in _OF_ONE_ROW for item in aggregate.items):
        return _alone(input, keys, aggregate.items)
    parts = [_part(input, keys, items) for items in groups.values()]
    result = parts[0]
    width = tuple(range(len(keys)))
    for part in parts[1:]:
        node = Join(result.node, part.node, width, width)
        both = Lowered(node, result.ids + part.ids, result.nullable + part.nullable, result.key)
        kept = (*range(len(result.ids)), *range(len(result.ids) + len(keys), len(both.ids)))
        result = taken(both, kept)
    return result


def _are_rows(input: Lowered, keys: tuple[int, ...]) -> bool:
    """Whether each group has only one row."""
    return input.key is not None and input.key <= frozenset(input.positions(keys))


def _alone(input: Lowered, keys: tuple[int, ...], items: tuple[AggregateItem, ...]) -> Lowered:
    """The groups, each of one row, with that row's values."""
    pairs = [*((key, key) for key in keys), *((item.attribute.id, item.arguments[0]) for item in items)]
    types = input.node.schema.types
    return mapped(input, [(new, ColumnRef(old, types[input.position(old)])) for new, old in pairs])


def _apart(item: AggregateItem) -> Hashable:
    """The key that separates items which cannot be computed together."""
    match item.function:
        case First():
            return item
        case GeneralAggregate():
            return GeneralAggregate
        case _:
            return frozenset(item.arguments) if item.distinct else None


def _part(input: Lowered, keys: tuple[int, ...], items: list[AggregateItem]) -> Lowered:
    """The groups with the items that are computed together.

    `keys` are sorted by position, so that the order of GROUP BY makes no difference.
    """
    match items[0].function:
        case First():
            node = _first(input, keys, items[0])
        case GeneralAggregate():
            node = _general(input, keys, items)
        case _:
            node = reduced(input, keys, items)
    ids = (*keys, *(item.attribute.id for item in items))
    if not keys:
        return _always(node, ids, items)
    nullable = tuple(input.nullable[input.position(key)] for key in keys)
    nullable += tuple(column.nullable for column in node.schema.columns[len(keys) :])
    return Lowered(node, ids, nullable, frozenset(range(len(keys))))


def reduced(input: Lowered, keys: tuple[int, ...], items: list[AggregateItem]) -> Node:
    """Accumulated functions over all rows, or over the distinct values of one column."""
    arguments = {a for item in items if _reads(item, input) for a in item.arguments}
    others = [id for id in input.ids if id in arguments and id not in keys]
    rows = projected(input, (*keys, *dict.fromkeys(others)))
    if items[0].distinct:
        rows = distinct(rows)
    aggregates = []
    for item in items:
        places = rows.positions(item.arguments) if arguments.issuperset(item.arguments) else ()
        argument = places[0] if places else None
        other = places[1] if len(places) > 1 else None
        aggregates.append(EngineAggregate(item.function, argument, item.attribute.type, other=other))  # type: ignore[arg-type]
    return Reduce(rows.node, rows.positions(keys), tuple(aggregates))


def _reads(item: AggregateItem, input: Lowered) -> bool:
    """Whether the aggregate needs its argument: a count of a column that is never NULL counts rows."""
    return (
        item.function is not Function.COUNT
        or item.distinct
        or any(input.nullable[position] for position in input.positions(item.arguments))
    )


def _first(input: Lowered, keys: tuple[int, ...], item: AggregateItem) -> Node:
    """The first row of each group by the item's order; its value is kept."""
    value, *others = item.arguments
    rows = projected(input, tuple(dict.fromkeys((*keys, *others, value))))
    placed = zip(rows.positions((*others, value)), item.function.order, strict=True)  # type: ignore[union-attr]
    order = tuple(Ordering(position, *direction) for position, direction in placed)
    top = TopK(rows.node, rows.positions(keys), order, 1)
    places = rows.positions((*keys, value))
    columns = tuple(_column(rows, place, item if i == len(keys) else None) for i, place in enumerate(places))
    return Map(top, tuple(ColumnRef(p, rows.node.schema.types[p]) for p in places), Schema(columns))


def _column(rows: Lowered, place: int, item: AggregateItem | None) -> Column:
    column = rows.node.schema.columns[place]
    return column if item is None else Column("first", column.type, item.attribute.nullable)


def _general(input: Lowered, keys: tuple[int, ...], items: list[AggregateItem]) -> Node:
    """All functions that need the whole group, in one query; a key that is an argument occurs twice."""
    arguments = tuple(dict.fromkeys(a for item in items for a in item.arguments))
    rows = taken(input, input.positions((*keys, *arguments)))
    texts = [
        item.function.text([f"c{arguments.index(a)}" for a in item.arguments])  # type: ignore[union-attr]
        for item in items
    ]
    results = Schema(tuple(Column(f"r{i}", item.attribute.type) for i, item in enumerate(items)))
    query = f"SELECT g, {', '.join(texts)} FROM {GROUPS} GROUP BY g"
    return GroupQuery(rows.node, tuple(range(len(keys))), query, results)


def _always(node: Node, ids: tuple[int, ...], items: Iterable[AggregateItem]) -> Lowered:
    """The single group without keys, with the row for no input if the group is empty."""
    nothing = tuple(nothing_of(item.function) for item in items)
    types = node.schema.types
    literals = tuple(Literal(value, type) for value, type in zip(nothing, types, strict=True))
    nullable = tuple(value is None for value in nothing)
    columns = zip(node.schema.columns, nullable, strict=True)
    schema = Schema(tuple(Column(c.name, c.type, null) for c, null in columns))
    default, shadow = Constant((nothing,), schema), Map(node, literals, schema)
    return Lowered(difference(sum_of((node, default)), shadow), ids, nullable, frozenset())
