"""The first rows of groups, and the first from a place on. How they break ties does not matter, since nothing
above can see it."""

from __future__ import annotations

from dataclasses import replace

from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import Ordering, TopK
from planner.ir import JoinKind, Nearest, Top
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


def lower_nearest(join: Nearest, left: Lowered, right: Lowered) -> Lowered:
    keys = sorted(set(zip(right.positions(join.right_keys), left.positions(join.left_keys), strict=True)))
    order: dict[int, Ordering] = {}
    for ordering in join.order:
        place = right.position(ordering.column)
        order.setdefault(place, ordering._replace(column=place))
    node = NearestJoin(
        left.node,
        right.node,
        tuple(key for _, key in keys),
        tuple(key for key, _ in keys),
        left.position(join.place),
        tuple(order.values()),
        join.is_strict,
        join.kind is JoinKind.LEFT,
    )
    rights = tuple(null or node.pads for null in right.nullable)
    return Lowered(node, left.ids + right.ids, left.nullable + rights, left.key)
