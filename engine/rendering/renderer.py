"""Plans into running operators.

A node is rendered once, in the innermost scope whose variables it refers to; if an inner scope reads it, it
enters that scope. Reordering and dropping columns costs nothing: a `Rendered` names an operator, and which of
its words are the plan's columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import PlanError
from engine.operators import linear
from engine.plan.clocked import Temporal, Today
from engine.plan.group_queries import GroupQuery
from engine.plan.list_elements import Unnest
from engine.plan.multijoins import MultiJoin
from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import (
    Concat,
    Consolidate,
    Constant,
    Filter,
    FlatMap,
    GroupBy,
    Inspect,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
    WithRound,
)
from engine.plan.row_ids import Intern
from engine.plan.successor import Successor
from engine.plan.window_functions import Window
from engine.rendering.clock_nodes import ClockNodes
from engine.rendering.linear_nodes import LinearNodes
from engine.rendering.loop_nodes import LoopNodes
from engine.rendering.nearest_nodes import NearestNodes
from engine.rendering.scopes import Rendered, RenderScope, plain
from engine.rendering.window_nodes import WindowNodes


class Renderer(LinearNodes, LoopNodes, WindowNodes, NearestNodes, ClockNodes):
    """Renders plans into one dataflow."""

    def render(self, node: Node) -> Rendered:
        """The collection of a plan without free variables. Raises PlanError if it has some."""
        if node.free:
            raise PlanError(f"the plan refers to {', '.join(sorted(node.free))}, which no recursion binds")
        return self.collection(node, self.outermost)

    def build(self, node: Node, scope: RenderScope) -> Rendered:
        """Dispatch on the kind of node."""
        known = _BUILDERS.get(type(node))
        if known is None:
            raise PlanError(f"{type(node).__name__} is not a plan node")
        return known(self, node, scope)

    def _source(self, node: Source, scope: RenderScope) -> Rendered:
        self.inputs[node.name] = scope.put(node, linear.InputOperator)
        return plain(self.inputs[node.name], len(node.schema))

    def _all_of(self, node: Join | MultiJoin, scope: RenderScope) -> Rendered:
        return self.joined(node, tuple(range(len(node.schema))), scope)

    def _successor(self, node: Successor, scope: RenderScope) -> Rendered:
        return self.collection(node.input, scope)


_BUILDERS: dict[type[Node], Callable[[Renderer, Any, RenderScope], Rendered]] = {
    Concat: Renderer._concat,
    Consolidate: Renderer._consolidate,
    Constant: Renderer._constant,
    Filter: Renderer._filter,
    FlatMap: Renderer._flat_map,
    GroupBy: Renderer._group_by,
    GroupQuery: Renderer._group_query,
    Inspect: Renderer._inspect,
    Intern: Renderer._intern,
    Join: Renderer._all_of,
    Map: Renderer._map,
    MultiJoin: Renderer._all_of,
    NearestJoin: Renderer._nearest,
    Negate: Renderer._negate,
    Recursive: Renderer._recursive,
    Reduce: Renderer._reduce,
    Source: Renderer._source,
    Successor: Renderer._successor,
    Temporal: Renderer._temporal,
    Threshold: Renderer._threshold,
    Today: Renderer._today,
    TopK: Renderer._top,
    Unnest: Renderer._unnest,
    Variable: Renderer._bound,
    Window: Renderer._window,
    WithRound: Renderer._with_round,
}
"""How each kind of node is built."""
