"""Scopes, which hold operators, and `Rendered`, a plan node's collection in a scope."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from engine.operators import linear
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.nodes import Node, Recursive

SomeOperator = TypeVar("SomeOperator", bound=Operator)


@dataclass(frozen=True)
class Rendered:
    """A collection: column c of a plan's node is word `columns[c]` of the operator's `width` words."""

    operator: Operator
    columns: tuple[int, ...]
    width: int

    @property
    def is_plain(self) -> bool:
        """Whether the columns are the operator's words, in order."""
        return self.columns == tuple(range(self.width))


def plain(operator: Operator, width: int) -> Rendered:
    """The collection whose columns are the operator's words, in order."""
    return Rendered(operator, tuple(range(width)), width)


class RenderScope:
    """A place for operators: the outermost scope, or a loop's body."""

    def __init__(self, outer: RenderScope | None, bound: frozenset[str], depth: int) -> None:
        self.outer = outer
        """The scope around this one."""
        self.bound = bound
        """The variables that the scope binds."""
        self.depth = depth
        """The number of loops around and including the scope."""
        self.collections: dict[Node, Rendered] = {}
        """The nodes rendered here."""

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        """The operator with this key, made if it does not exist. A key belongs to one kind of operator."""
        raise TypeError("subclasses define where operators are put")


class OutermostScope(RenderScope):
    """The scope of a dataflow's own operators."""

    def __init__(self, dataflow: RunningDataflow) -> None:
        super().__init__(None, frozenset(), 0)
        self._dataflow = dataflow

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        return self._dataflow.operator(key, make)  # type: ignore[return-value]


class LoopScope(RenderScope):
    """The scope of a loop's body."""

    def __init__(self, outer: RenderScope, node: Recursive, loop: Loop) -> None:
        super().__init__(outer, node.bound, outer.depth + 1)
        self.loop = loop
        self.variables: dict[str, Rendered] = {}
        self._operators: dict[Hashable, Operator] = {}

    def put(self, key: Hashable, make: Callable[[], SomeOperator]) -> SomeOperator:
        operator = self._operators.get(key)
        if operator is None:
            operator = self._operators[key] = make()
            self.loop.body.append(operator)
            self.loop.keys.append(key)
        return operator  # type: ignore[return-value]

    def enter(self, source: Operator) -> Operator:
        """The operator that brings `source`, from the scope outside, into the loop."""

        def make() -> Operator:
            entry: Operator = linear.Enter([source])
            if isinstance(source, Arrangement | EnteredArrangement):
                entry = EnteredArrangement(source)
            self.loop.entries.append(entry)
            if source not in self.loop.inputs:
                self.loop.inputs.append(source)
            return entry

        return self.put(("enter", id(source)), make)
