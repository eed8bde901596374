"""Plans into plans that operators can run: a reduce with several methods becomes a join of reduces.

Counts, sums and averages of exact numbers are accumulated together; each MIN or MAX reads a trace of its own.
A group exists in all of these reduces or in none, so their rows are joined by key.

  Reduce(x, [k], [count(*), min(a)])
  → Map(Join(Reduce(x, [k], [count(*)]), Reduce(x, [k], [min(a)]), [k], [k]))

A join pairs all times of a key, of which there may be many if times have several coordinates. There the
reduces' rows are put side by side, to be added up:

  → Concat(Map(Reduce(x, [k], [count(*)]), [k, count, NULL, 0]),
           Map(Reduce(x, [k], [min(a)]), [k, NULL, min, NULL]))
"""

from __future__ import annotations

import enum
from dataclasses import replace

from engine.plan.expressions import ColumnRef, Expression, Literal
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    Map,
    Negate,
    Node,
    Reduce,
    Threshold,
    TopK,
)
from engine.schema import BIGINT, Column, Schema


class Method(enum.Enum):
    """How an aggregate is maintained."""

    SUMS = "accumulated"
    EXTREME = "ordered"
    FLOATS = "accumulated exactly"


def method(aggregate: AggregateSpec, input: Schema) -> Method:
    """How `aggregate` over a relation of the given schema is maintained."""
    if aggregate.argument is None or aggregate.function is Function.COUNT:
        return Method.SUMS
    if aggregate.is_extreme:
        return Method.EXTREME
    return Method.FLOATS if input.types[aggregate.argument].is_float else Method.SUMS


def split_reduce(node: Reduce) -> Node:
    """`node` as a join of reduces with one method each, and with one aggregate each unless that is SUMS."""
    parts = _parts(node)
    if len(parts) < 2:
        return node
    keys = tuple(range(len(node.keys)))
    joined: Node | None = None
    places: dict[int, int] = {}
    for part in parts:
        reduce = _part(node, part)
        offset = len(joined.schema) if joined else 0
        for k, index in enumerate(part):
            places[index] = offset + len(keys) + k
        joined = Join(joined, reduce, keys, keys) if joined else reduce
    columns = (*keys, *(places[index] for index in range(len(node.aggregates))))
    return Map(joined, tuple(ColumnRef(c, joined.schema.types[c]) for c in columns), node.schema)  # type: ignore[arg-type, union-attr]


def side_by_side(node: Reduce) -> Node | None:
    """The reduces of `split_reduce` as rows of the keys, all aggregates and a marker, None if there is one.

    Each has NULL as the aggregates of the others. A group exists if it has the row whose marker is not NULL.
    """
    parts = sorted(_parts(node), key=lambda part: _method(node, part[0]) is Method.EXTREME)
    if len(parts) < 2:
        return None
    split = len(node.keys)
    columns = (*node.schema.columns, Column("marker", BIGINT))
    schema = Schema(tuple(replace(column, nullable=True) for column in columns))
    rows: list[Node] = []
    for part in parts:
        reduce = _part(node, part)
        made: list[Expression] = [Literal(None, type) for type in schema.types]
        for place, column in enumerate((*range(split), *(split + index for index in part))):
            made[column] = ColumnRef(place, reduce.schema.types[place])
        if not rows:
            made[-1] = Literal(0, BIGINT)
        rows.append(Map(reduce, tuple(made), schema))
    return Concat(tuple(rows))


def _parts(node: Reduce) -> list[list[int]]:
    """The aggregates that are maintained together."""
    parts: list[list[int]] = []
    for index in range(len(node.aggregates)):
        shared = _method(node, index) is Method.SUMS
        home = next((p for p in parts if shared and _method(node, p[0]) is Method.SUMS), None)
        if home is None:
            parts.append([index])
        else:
            home.append(index)
    return parts


def _part(node: Reduce, part: list[int]) -> Reduce:
    return Reduce(node.input, node.keys, tuple(node.aggregates[index] for index in part))


def _method(node: Reduce, index: int) -> Method:
    return method(node.aggregates[index], node.input.schema)


def rows_after(node: TopK) -> Node:
    """A top-k without a limit, rewritten as all rows minus the first ones.

    TopK(x, limit=None, offset=n) → Concat(Threshold(x), Negate(TopK(x, limit=n)))
    """
    every = Threshold(node.input, Clamp.POSITIVE)
    if node.offset == 0:
        return every
    return Concat((every, Negate(TopK(node.input, node.keys, node.order, node.offset))))
