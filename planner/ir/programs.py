"""What connects operators: shared definitions, contexts of subqueries, recursion, whole programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from engine.errors import PlanError
from engine.plan.nodes import OnLimit
from planner.ir.core import Attribute, Expression, Relational, Renaming, Replacing, Widening
from planner.ir.declared import ColumnNumber, Record


@dataclass(frozen=True)
class SharedRef(Replacing):
    """The rows of definition `number` of the program; each column is a new name of one of its columns."""

    number: int
    renaming: Renaming


@dataclass(frozen=True)
class Context(Replacing):
    """The distinct values of some columns of `input`, under new numbers, against which a correlated query is
    planned.

    Everything above a context, up to the join that brings its rows back, is computed separately for each of
    its rows, so additional rows in it change nothing.
    """

    input: Relational
    renaming: tuple[tuple[Attribute, ColumnNumber], ...]


@dataclass(frozen=True)
class RecursiveBinding(Record):
    """A recursive name: variable `variable` has the value `value`, its columns in the order of `outputs`."""

    variable: int
    name: str
    value: Relational
    outputs: tuple[ColumnNumber, ...]


@dataclass(frozen=True)
class Fixpoint(Relational):
    """The fixed point of the bindings, from empty; the result is binding `result` with its columns renamed.

    In a round, a binding is computed from the previous round, and from the earlier bindings that it reads as
    of the same round; so a round has no cycle.
    """

    bindings: tuple[RecursiveBinding, ...]
    result: int
    columns: tuple[Attribute, ...]
    limit: int | None = None
    on_limit: OnLimit = OnLimit.ERROR

    def __post_init__(self) -> None:
        super().__post_init__()
        later = self._bound
        for binding in self.bindings:
            if binding.value.current & later:
                raise PlanError(f"{binding.name} reads a binding in a round in which that has no rows yet")
            later -= {binding.variable}

    @property
    def _bound(self) -> frozenset[int]:
        return frozenset(binding.variable for binding in self.bindings)

    @cached_property
    def current(self) -> frozenset[int]:
        return super().current - self._bound


@dataclass(frozen=True)
class RecursiveRef(Relational):
    """A binding's rows: `columns[i]` is output `positions[i]` of variable `variable`.

    They are the rows of the previous round. If it `is_current`, they are those of the same round; the binding
    must then precede the one that reads it.
    """

    variable: int
    name: str
    columns: tuple[Attribute, ...]
    positions: tuple[int, ...]
    is_current: bool = False

    @cached_property
    def current(self) -> frozenset[int]:
        return frozenset({self.variable}) if self.is_current else frozenset()


@dataclass(frozen=True)
class Prioritized(Widening):
    """The rows of `input`, which does not recur, as they enter the recursion of `variable`: each from `round`
    on."""

    input: Relational
    round: Expression
    variable: int


@dataclass(frozen=True)
class RelationalProgram:
    """A query: `root` over `definitions`; `outputs` are the columns that the user asked for, in order."""

    definitions: tuple[Relational, ...]
    root: Relational
    outputs: tuple[Attribute, ...]

    def mapped(self, change: Callable[[Relational], Relational]) -> RelationalProgram:
        """The program with each definition, and the root, changed."""
        return replace(self, definitions=tuple(map(change, self.definitions)), root=change(self.root))
