"""Window functions over sorted traces."""

from __future__ import annotations

from engine.codec import encode_rows
from engine.kernels.coding import Codes
from engine.operators.failure_log import FailureLog
from engine.operators.window import WindowOperator
from engine.operators.windowing import entries_of, window_functions
from engine.plan.nodes import Ordering
from engine.plan.window_functions import Window, WindowFunction
from engine.rendering.group_nodes import GroupNodes
from engine.rendering.scopes import Rendered, RenderScope
from engine.rendering.topk_nodes import ordering_codes
from engine.schema import Column, Schema


class WindowNodes(GroupNodes):
    """A window's rows come with the key first, and are put into the node's column order."""

    def _window(self, node: Window, scope: RenderScope) -> Rendered:
        schema = node.input.schema
        keys = tuple(dict.fromkeys(node.keys))
        order: dict[int, Codes] = {}
        for ordering in map(Ordering._make, node.order):
            if ordering.column not in keys:
                order.setdefault(ordering.column, ordering_codes(schema, ordering))
        rest = tuple(c for c in range(len(schema)) if c not in keys and c not in order)
        entries = entries_of(node, order)
        source = self._ordered(
            node.input, keys, tuple(order.items()), rest, scope, entries=tuple(entries.items())
        )
        functions = window_functions(node, keys, order, rest, entries, self._defaults(node))
        operator = scope.put(
            node, lambda: WindowOperator(source, len(keys), functions, FailureLog(self.dictionary))
        )
        words = (*keys, *order, *rest, *entries)
        width = len(words) + len(node.functions)
        places = (*(words.index(c) for c in range(len(schema))), *range(len(words), width))
        return Rendered(operator, places, width)

    def _defaults(self, node: Window) -> tuple[int, ...]:
        """A word for each function: its result where the row that it reads is outside the group."""
        schema = Schema(tuple(Column("default", f.type) for f in node.functions))
        row = tuple(f.default if f.function is WindowFunction.VALUE else None for f in node.functions)
        return tuple(encode_rows([row], schema, self.dictionary)[:, 0].tolist())
