"""Window functions over sorted traces."""

from __future__ import annotations

from engine.codec.json import encode_rows
from engine.operators.failure_log import FailureLog
from engine.operators.window import WindowOperator
from engine.operators.windowing import entries_of, window_functions
from engine.plan.window_functions import Window, WindowFunction
from engine.rendering.group_nodes import GroupNodes
from engine.rendering.scopes import Rendered, RenderScope
from engine.rendering.topk_nodes import OrderedColumns
from engine.schema import Column, Schema


class WindowNodes(GroupNodes):
    """A window's rows come with the key first, and are put into the node's column order."""

    def _window(self, node: Window, scope: RenderScope) -> Rendered:
        schema = node.input.schema
        columns = OrderedColumns.of(schema, tuple(dict.fromkeys(node.keys)), node.order)
        entries = entries_of(node, columns.order)
        source = self._ordered(node.input, columns, scope, entries=tuple(entries.items()))
        functions = window_functions(node, *columns, entries, self._defaults(node))
        key = len(columns.keys)
        operator = scope.put(
            node, lambda: WindowOperator(source, key, functions, FailureLog(self.dictionary))
        )
        words = len(schema) + len(entries)
        width = words + len(node.functions)
        return Rendered(operator, (*columns.places, *range(words, width)), width)

    def _defaults(self, node: Window) -> tuple[int, ...]:
        """A word for each function: its result where the row that it reads is outside the group."""
        schema = Schema(tuple(Column("default", f.type) for f in node.functions))
        row = tuple(f.default if f.function is WindowFunction.VALUE else None for f in node.functions)
        return tuple(encode_rows([row], schema, self.dictionary)[:, 0].tolist())
