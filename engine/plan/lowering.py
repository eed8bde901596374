"""Plans into plans that operators can run: a reduce with several methods becomes a join of reduces.

Counts, sums and averages of exact numbers are accumulated together; each MIN or MAX reads a trace of its own.
A group exists in all of these reduces or in none, so their rows are joined by key.

  Reduce(x, [k], [count(*), min(a)])
  → Map(Join(Reduce(x, [k], [count(*)]), Reduce(x, [k], [min(a)]), [k], [k]))
"""

from __future__ import annotations

import enum

from engine.plan.expressions import ColumnRef
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
from engine.schema import Schema


class Method(enum.Enum):
    """How an aggregate is maintained."""

    SUMS = "accumulated"
    EXTREME = "ordered"
    FLOATS = "accumulated exactly"


def method(aggregate: AggregateSpec, input: Schema) -> Method:
    """How `aggregate` over a relation of the given schema is maintained."""
    if aggregate.argument is None or aggregate.function is Function.COUNT:
        return Method.SUMS
    if aggregate.function in (Function.MIN, Function.MAX):
        return Method.EXTREME
    return Method.FLOATS if input.types[aggregate.argument].is_float else Method.SUMS


def split_reduce(node: Reduce) -> Node:
    """`node` as a join of reduces with one method each, and with one aggregate each unless that is SUMS."""
    parts: list[list[int]] = []
    for index, aggregate in enumerate(node.aggregates):
        shared = method(aggregate, node.input.schema) is Method.SUMS
        home = next((p for p in parts if shared and _is_sums(node, p[0])), None)
        if home is None:
            parts.append([index])
        else:
            home.append(index)
    if len(parts) < 2:
        return node
    keys = tuple(range(len(node.keys)))
    joined: Node | None = None
    places: dict[int, int] = {}
    for part in parts:
        reduce = Reduce(node.input, node.keys, tuple(node.aggregates[i] for i in part))
        offset = len(joined.schema) if joined else 0
        for k, index in enumerate(part):
            places[index] = offset + len(keys) + k
        joined = Join(joined, reduce, keys, keys) if joined else reduce
    columns = (*keys, *(places[index] for index in range(len(node.aggregates))))
    return Map(joined, tuple(ColumnRef(c, joined.schema.types[c]) for c in columns), node.schema)  # type: ignore[arg-type, union-attr]


def _is_sums(node: Reduce, index: int) -> bool:
    return method(node.aggregates[index], node.input.schema) is Method.SUMS


def rows_after(node: TopK) -> Node:
    """A top-k without a limit, rewritten as all rows minus the first ones.

    TopK(x, limit=None, offset=n) → Concat(Threshold(x), Negate(TopK(x, limit=n)))
    """
    every = Threshold(node.input, Clamp.POSITIVE)
    if node.offset == 0:
        return every
    return Concat((every, Negate(TopK(node.input, node.keys, node.order, node.offset))))
