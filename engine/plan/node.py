"""What the nodes of a plan have in common: inputs, hash, and the checks of columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

from engine.errors import PlanError
from engine.plan.expressions import Expression, columns_of
from engine.schema import Schema


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

    @cached_property
    def _hash(self) -> int:
        compared = (getattr(self, field.name) for field in fields(self) if field.compare)  # type: ignore[arg-type]
        return hash((type(self).__name__, *compared))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """The fields only: cached values, such as a salted hash, are wrong in another process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Unary(Node):
    """A node that reads one other node."""

    input: Node
    __hash__ = Node.__hash__

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class SameSchema(Unary):
    """A unary node whose rows have its input's schema."""

    __hash__ = Node.__hash__

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
