"""Windows: compiled over traces in their order where times are epochs, else swept in Python."""

from __future__ import annotations

from engine.codec import encode_rows
from engine.operators.windowed import windowed
from engine.rendering.layout import keyed
from engine.rendering.reduces import Reduces
from engine.rendering.scopes import Collection, Scope
from engine.schema import Column, Schema
from engine.windows import Window, WindowFunction


class Windows(Reduces):
    """A window's rows come with the key first, and are put into the node's order again."""

    def _window(self, node: Window, scope: Scope) -> Collection:
        return self._window_at_times(node, scope)

    def _window_at_times(self, node: Window, scope: Scope) -> Collection:
        width = len(node.input.schema)
        keys = tuple(dict.fromkeys(node.keys))
        order = keyed(tuple(range(width)), keys)
        reducer = windowed(node, self._defaults(node), self.dictionary)
        words = len(node.schema) - len(keys)
        found = self._general(node, node.input, keys, reducer, words, scope)
        places = (*(order.index(c) for c in range(width)), *range(width, len(node.schema)))
        return Collection(found.operator, places, len(node.schema))

    def _defaults(self, node: Window) -> tuple[int, ...]:
        """A word for each function: what stands where a group has no row."""
        schema = Schema(tuple(Column("default", f.type) for f in node.functions))
        row = tuple(f.default if f.function is WindowFunction.VALUE else None for f in node.functions)
        return tuple(encode_rows([row], schema, self.dictionary)[:, 0].tolist())
