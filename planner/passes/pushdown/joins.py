"""Inner joins in an order that follows the equalities between them.

Each relation is joined to those before it that it shares an equality with, in the order of FROM
as far as that goes; relations that nothing connects are crossed last. Contexts of subqueries
that the conditions make superfluous are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.ir import UNIT, Expression, Item, Join, JoinKind, Operator, Project, references
from planner.lower.keys import equality_of
from planner.passes.pushdown.contexts import without_contexts
from planner.rewrite import identity
from planner.scalars import conjoin

Push = Callable[[Operator, list[Expression]], Operator]


@dataclass(frozen=True)
class Parts:
    """Relations to be joined, the conjuncts over all their columns, and how to filter one of them."""

    leaves: list[Operator]
    conjuncts: list[Expression]
    push: Push


def joined(parts: Parts) -> Operator:
    """The inner join of the parts, with all their columns."""
    columns = tuple(column for leaf in parts.leaves for column in leaf.columns)
    leaves, conjuncts, replaced = without_contexts(parts.leaves, parts.conjuncts)
    leaves = [leaf for leaf in leaves if leaf != UNIT] or [UNIT]
    filtered = []
    for i, leaf in enumerate(leaves):
        own = [p for p in conjuncts if references(p) <= leaf.ids and (references(p) or i == 0)]
        conjuncts = [p for p in conjuncts if p not in own]
        filtered.append(parts.push(leaf, own))
    result = _ordered(filtered, conjuncts)
    if not replaced:
        return result
    items: list[Item] = [*identity(result.columns)]
    items += [(column, replaced[column.id]) for column in columns if column.id in replaced]
    return Project(result, tuple(items))


def _ordered(leaves: list[Operator], conjuncts: list[Expression]) -> Operator:
    """Components that grow along equalities, then joined with each other in the same way."""
    components: list[Operator] = []
    remaining = list(leaves)
    while remaining:
        component = remaining.pop(0)
        while (index := _connected(component, remaining, conjuncts)) is not None:
            component, conjuncts = _joined(component, remaining.pop(index), conjuncts)
        components.append(component)
    result = components.pop(0)
    while components:
        index = _connected(result, components, conjuncts) or 0
        result, conjuncts = _joined(result, components.pop(index), conjuncts)
    return result


def _connected(left: Operator, others: list[Operator], conjuncts: list[Expression]) -> int | None:
    """The first of `others` that an equality connects with `left`."""
    for index, other in enumerate(others):
        if any(equality_of(part, left.ids, other.ids) for part in conjuncts):
            return index
    return None


def _joined(
    left: Operator, right: Operator, conjuncts: list[Expression]
) -> tuple[Operator, list[Expression]]:
    """The join on all conjuncts that it is the first to have the columns of, and the rest of them."""
    ids = left.ids | right.ids
    own = [part for part in conjuncts if references(part) <= ids]
    rest = [part for part in conjuncts if part not in own]
    return Join(JoinKind.INNER, left, right, conjoin(own)), rest
