"""Recursions: loops, their variables, and rows that enter at rounds of their own."""

from __future__ import annotations

import sys
from dataclasses import replace

from engine.errors import PlanError
from engine.operators.failure_log import FailureLog
from engine.operators.loop import EnterAt, Leave, Loop, VariableOperator, WithRoundOperator
from engine.operators.operator import Operator
from engine.operators.outermost_loop import OutermostLoop
from engine.plan.nodes import Entry, LoopBinding, OnLimit, Recursive, Variable, WithRound
from engine.rendering.rendering import Rendering
from engine.rendering.scopes import LoopScope, Rendered, RenderScope, plain


class LoopNodes(Rendering):
    """A loop has a body, which is a scope, and entries and results."""

    def _recursive(self, node: Recursive, scope: RenderScope) -> Rendered:
        key = ("loop", node.bindings, node.limit, node.on_limit, node.entries)
        loop = scope.put(key, lambda: self._loop(node, scope))
        index = next(i for i, binding in enumerate(node.bindings) if binding.name == node.result)
        return plain(scope.put(node, lambda: Leave(loop, index)), len(node.schema))

    def _bound(self, node: Variable, scope: RenderScope) -> Rendered:
        if not isinstance(scope, LoopScope):
            raise PlanError(f"no recursion binds {node.name}")
        return scope.variables[node.name]

    def _loop(self, node: Recursive, scope: RenderScope) -> Loop:
        read = frozenset().union(*(binding.value.free for binding in node.bindings))
        has_numbered_limit = node.reads_itself and not node.entries
        limit = node.limit or (self.max_rounds if has_numbered_limit else sys.maxsize)
        on_limit = node.on_limit if node.limit is not None else OnLimit.ERROR
        outermost = scope is self.outermost
        loop = (
            OutermostLoop(node.result, limit, on_limit, self.rebuild)
            if outermost
            else Loop(node.result, limit, on_limit)
        )
        if node.limit is None and node.reads_itself and node.entries:
            loop.most = self.max_rounds
        body = LoopScope(scope, node, loop)
        self.scopes.append(body)
        for entry in node.entries:
            if entry.name in read:
                body.variables[entry.name] = self._entry(entry, body)
        for binding in node.bindings:
            variable = self._variable(binding, body, limit) if binding.name in read else None
            loop.variables.append(variable)
            if variable is not None:
                body.variables[binding.name] = plain(variable, len(binding.value.schema))
        for binding in node.bindings:
            loop.values.append(self.select(binding.value, body))
        if isinstance(loop, OutermostLoop):
            loop.complete([len(binding.value.schema) for binding in node.bindings])
        return loop

    def _variable(self, binding: LoopBinding, body: LoopScope, limit: int) -> VariableOperator:
        """The operator, in `body`, of what a binding was in the round before."""
        start: Operator | None = None
        if binding.initial is not None:
            start = self.select(binding.initial, body)
        return body.put(("variable", binding.name), lambda: VariableOperator(start, limit))

    def _entry(self, entry: Entry, body: LoopScope) -> Rendered:
        """A collection from outside `body` whose rows enter at rounds of their own."""
        source = self.collection(entry.input, body)
        program = self.program((entry.round,), source)
        failures = FailureLog(self.dictionary)
        operator = body.put(("entry", entry), lambda: EnterAt(source.operator, program, failures, body.loop))
        return replace(source, operator=operator)

    def _with_round(self, node: WithRound, scope: RenderScope) -> Rendered:
        source = self.select(node.input, scope)
        return plain(scope.put(node, lambda: WithRoundOperator([source])), len(node.schema))
