"""What the nodes of a plan have in common: inputs, hash, and the checks of columns."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

from engine.errors import PlanError
from engine.plan.expressions import Expression, columns_of
from engine.schema import Schema

_comparison = threading.local()
"""`met`: the pairs of nodes that the comparison in hand has found equal."""


class Node:
    """A collection of rows of one schema. `inputs` are the nodes that it reads, in order."""

    schema: Schema
    KEEPS_GROWTH: ClassVar[bool] = False
    """Whether a kind of node loses no row as long as none of its inputs does."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @cached_property
    def free(self) -> frozenset[str]:
        """The variables that the node refers to and that no scope inside it binds."""
        return frozenset().union(*(node.free for node in self.inputs))

    @cached_property
    def only_grows(self) -> bool:
        """Whether rows are only ever added: no multiplicity falls, and none is negative."""
        return self.KEEPS_GROWTH and all(node.only_grows for node in self.inputs)

    @property
    def _compared(self) -> tuple[object, ...]:
        return tuple([getattr(self, field.name) for field in fields(self) if field.compare])  # type: ignore[arg-type]

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, *self._compared))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether all is the same below both. Two nodes are compared once, by whatever paths."""
        if self is other:
            return True
        if type(self) is not type(other) or self._hash != other._hash:
            return False
        met: set[tuple[int, int]] | None = getattr(_comparison, "met", None)
        if met is not None:
            return self._equals(other, met)
        _comparison.met = set()
        try:
            return self._equals(other, _comparison.met)
        finally:
            _comparison.met = None

    def _equals(self, other: Node, met: set[tuple[int, int]]) -> bool:
        pair = (id(self), id(other))
        if pair not in met:
            if self._compared != other._compared:
                return False
            met.add(pair)
        return True

    def __getstate__(self) -> dict[str, object]:
        """The fields only: cached values, such as a salted hash, are wrong in another process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """A node that reads one other node."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True, eq=False)
class SameSchema(Unary):
    """A unary node whose rows have its input's schema."""

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.input.schema


def check_columns(what: str, indices: tuple[int, ...], schema: Schema) -> None:
    """Raises PlanError, with the name `what` of the reader, if the schema lacks one of the columns."""
    for index in indices:
        if not 0 <= index < len(schema):
            raise PlanError(f"{what} refers to column {index} of {len(schema)}")


def check_expression(what: str, expression: Expression, schema: Schema) -> None:
    """Raises PlanError, with the name `what` of the reader, if the expression reads a missing column."""
    check_columns(what, tuple(columns_of(expression)), schema)
