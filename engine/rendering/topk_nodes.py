"""The first rows of groups, from traces sorted by the ordering columns."""

from __future__ import annotations

from engine.kernels.coding import Codes, codes_of
from engine.operators.topk import OrderedArrangement, TopKOperator
from engine.plan.lowering import rows_after
from engine.plan.nodes import Node, Ordering, TopK
from engine.rendering.rendering import Rendering
from engine.rendering.scopes import Rendered, RenderScope
from engine.schema import Schema


class TopKNodes(Rendering):
    """Sorted traces serve top-k, MIN and MAX."""

    def _top(self, node: TopK, scope: RenderScope) -> Rendered:
        if node.limit is None:
            return self.collection(rows_after(node), scope)
        limit = node.limit
        keys = tuple(dict.fromkeys(node.keys))
        order: dict[int, Codes] = {}
        for ordering in map(Ordering._make, node.order):
            if ordering.column not in keys:
                order.setdefault(ordering.column, ordering_codes(node.schema, ordering))
        rest = tuple(c for c in range(len(node.schema)) if c not in keys and c not in order)
        source = self._ordered(node.input, keys, tuple(order.items()), rest, scope, node.kept)
        operator = scope.put(node, lambda: TopKOperator(source, len(keys), node.offset, limit))
        places = {column: place for place, column in enumerate((*keys, *order, *rest))}
        return Rendered(operator, tuple(places[c] for c in range(len(places))), len(places))

    def _ordered(
        self,
        node: Node,
        keys: tuple[int, ...],
        order: tuple[tuple[int, Codes], ...],
        rest: tuple[int, ...],
        scope: RenderScope,
        most: int | None = None,
        entries: tuple[tuple[int, Codes], ...] = (),
    ) -> OrderedArrangement:
        """The node's columns `keys`, then those of `order` coded to sort in the wanted order, then `rest`;
        sorted. Those of `entries` come again behind them, coded. Given `most`, the node only grows, and more
        rows of a key are not wanted."""
        most = None if scope.depth else most
        counted = () if most is None else (most,)
        collection = self.collection(node, scope)
        words = collection.columns
        return scope.put(
            ("ordered", node, keys, order, rest, *entries, *counted),
            lambda: OrderedArrangement(
                collection.operator,
                tuple(words[k] for k in keys),
                tuple((words[c], codes) for c, codes in order),
                tuple(words[c] for c in rest),
                collection.width,
                scope.depth,
                self.dictionary,
                most=most,
                entries=tuple((words[c], codes) for c, codes in entries),
            ),
        )


def ordering_codes(schema: Schema, ordering: Ordering) -> Codes:
    """The codes of a column's words that sort as `ordering` asks."""
    type = schema.types[ordering.column]
    return codes_of(type.is_interned, ordering.descending, ordering.nulls_first, type.may_be_wide)
