"""Joins of two relations and of many."""

from __future__ import annotations

from engine.operators.equijoin import JoinOperator
from engine.operators.multijoin import MultiJoinOperator
from engine.plan.join_paths import orders
from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Join
from engine.rendering.layout import word_positions
from engine.rendering.rendering import Rendering
from engine.rendering.scopes import Rendered, RenderScope, plain


class JoinNodes(Rendering):
    """Joins produce only the columns that are needed."""

    def joined(self, node: Join | MultiJoin, needed: tuple[int, ...], scope: RenderScope) -> Rendered:
        """The columns `needed` of a join."""
        return (
            self._join(node, needed, scope)
            if isinstance(node, Join)
            else self._multijoin(node, needed, scope)
        )

    def _join(self, node: Join, needed: tuple[int, ...], scope: RenderScope) -> Rendered:
        left = self.keyed_arrangement(node.left, node.left_keys, scope)
        right = self.keyed_arrangement(node.right, node.right_keys, scope)
        split = len(node.left.schema)
        left_places = word_positions(split, node.left_keys)
        right_places = word_positions(len(node.right.schema), node.right_keys)
        columns = tuple((0, left_places[c]) if c < split else (1, right_places[c - split]) for c in needed)
        operator = scope.put(
            ("join", node, needed), lambda: JoinOperator(left, right, len(node.left_keys), columns)
        )
        return plain(operator, len(needed))

    def _multijoin(self, node: MultiJoin, needed: tuple[int, ...], scope: RenderScope) -> Rendered:
        arrangements = {
            (part, order): self.arranged(part, order, scope)
            for part, part_orders in orders(node).items()
            for order in part_orders
        }
        attributes = [attribute for row in node.attributes for attribute in row]
        wanted = tuple(sorted({attributes[c] for c in needed}))
        operator = scope.put(
            ("multijoin", node, wanted),
            lambda: MultiJoinOperator(node, wanted, arrangements),  # type: ignore[arg-type]
        )
        return Rendered(operator, tuple(wanted.index(attributes[c]) for c in needed), len(wanted))
