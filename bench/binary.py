"""Multijoins rewritten as binary joins, from left to right, for comparison."""

from __future__ import annotations

from dataclasses import replace

from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Filter, Join, Map, Node, Reduce, project


def binary(plan: Node) -> Node:
    """The plan with binary joins in place of the multijoins under its maps, filters and reduces.

    The result of a join holds each attribute once, and only those that are still needed.
    """
    match plan:
        case Map() | Filter() | Reduce():
            return replace(plan, input=binary(plan.input))
        case MultiJoin():
            return _left_deep(plan)
    return plan


def _left_deep(node: MultiJoin) -> Node:
    result = node.parts[0]
    bound = list(node.attributes[0])
    for part, attributes in list(zip(node.parts, node.attributes, strict=True))[1:]:
        shared = [a for a in attributes if a in bound]
        left = tuple(bound.index(a) for a in shared)
        every = [*bound, *attributes]
        kept = list(dict.fromkeys(every))
        result = Join(result, part, left, tuple(attributes.index(a) for a in shared))
        result = project(result, tuple(every.index(a) for a in kept))
        bound = kept
    return project(result, tuple(bound.index(a) for row in node.attributes for a in row))
