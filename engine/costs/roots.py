"""Roots: the collections from which recursions begin, of which a trial takes a share.

A recursion over a share of the edges finds next to nothing of what it finds over all of them. Over a share of
its beginnings it finds about that share. So a trial reads all that the steps read, and thins out what enters
a loop from outside: initial collections, and the parts of a binding's sum that read no variable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.node import Node
from engine.plan.nodes import Concat, Consolidate, Filter, Map, Recursive, Threshold, nodes_of
from engine.plan.rebuilding import over
from engine.schema import BOOLEAN, Kind

_PARTS = 1_021
"""A prime, so that the parts of numbers are not those that a query asks for."""


@dataclass(frozen=True)
class ThinnedPlan:
    """A plan in which roots are thinned out, and the node of the plan that each other one stands for."""

    plan: Node
    originals: dict[Node, Node]

    def original(self, key: Hashable) -> Hashable:
        """An operator's key, with the nodes of the plan that was thinned out."""
        if isinstance(key, Node):
            return self.originals.get(key, key)
        return tuple(map(self.original, key)) if isinstance(key, tuple) else key


def has_recursion(plan: Node) -> bool:
    """Whether a plan has a loop that reads itself."""
    return any(isinstance(node, Recursive) for node in nodes_of(plan))


def thinned(plan: Node, share: float) -> ThinnedPlan:
    """The plan with about a share of the rows of each root that has a column of whole numbers."""
    thinning = _Thinning(share)
    return ThinnedPlan(thinning.of(plan), thinning.originals)


class _Thinning:
    def __init__(self, share: float) -> None:
        self.originals: dict[Node, Node] = {}
        self._most = round(share * _PARTS)
        self._made: dict[tuple[Node, bool], Node] = {}

    def of(self, node: Node, is_root: bool = False) -> Node:
        known = self._made.get((node, is_root))
        if known is None:
            known = self._made[node, is_root] = self._of(node, is_root)
            if known != node:
                self.originals[known] = node
        return known

    def _of(self, node: Node, is_root: bool) -> Node:
        if is_root:
            return self._sampled(self.of(node))
        roots = set(_roots(node)) if isinstance(node, Recursive) else set[Node]()
        return over(node, lambda inner: self._inside(inner, roots))

    def _inside(self, node: Node, roots: set[Node]) -> Node:
        """A node inside a loop with these roots, or inside another node without any."""
        if node in roots:
            return self.of(node, True)
        if not roots or not node.free:
            return self.of(node)
        own = roots | set(_roots(node) if isinstance(node, Recursive) else ())
        made = over(node, lambda inner: self._inside(inner, own))
        if made != node:
            self.originals[made] = node
        return made

    def _sampled(self, node: Node) -> Node:
        types = node.schema.types
        whole = [column for column, type in enumerate(types) if type.kind is Kind.INTEGER]
        if not whole or self._most >= _PARTS:
            return node
        type = types[whole[0]]
        part = Call(Op.MOD, (ColumnRef(whole[0], type), Literal(_PARTS, type)), type)
        return Filter(node, Call(Op.LT, (part, Literal(self._most, type)), BOOLEAN))


def _roots(loop: Recursive) -> Iterator[Node]:
    for binding in loop.bindings:
        if binding.initial is not None:
            yield binding.initial
        yield from _closed_parts(binding.value, loop.bound)
    yield from (entry.input for entry in loop.entries)


def _closed_parts(node: Node, bound: frozenset[str]) -> Iterator[Node]:
    """The parts of a sum that read no variable of the loop."""
    match node:
        case Concat(parts=parts):
            for part in parts:
                if part.free & bound:
                    yield from _closed_parts(part, bound)
                else:
                    yield part
        case Threshold(input=input) | Map(input=input) | Filter(input=input) | Consolidate(input=input):
            if input.free & bound:
                yield from _closed_parts(input, bound)
