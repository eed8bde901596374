"""Window functions over sorted traces; those that no kernel computes in Python."""

from __future__ import annotations

from dataclasses import replace

from engine.codec import encode_rows
from engine.kernels.coding import Codes
from engine.operators.failure_log import FailureLog
from engine.operators.window import WindowOperator
from engine.operators.windowed import windowed
from engine.operators.windowing import is_compiled, window_functions
from engine.plan.nodes import Ordering
from engine.plan.window_functions import Window, WindowFunction
from engine.rendering.group_nodes import GroupNodes
from engine.rendering.layout import key_first
from engine.rendering.scopes import Rendered, RenderScope
from engine.rendering.topk_nodes import ordering_codes
from engine.schema import Column, Schema


class WindowNodes(GroupNodes):
    """A window's rows come with the key first, and are put into the node's column order."""

    def _window(self, node: Window, scope: RenderScope) -> Rendered:
        compiled = [is_compiled(f, node.input.schema) for f in node.functions]
        if all(compiled):
            return self._window_in_order(node, scope)
        if not any(compiled):
            return self._window_in_python(node, scope)
        return self._window_in_parts(node, compiled, scope)

    def _window_in_parts(self, node: Window, compiled: list[bool], scope: RenderScope) -> Rendered:
        """The compiled functions, and over their rows the others."""
        width = len(node.input.schema)
        parts = [[i for i, is_first in enumerate(compiled) if is_first is wanted] for wanted in (True, False)]
        inner = replace(node, functions=tuple(node.functions[i] for i in parts[0]))
        outer = replace(node, input=inner, functions=tuple(node.functions[i] for i in parts[1]))
        found = self.collection(outer, scope)
        order = [*parts[0], *parts[1]]
        places = (*range(width), *(width + order.index(i) for i in range(len(order))))
        return replace(found, columns=tuple(found.columns[p] for p in places))

    def _window_in_order(self, node: Window, scope: RenderScope) -> Rendered:
        width = len(node.input.schema)
        keys = tuple(dict.fromkeys(node.keys))
        order: dict[int, Codes] = {}
        for ordering in map(Ordering._make, node.order):
            if ordering.column not in keys:
                order.setdefault(ordering.column, ordering_codes(node.input.schema, ordering))
        rest = tuple(c for c in range(width) if c not in keys and c not in order)
        source = self._ordered(node.input, keys, tuple(order.items()), rest, scope)
        functions = window_functions(node, keys, order, rest, self._defaults(node))
        operator = scope.put(
            node, lambda: WindowOperator(source, len(keys), functions, FailureLog(self.dictionary))
        )
        places = {column: place for place, column in enumerate((*keys, *order, *rest))}
        columns = (*(places[c] for c in range(width)), *range(width, len(node.schema)))
        return Rendered(operator, columns, len(node.schema))

    def _window_in_python(self, node: Window, scope: RenderScope) -> Rendered:
        width = len(node.input.schema)
        keys = tuple(dict.fromkeys(node.keys))
        order = key_first(tuple(range(width)), keys)
        reducer = windowed(node, self._defaults(node), self.dictionary)
        words = len(node.schema) - len(keys)
        found = self._general(node, node.input, keys, reducer, words, scope)
        places = (*(order.index(c) for c in range(width)), *range(width, len(node.schema)))
        return Rendered(found.operator, places, len(node.schema))

    def _defaults(self, node: Window) -> tuple[int, ...]:
        """A word for each function: its result where the row that it reads is outside the group."""
        schema = Schema(tuple(Column("default", f.type) for f in node.functions))
        row = tuple(f.default if f.function is WindowFunction.VALUE else None for f in node.functions)
        return tuple(encode_rows([row], schema, self.dictionary)[:, 0].tolist())
