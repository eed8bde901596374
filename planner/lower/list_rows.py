"""Rows of lists' elements: an Unnest over the columns that are needed."""

from __future__ import annotations

from engine.plan.list_elements import Elements
from engine.plan.list_elements import Unnest as UnnestNode
from planner.ir import UnnestLists
from planner.lower.lowered import Lowered, lowered


def lower_unnest(unnest: UnnestLists, input: Lowered) -> Lowered:
    lists = tuple(Elements(input.positions(each.arguments), each.exclusive) for each in unnest.lists)
    node = UnnestNode(input.node, lists, unnest.place is not None, unnest.outer)
    made = tuple(each.attribute.id for each in unnest.lists)
    return lowered(node, (*input.ids, *made, *((unnest.place.id,) if unnest.place else ())))
