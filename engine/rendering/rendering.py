"""What rendering of every node needs: collections and arrangements of other nodes, as a scope reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.errors import PlanError
from engine.operators import linear
from engine.operators.arrangement import Arrangement
from engine.operators.entered import ArrangementChanges
from engine.operators.operator import Operator
from engine.operators.rebuild import Rebuild
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.expressions import Expression, renumbered
from engine.plan.nodes import Node
from engine.rendering.layout import key_first
from engine.rendering.scopes import LoopScope, OutermostScope, Rendered, RenderScope, plain
from engine.scalar.program import ScalarProgram
from engine.state.dictionary import Dictionary

Compiler = Callable[[tuple[Expression, ...], Dictionary], ScalarProgram]


class Rendering:
    """Renders nodes into operators of one dataflow. `inputs` gets the input operator of every source read."""

    def __init__(
        self,
        dataflow: RunningDataflow,
        dictionary: Dictionary,
        max_rounds: int,
        rebuild: Rebuild = Rebuild.AUTO,
        compiler: Compiler = ScalarProgram,
    ) -> None:
        self.inputs: dict[str, linear.InputOperator] = {}
        self.dictionary = dictionary
        self.max_rounds = max_rounds
        self.rebuild = rebuild if dataflow.order.is_total else Rebuild.NEVER
        self.compiler = compiler
        self.times = dataflow.order
        self.outermost = OutermostScope(dataflow)
        self.scopes: list[RenderScope] = [self.outermost]
        """All scopes, in which the rendered nodes are found again."""

    def build(self, node: Node, scope: RenderScope) -> Rendered:
        """Put the node's operators into `scope`, the innermost scope that it refers to."""
        raise TypeError("Renderer defines how a node is built")

    def home(self, node: Node, scope: RenderScope) -> RenderScope:
        """The innermost scope, from `scope` outwards, that binds a variable of the node; else the
        outermost."""
        while scope.outer is not None and not node.free & scope.bound:
            scope = scope.outer
        return scope

    def bring(self, operator: Operator, home: RenderScope, scope: RenderScope) -> Operator:
        """An operator of `home`, as read in `scope`, which lies inside `home`."""
        if home is scope:
            return operator
        if not isinstance(scope, LoopScope) or scope.outer is None:
            raise PlanError("a collection is read outside of its scope")
        return scope.enter(self.bring(operator, home, scope.outer))

    def collection(self, node: Node, scope: RenderScope) -> Rendered:
        """The node's collection, rendered in its home scope if it is new, and brought into `scope`."""
        home = self.home(node, scope)
        collection = home.collections.get(node)
        if collection is None:
            collection = home.collections[node] = self.build(node, home)
        if home is self.outermost and home is not scope:
            return plain(self._rows(node, scope), len(node.schema))
        return replace(collection, operator=self.bring(collection.operator, home, scope))

    def _rows(self, node: Node, scope: RenderScope) -> Operator:
        """A node of the outermost scope, as read in `scope`: arranged, so that a rebuild can read all of
        it."""
        outer = scope.outer
        if outer is not None and outer is not self.outermost:
            return self.bring(self._rows(node, outer), outer, scope)
        arranged = self.arranged(node, tuple(range(len(node.schema))), scope)
        return scope.put(("rows", node), lambda: ArrangementChanges(arranged))

    def keyed_arrangement(self, node: Node, keys: tuple[int, ...], scope: RenderScope) -> Operator:
        """The node's columns, arranged with `keys` first and then the others in order."""
        return self.arranged(node, key_first(tuple(range(len(node.schema))), keys), scope)

    def arranged(self, node: Node, order: tuple[int, ...], scope: RenderScope) -> Operator:
        """The columns `order` of a node, arranged in that order, as read in `scope`."""
        home = self.home(node, scope)
        return self.bring(self.arrangement(node, order, home), home, scope)

    def arrangement(self, node: Node, order: tuple[int, ...], scope: RenderScope) -> Arrangement:
        """The columns `order` of a node, arranged in that order in `scope` itself."""
        collection = self.collection(node, scope)
        columns = tuple(collection.columns[c] for c in order)
        return scope.put(
            ("arrange", node, order),
            lambda: Arrangement(collection.operator, columns, collection.width, scope.depth),
        )

    def select(self, node: Node, scope: RenderScope) -> Operator:
        """An operator whose words are the node's columns in order, as read in `scope`."""
        collection = self.collection(node, scope)
        if collection.is_plain:
            return collection.operator
        return scope.put(
            ("select", node),
            lambda: linear.SelectOperator(collection.operator, collection.columns, collection.width),
        )

    def program(self, expressions: tuple[Expression, ...], source: Rendered) -> ScalarProgram:
        """The expressions over the node's columns, compiled over the words of its operator."""
        columns = dict(enumerate(source.columns))
        return self.compiler(tuple(renumbered(e, columns) for e in expressions), self.dictionary)
