"""Nodes over groups: aggregates, thresholds, first rows, ids, and functions in Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.operators import python_functions as functions
from engine.operators.arrangement import (
    Arrangement,
    FloatsArrangement,
    SumsArrangement,
)
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import FloatComoment, FloatSum, Sums, ThresholdOperator
from engine.operators.groupwise import GeneralOperator, GroupQueryOperator
from engine.operators.interner import Contested, HashedArrangement, Ids, Initial, loop_of_ids, proposals
from engine.operators.operator import Operator
from engine.operators.slots import Finish, Slot, SlotLayout, of_single_words
from engine.operators.topk import TopKOperator
from engine.plan.group_queries import GroupQuery
from engine.plan.lowering import Method, method, side_by_side, split_reduce
from engine.plan.nodes import AggregateSpec, Function, GroupBy, Node, Ordering, Reduce, Threshold
from engine.plan.row_ids import Intern
from engine.rendering.layout import key_first
from engine.rendering.scopes import Rendered, RenderScope, plain
from engine.rendering.topk_nodes import OrderedColumns, TopKNodes, ordering_codes
from engine.scalar.questions import Question


class GroupNodes(TopKNodes):
    """Compiled operators, and functions in Python."""

    def _threshold(self, node: Threshold, scope: RenderScope) -> Rendered:
        width = len(node.schema)
        arrangement = self.arrangement(node.input, tuple(range(width)), scope)
        return plain(scope.put(node, lambda: ThresholdOperator(arrangement, node.clamp)), width)

    def _reduce(self, node: Reduce, scope: RenderScope) -> Rendered:
        rows = None if self.times.is_total else side_by_side(node)
        if rows is not None:
            return plain(self._put_together(node, rows, scope), len(node.schema))
        split = split_reduce(node)
        if split is not node:
            return self.collection(split, scope)
        width = len(node.schema)
        if _is_sums(node):
            return plain(self._sums(node, scope), width)
        return plain(self._single(node, node.aggregates[0], scope), width)

    def _group_by(self, node: GroupBy, scope: RenderScope) -> Rendered:
        reducer = functions.reducer(node, self.dictionary)
        key, words = len(node.keys), len(node.results)
        source = self._by_key(node, scope)
        operator = scope.put(node, lambda: GeneralOperator(source, key, reducer, words))
        return plain(operator, key + words)

    def _group_query(self, node: GroupQuery, scope: RenderScope) -> Rendered:
        question = Question(node, self.dictionary)
        key, words = len(node.keys), len(node.results)
        source = self._by_key(node, scope)
        failures = FailureLog(self.dictionary)
        operator = scope.put(node, lambda: GroupQueryOperator(source, key, words, question, failures))
        return plain(operator, key + words)

    def _by_key(self, node: GroupBy | GroupQuery, scope: RenderScope) -> Arrangement:
        """The input's rows by key."""
        order = key_first(tuple(range(len(node.input.schema))), node.keys)
        return self.arrangement(node.input, order, scope)

    def _single(self, node: Reduce, aggregate: AggregateSpec, scope: RenderScope) -> Operator:
        """A reduce with one aggregate that is not accumulated in words."""
        argument = aggregate.argument or 0
        if aggregate.other is not None:
            pairs = self._floats(node, ("pairs", (argument, aggregate.other)), aggregate.columns, scope)
            return scope.put(node, lambda: FloatComoment(pairs, argument == aggregate.other))
        if method(aggregate, node.input.schema) is Method.FLOATS:
            floats = self._floats(node, ("floats", argument), aggregate.columns, scope)
            return scope.put(node, lambda: FloatSum(floats, aggregate.function is Function.AVG))
        codes = ordering_codes(node.input.schema, Ordering(argument, aggregate.function is Function.MAX))
        columns = OrderedColumns(node.keys, {argument: codes}, ())
        ordered = self._ordered(node.input, columns, scope, node.kept)
        return scope.put(node, lambda: TopKOperator(ordered, len(node.keys), 0, 1))

    def _floats(
        self, node: Reduce, called: tuple[str, object], arguments: tuple[int, ...], scope: RenderScope
    ) -> Arrangement:
        """The input's rows with the exact parts of one float or two; `called` is a part of the key."""
        collection = self.collection(node.input, scope)
        keys, words = (
            tuple(collection.columns[column] for column in columns) for columns in (node.keys, arguments)
        )
        name, which = called
        return scope.put(
            (name, node.input, node.keys, which),
            lambda: FloatsArrangement(collection.operator, keys, words, collection.width, scope.depth),
        )

    def _put_together(self, node: Reduce, rows: Node, scope: RenderScope) -> Operator:
        """The groups whose aggregates are in several of the `rows`, in the form of `side_by_side`."""
        collection = self.collection(rows, scope)
        *words, marker = collection.columns
        split = len(node.keys)
        slots, finish = of_single_words(words[split:], marker)
        return self._put_sums(node, ("together", node), collection, words[:split], slots, finish, scope)

    def _sums(self, node: Reduce, scope: RenderScope) -> Operator:
        collection = self.collection(node.input, scope)
        layout = SlotLayout(node, collection.columns)
        keys = [collection.columns[k] for k in node.keys]
        called = ("sums", node.input, node.keys, layout.slots)
        return self._put_sums(node, called, collection, keys, layout.slots, layout.finish, scope)

    def _put_sums(
        self,
        node: Reduce,
        called: Hashable,
        rows: Rendered,
        keys: Sequence[int],
        slots: tuple[Slot, ...],
        finish: tuple[Finish, ...],
        scope: RenderScope,
    ) -> Operator:
        """The sums of a reduce over rows that are arranged under the key `called`."""
        source = scope.put(
            called,
            lambda: SumsArrangement(
                rows.operator, tuple(keys), rows.width, scope.depth, slots, self.dictionary
            ),
        )
        labels = tuple(f"{a.function.value}, whose result is {a.type}" for a in node.aggregates)
        return scope.put(node, lambda: Sums(source, finish, labels, FailureLog(self.dictionary)))

    def _intern(self, node: Intern, scope: RenderScope) -> Rendered:
        source, limit, hash = self.collection(node.input, scope), self.max_rounds, node.hash
        rows = scope.put(
            ("rows", node),
            lambda: HashedArrangement(source.operator, source.columns, source.width, scope.depth, hash),
        )
        initial = scope.put(("initial", node), lambda: Initial(rows))
        contested = scope.put(("contested", node), lambda: Contested(initial, proposals(rows, limit)))
        loop = scope.put(("loop", node), lambda: loop_of_ids(rows, contested, hash, limit))
        words = len(node.schema)
        return Rendered(scope.put(node, lambda: Ids(initial, loop)), (*range(1, words), 0), words)


def _is_sums(node: Reduce) -> bool:
    """Whether a reduce that needs no split accumulates all of its results."""
    return not node.aggregates or method(node.aggregates[0], node.input.schema) is Method.SUMS
