"""Recursion in plans: scopes whose bindings are updated round by round, until nothing changes.

Bindings start empty, or from an initial collection; a `Variable` is a binding's value in the round before. To
read a binding in the same round, refer to the node of its value: a plan is a DAG, so nothing waits for itself
within a round, and bindings can be updated simultaneously, in sequence, or in a mix of both. A node that
refers to no variable of a scope belongs outside it: it is computed once, and enters the scope unchanged.
Names of variables are unique along a path of scopes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.expressions import Expression
from engine.plan.node import Node, Unary, check_expression
from engine.schema import BIGINT, Column, Schema


@dataclass(frozen=True, eq=False)
class Variable(Node):
    """A binding of the enclosing `Recursive`, with its value after the round before; or one of its
    entries."""

    name: str
    schema: Schema

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset({self.name})


class OnLimit(enum.Enum):
    """What a scope does after its limit of rounds: return what it has, or fail if the last round changed
    anything."""

    RETURN = "return"
    ERROR = "error"


@dataclass(frozen=True)
class LoopBinding:
    """A name in a scope, and the collection that it is set to in every round.

    In the first round the variable is `initial`, a collection of the scope outside, or empty.
    """

    name: str
    value: Node
    initial: Node | None = None

    @property
    def variable(self) -> Variable:
        """The node that reads the binding."""
        return Variable(self.name, self.value.schema)


@dataclass(frozen=True)
class Entry:
    """A name in a scope for a collection from outside, each of whose rows enters at a round of its own.

    A row whose round is NULL or negative enters at round 0.
    """

    name: str
    input: Node
    round: Expression

    def __post_init__(self) -> None:
        if self.round.type != BIGINT:
            raise PlanError(f"an entry's round is {self.round.type}, not BIGINT")
        check_expression("an entry", self.round, self.input.schema)


@dataclass(frozen=True, eq=False)
class Recursive(Node):
    """The fixed point of `bindings`; the result is that of the binding called `result`.

    The schema of a `Variable` has the types of its binding's value; names and nullability may differ (a front
    end knows them only after the fixed point). A binding that nothing in the scope reads is not fed back:
    with entries and one such binding, the scope's rounds are priorities, and the least priority is processed
    first.
    """

    bindings: tuple[LoopBinding, ...]
    result: str
    limit: int | None = None
    on_limit: OnLimit = OnLimit.ERROR
    entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        names = self._names
        if len(set(names)) != len(names):
            raise PlanError(f"a recursion binds a name twice: {', '.join(names)}")
        if self.result not in (binding.name for binding in self.bindings):
            raise PlanError(f"a recursion returns {self.result}, which it does not bind")
        if self.limit is not None and self.limit < 1:
            raise PlanError(f"a recursion's limit is {self.limit}, not 1 or more")
        for binding in self.bindings:
            if binding.initial is not None and binding.initial.schema.types != binding.value.schema.types:
                raise PlanError(f"the initial collection of {binding.name} has other types than its value")
        for outside in self._outside:
            if outside.free & self.bound:
                raise PlanError(
                    "an initial collection or entry of a recursion refers to the recursion itself"
                )

    @property
    def _outside(self) -> tuple[Node, ...]:
        """The collections from outside that initialize bindings or are entries."""
        initials = (binding.initial for binding in self.bindings if binding.initial is not None)
        return (*initials, *(entry.input for entry in self.entries))

    @cached_property
    def reads_itself(self) -> bool:
        """Whether any binding is fed back."""
        read = frozenset().union(*(binding.value.free for binding in self.bindings))
        return any(binding.name in read for binding in self.bindings)

    @property
    def _names(self) -> list[str]:
        return [binding.name for binding in self.bindings] + [entry.name for entry in self.entries]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the scope binds."""
        return frozenset(self._names)

    @cached_property
    def free(self) -> frozenset[str]:
        return super().free - self.bound

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return next(b.value.schema for b in self.bindings if b.name == self.result)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (*(binding.value for binding in self.bindings), *self._outside)


@dataclass(frozen=True, eq=False)
class WithRound(Unary):
    """The differences of a collection of a scope, each with its round as one more column, the last.

    So the result of a scope that feeds nothing back tells what changes at which round: the sum of the
    differences up to a round is the collection at that round. Outside of all scopes the round is 0.
    """

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema((*self.input.schema.columns, Column("round", BIGINT, nullable=False)))
