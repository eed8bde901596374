"""Window functions over sorted traces; those that no kernel computes in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.codec import encode_rows
from engine.kernels.coding import Codes
from engine.operators.failure_log import FailureLog
from engine.operators.frame_window import FrameWindowOperator
from engine.operators.framing import frame_functions, is_framed, text_arguments
from engine.operators.operator import Operator
from engine.operators.topk import OrderedArrangement
from engine.operators.window import WindowOperator
from engine.operators.windowed import windowed
from engine.operators.windowing import is_compiled, window_functions
from engine.plan.nodes import Ordering
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.rendering.group_nodes import GroupNodes
from engine.rendering.layout import key_first
from engine.rendering.scopes import Rendered, RenderScope
from engine.rendering.topk_nodes import ordering_codes
from engine.schema import Column, Schema

_Sorted = tuple[OrderedArrangement, tuple[int, ...], dict[int, Codes], tuple[int, ...]]


class WindowNodes(GroupNodes):
    """A window's rows come with the key first, and are put into the node's column order."""

    def _window(self, node: Window, scope: RenderScope) -> Rendered:
        ways = [self._way(f, node) for f in node.functions]
        if len(set(ways)) == 1:
            return ways[0](node, scope)
        return self._window_in_parts(node, [way == ways[0] for way in ways], scope)

    def _way(self, f: Windowed, node: Window) -> Callable[[Window, RenderScope], Rendered]:
        """How a function is computed."""
        if is_compiled(f, node.input.schema):
            return self._window_in_order
        if not is_framed(f, node):
            return self._window_in_python
        return self._window_by_places if f.distances is None else self._window_by_distance

    def _window_in_parts(self, node: Window, is_first: list[bool], scope: RenderScope) -> Rendered:
        """Some of the functions, and over their rows the others."""
        width = len(node.input.schema)
        parts = [[i for i, first in enumerate(is_first) if first is wanted] for wanted in (True, False)]
        inner = replace(node, functions=tuple(node.functions[i] for i in parts[0]))
        outer = replace(node, input=inner, functions=tuple(node.functions[i] for i in parts[1]))
        found = self.collection(outer, scope)
        order = [*parts[0], *parts[1]]
        places = (*range(width), *(width + order.index(i) for i in range(len(order))))
        return replace(found, columns=tuple(found.columns[p] for p in places))

    def _window_in_order(self, node: Window, scope: RenderScope) -> Rendered:
        source, keys, order, rest = self._sorted(node, (), scope)
        functions = window_functions(node, keys, order, rest, self._defaults(node))
        operator = scope.put(
            node, lambda: WindowOperator(source, len(keys), functions, FailureLog(self.dictionary))
        )
        return self._with_values(node, operator, (*keys, *order, *rest))

    def _window_by_places(self, node: Window, scope: RenderScope) -> Rendered:
        return self._window_by_frames(node, scope)

    def _window_by_distance(self, node: Window, scope: RenderScope) -> Rendered:
        """Apart from frames that count places, because a change reaches so many rows or so far, not both."""
        return self._window_by_frames(node, scope)

    def _window_by_frames(self, node: Window, scope: RenderScope) -> Rendered:
        source, keys, order, rest = self._sorted(node, text_arguments(node), scope)
        functions = frame_functions(node, keys, order, rest)
        operator = scope.put(
            node, lambda: FrameWindowOperator(source, len(keys), functions, FailureLog(self.dictionary))
        )
        return self._with_values(node, operator, (*keys, *order, *rest))

    def _sorted(self, node: Window, texts: tuple[int, ...], scope: RenderScope) -> _Sorted:
        """The window's rows in order, and the columns of the key, of the order, and others. Those of `texts`
        follow the order if they are not in it."""
        schema = node.input.schema
        keys = tuple(dict.fromkeys(node.keys))
        order: dict[int, Codes] = {}
        for ordering in (*map(Ordering._make, node.order), *map(Ordering, texts)):
            if ordering.column not in keys:
                order.setdefault(ordering.column, ordering_codes(schema, ordering))
        rest = tuple(c for c in range(len(schema)) if c not in keys and c not in order)
        return self._ordered(node.input, keys, tuple(order.items()), rest, scope), keys, order, rest

    def _with_values(self, node: Window, operator: Operator, columns: tuple[int, ...]) -> Rendered:
        """The rows of an operator whose words are those of some order of the input's columns, and the
        values."""
        width = len(node.input.schema)
        places = (*(columns.index(c) for c in range(width)), *range(width, len(node.schema)))
        return Rendered(operator, places, len(node.schema))

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
