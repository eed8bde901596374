"""Scopes: loops over several collections that are defined by each other.

  loop = flow.scope()
  even, odd = loop.variable(n=int), loop.variable(n=int)
  even.set(zero.concat(odd.map(lambda it: it.n + 1)))
  odd.set(even.map(lambda it: it.n + 1))
  result = even.leave()

All variables are updated together, round by round, until nothing changes. Reading a variable gives its value
after the round before; to read its value of the current round, use the collection that it is set to.
Collections from outside can be used inside as they are: they are the same in every round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.collection import Collection
from engine.api.flow import Flow
from engine.api.python_types import schema_from
from engine.api.symbolic_rows import Row, as_type, traced
from engine.errors import PlanError
from engine.plan.nodes import Entry, LoopBinding, OnLimit, Recursive, Variable
from engine.schema import BIGINT


class Scope:
    """A loop; it ends at its fixed point, or after `rounds` rounds."""

    def __init__(self, flow: Flow, rounds: int | None = None) -> None:
        self._flow = flow
        self._rounds = rounds
        self._variables: list[LoopVariable] = []
        self._entries: list[Entry] = []

    def variable(
        self, initial: Collection | None = None, like: Collection | None = None, **columns: object
    ) -> LoopVariable:
        """A collection that is `initial`, or empty, in the first round, and then what it is `set` to.

        Its columns are those of `initial`, those of `like`, or name=type.
        """
        example = initial if initial is not None else like
        schema = schema_from(columns) if example is None else example.schema
        node = Variable(self._flow.fresh_name("x"), schema)
        variable = LoopVariable(self, self._flow, node, initial)
        self._variables.append(variable)
        return variable

    def enter(self, collection: Collection) -> Collection:
        """The collection inside the scope, the same in every round. Returns it as it is, since using it
        enters it."""
        return collection

    def enter_at(self, collection: Collection, round: Callable[..., Any]) -> Collection:
        """The collection inside the scope; each row enters at the round that `round` returns for it."""
        (made,) = traced(round, Row(collection.schema))
        node = Variable(self._flow.fresh_name("e"), collection.schema)
        self._entries.append(Entry(node.name, collection.node, as_type(made, BIGINT).expression))
        return Collection(self._flow, node)

    def leave(self, variable: LoopVariable) -> Collection:
        """The variable's fixed point, outside. PlanError while a variable of the scope is not set."""
        bindings = tuple(one.binding() for one in self._variables)
        on_limit = OnLimit.ERROR if self._rounds is None else OnLimit.RETURN
        node = Recursive(bindings, variable.node.name, self._rounds, on_limit, tuple(self._entries))
        return Collection(self._flow, node)


class LoopVariable(Collection):
    """A collection of a scope, with its value after the round before."""

    node: Variable

    def __init__(self, scope: Scope, flow: Flow, node: Variable, initial: Collection | None) -> None:
        super().__init__(flow, node)
        self._scope = scope
        self._initial = initial
        self._value: Collection | None = None

    def set(self, value: Collection) -> None:
        """Set the variable's value after every round; call it once for each variable."""
        if self._value is not None:
            raise PlanError(f"a variable of the columns {', '.join(self.schema.names)} is set twice")
        if value.schema.types != self.schema.types:
            raise PlanError(f"the variable {self!r} is set to a collection of other types: {value!r}")
        self._value = value

    def leave(self) -> Collection:
        """The fixed point, outside the scope."""
        return self._scope.leave(self)

    def binding(self) -> LoopBinding:
        """The variable's binding in the plan; PlanError if it is not set."""
        if self._value is None:
            raise PlanError(f"a variable of the columns {', '.join(self.schema.names)} is not set")
        initial = None if self._initial is None else self._initial.node
        return LoopBinding(self.node.name, self._value.node, initial)
