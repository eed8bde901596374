"""Plans into running operators.

A node is rendered once, in the innermost scope whose variables it refers to; if an inner scope reads it, it
enters that scope. Reordering and dropping columns costs nothing: a `Rendered` names an operator, and which of
its words are the plan's columns.
"""

from __future__ import annotations

from dataclasses import replace

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
from engine.rendering.scopes import LoopScope, Rendered, RenderScope, plain
from engine.rendering.window_nodes import WindowNodes


class Renderer(LinearNodes, LoopNodes, WindowNodes, NearestNodes, ClockNodes):
    """Renders plans into one dataflow."""

    def render(self, node: Node) -> Rendered:
        """The collection of a plan without free variables. Raises PlanError if it has some."""
        if node.free:
            raise PlanError(f"the plan refers to {', '.join(sorted(node.free))}, which no recursion binds")
        return self.collection(node, self.outermost)

    # Nodes

    def build(self, node: Node, scope: RenderScope) -> Rendered:
        """Dispatch on the kind of node."""
        match node:
            case Source(name=name, schema=schema):
                self.inputs[name] = scope.put(node, linear.InputOperator)
                return plain(self.inputs[name], len(schema))
            case Constant():
                return plain(scope.put(node, lambda: self._constant(node)), len(node.schema))
            case Variable(name=name) if isinstance(scope, LoopScope):
                return scope.variables[name]
            case Map():
                return self._map(node, scope)
            case Filter():
                return self._filter(node, scope)
            case FlatMap(input=input):
                return self._flat_map(node, input, scope)
            case Unnest():
                return self._unnest(node, scope)
            case Concat():
                return self._concat(node, scope)
            case Negate(input=input):
                source = self.collection(input, scope)
                return replace(
                    source, operator=scope.put(node, lambda: linear.NegateOperator([source.operator]))
                )
            case Join() | MultiJoin():
                return self.joined(node, tuple(range(len(node.schema))), scope)
            case NearestJoin():
                return self._nearest(node, scope)
            case Reduce():
                return self._reduce(node, scope)
            case GroupBy():
                return self._group_by(node, scope)
            case GroupQuery():
                return self._group_query(node, scope)
            case Successor(input=input):
                return self.collection(input, scope)
            case Consolidate():
                return self._consolidate(node, scope)
            case Inspect():
                return self._inspect(node, scope)
            case Threshold():
                return self._threshold(node, scope)
            case TopK():
                return self._top(node, scope)
            case Window():
                return self._window(node, scope)
            case Recursive():
                return self._recursive(node, scope)
            case WithRound():
                return self._with_round(node, scope)
            case Intern():
                return self._intern(node, scope)
            case Temporal():
                return self._temporal(node, scope)
            case Today():
                return self._today(node, scope)
            case _:
                raise PlanError(f"{type(node).__name__} is not a plan node")
