"""Nearest joins: a search in sorted traces if times are epochs and no loop is around; else joins of pairs."""

from __future__ import annotations

from engine.operators.nearest_join import NearestJoinOperator
from engine.operators.topk import OrderedArrangement
from engine.plan.nearest_joins import NearestJoin, by_pairs
from engine.plan.nodes import Node, Ordering
from engine.rendering.scopes import Rendered, RenderScope
from engine.rendering.topk_nodes import OrderedColumns, TopKNodes, ordering_codes


class NearestNodes(TopKNodes):
    """Both sides have their key first, and then their place, in reverse orders."""

    def _nearest(self, node: NearestJoin, scope: RenderScope) -> Rendered:
        if not self.times.is_total or scope.depth:
            return self.collection(by_pairs(node), scope)
        first = Ordering._make(node.order[0])
        back = (Ordering(node.place, not first.descending),)
        lefts = self._by_place(node.left, node.left_keys, back, scope)
        rights = self._by_place(node.right, node.right_keys, node.order, scope)
        key, place = len(node.left_keys), len(ordering_codes(node.right.schema, first))
        left: OrderedArrangement = lefts.operator  # type: ignore[assignment]
        right: OrderedArrangement = rights.operator  # type: ignore[assignment]
        operator = scope.put(
            node,
            lambda: NearestJoinOperator(left, right, key, place, is_strict=node.is_strict, pads=node.pads),
        )
        columns = (*lefts.columns, *(lefts.width + word for word in rights.columns))
        return Rendered(operator, columns, lefts.width + rights.width)

    def _by_place(
        self, node: Node, keys: tuple[int, ...], order: tuple[Ordering, ...], scope: RenderScope
    ) -> Rendered:
        """The node's rows by key and place, which may be a key too."""
        place = Ordering._make(order[0])
        columns = OrderedColumns.of(node.schema, keys, order)
        columns = columns._replace(order={place.column: ordering_codes(node.schema, place), **columns.order})
        return Rendered(self._ordered(node, columns, scope), columns.places, len(columns.all))
