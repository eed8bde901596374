"""The first rows of groups: a TopK. How it breaks ties does not matter, since nothing above can see it."""

from __future__ import annotations

from dataclasses import replace

from engine.plan.nodes import Ordering, TopK
from planner.ir import Top
from planner.lower.lowered import Lowered


def lower_top(top: Top, input: Lowered) -> Lowered:
    keys = frozenset(input.positions(top.keys))
    order: dict[int, Ordering] = {}
    for ordering in top.order:
        place = input.position(ordering.column)
        if place not in keys:
            order.setdefault(place, ordering._replace(column=place))
    node = TopK(input.node, tuple(sorted(keys)), tuple(order.values()), top.limit, top.offset)
    return replace(input, node=node, key=keys if top.has_one else input.key)
