"""The first rows of groups, from traces sorted by the ordering columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.kernels.coding import Codes, codes_of
from engine.operators.topk import OrderedArrangement, TopKOperator
from engine.plan.lowering import rows_after
from engine.plan.nodes import Node, Ordering, TopK
from engine.rendering.rendering import Rendering
from engine.rendering.scopes import Rendered, RenderScope
from engine.schema import Schema


class OrderedColumns(NamedTuple):
    """Where a sorted trace has a node's columns: the `keys`, then those of the `order` with their codes, then
    the `rest`."""

    keys: tuple[int, ...]
    order: dict[int, Codes]
    rest: tuple[int, ...]

    @staticmethod
    def of(schema: Schema, keys: tuple[int, ...], order: Iterable[Ordering]) -> OrderedColumns:
        """The columns of a schema by keys and an order, which counts for columns that are no keys."""
        coded: dict[int, Codes] = {}
        for ordering in map(Ordering._make, order):
            if ordering.column not in keys:
                coded.setdefault(ordering.column, ordering_codes(schema, ordering))
        rest = tuple(c for c in range(len(schema)) if c not in keys and c not in coded)
        return OrderedColumns(keys, coded, rest)

    @property
    def all(self) -> tuple[int, ...]:
        """All columns in the order of the trace."""
        return (*self.keys, *self.order, *self.rest)

    @property
    def places(self) -> tuple[int, ...]:
        """For each column of the node, its place in the trace."""
        return tuple(self.all.index(c) for c in range(len(set(self.all))))


class TopKNodes(Rendering):
    """Sorted traces serve top-k, MIN and MAX."""

    def _top(self, node: TopK, scope: RenderScope) -> Rendered:
        if node.limit is None:
            return self.collection(rows_after(node), scope)
        limit = node.limit
        columns = OrderedColumns.of(node.schema, tuple(dict.fromkeys(node.keys)), node.order)
        source = self._ordered(node.input, columns, scope, node.kept)
        operator = scope.put(node, lambda: TopKOperator(source, len(columns.keys), node.offset, limit))
        return Rendered(operator, columns.places, len(node.schema))

    def _ordered(
        self,
        node: Node,
        columns: OrderedColumns,
        scope: RenderScope,
        most: int | None = None,
        entries: tuple[tuple[int, Codes], ...] = (),
    ) -> OrderedArrangement:
        """The node's columns, sorted. Those of `entries` come again behind them, coded. Given `most`, the
        node only grows, and more rows of a key are not wanted."""
        most = None if scope.depth else most
        counted = () if most is None else (most,)
        keys, rest, order = columns.keys, columns.rest, tuple(columns.order.items())
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
