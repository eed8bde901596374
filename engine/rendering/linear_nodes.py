"""Nodes that treat each row on its own, and sums of collections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.codec.json import encode_rows
from engine.operators import linear, unnest
from engine.operators import python_functions as functions
from engine.operators.failure_log import FailureLog
from engine.plan.expressions import ColumnRef, columns_of, renumbered
from engine.plan.list_elements import Unnest
from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Concat, Consolidate, Constant, Filter, FlatMap, Inspect, Join, Map, Negate
from engine.rendering.join_nodes import JoinNodes
from engine.rendering.scopes import Rendered, RenderScope, plain


class LinearNodes(JoinNodes):
    """A map over a join asks it only for the columns that its expressions read."""

    def _constant(self, node: Constant, scope: RenderScope) -> Rendered:
        return plain(scope.put(node, lambda: self._input(node)), len(node.schema))

    def _input(self, node: Constant) -> linear.InputOperator:
        operator = linear.InputOperator()
        words = encode_rows(node.rows, node.schema, self.dictionary)
        times = np.zeros((2, len(node.rows)), np.int64)
        times[1] = 1
        operator.pending = np.ascontiguousarray(np.concatenate((words, times)))
        return operator

    def _map(self, node: Map, scope: RenderScope) -> Rendered:
        expressions = node.expressions
        if isinstance(node.input, Join | MultiJoin):
            needed = tuple(sorted(frozenset().union(*map(columns_of, expressions))))
            source = self.joined(node.input, needed, scope)
            expressions = tuple(renumbered(e, {c: i for i, c in enumerate(needed)}) for e in expressions)
        else:
            source = self.collection(node.input, scope)
        words = [source.columns[e.index] for e in expressions if isinstance(e, ColumnRef)]
        if len(words) == len(expressions):
            return replace(source, columns=tuple(words))
        program = self.program(expressions, source)
        operator = scope.put(
            node, lambda: linear.MapOperator(source.operator, program, FailureLog(self.dictionary))
        )
        return plain(operator, len(expressions))

    def _filter(self, node: Filter, scope: RenderScope) -> Rendered:
        source = self.collection(node.input, scope)
        program = self.program((node.predicate,), source)
        operator = scope.put(
            node, lambda: linear.FilterOperator(source.operator, program, FailureLog(self.dictionary))
        )
        return replace(source, operator=operator)

    def _negate(self, node: Negate, scope: RenderScope) -> Rendered:
        source = self.collection(node.input, scope)
        return replace(source, operator=scope.put(node, lambda: linear.NegateOperator([source.operator])))

    def _flat_map(self, node: FlatMap, scope: RenderScope) -> Rendered:
        source = self.collection(node.input, scope)
        operator = scope.put(
            node, lambda: functions.FlatMapOperator(source.operator, source.columns, node, self.dictionary)
        )
        return plain(operator, len(node.schema))

    def _unnest(self, node: Unnest, scope: RenderScope) -> Rendered:
        source = self.collection(node.input, scope)
        operator = scope.put(
            node, lambda: unnest.UnnestOperator(source.operator, source.columns, node, self.dictionary)
        )
        return plain(operator, len(node.schema))

    def _consolidate(self, node: Consolidate, scope: RenderScope) -> Rendered:
        source = self.select(node.input, scope)
        return plain(scope.put(node, lambda: linear.ConsolidateOperator([source])), len(node.schema))

    def _inspect(self, node: Inspect, scope: RenderScope) -> Rendered:
        source = self.select(node.input, scope)
        operator = scope.put(
            node, lambda: functions.InspectOperator(source, node, self.times, self.dictionary)
        )
        return plain(operator, len(node.schema))

    def _concat(self, node: Concat, scope: RenderScope) -> Rendered:
        operators = [self.select(part, scope) for part in node.parts]
        return plain(scope.put(node, lambda: linear.ConcatOperator(operators)), len(node.schema))
