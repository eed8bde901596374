"""A join of many relations at once, as a plan node.

A class of columns that must be equal, or a column that stands alone, is an *attribute*: a row of the join is
one word for each. Attributes of two or more inputs are *shared* and numbered first, as the classes are; the
*private* ones follow, by input and column. `engine.plan.join_paths` decides how such a join is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

from engine.errors import PlanError
from engine.plan.expressions import Call, ColumnRef, Op
from engine.plan.nodes import Filter, Node
from engine.schema import BOOLEAN, Schema

Place = tuple[int, int]
"""An input and a column of it."""
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class MultiJoin(Node):
    """All columns of all inputs in order, for each choice of a row from every input that fits `equalities`.

    An equality is a class of columns, (input, column) each, that hold the same word: at most one from each
    input, and none in two classes. Multiplicities multiply. Without equalities it is the cross product. No
    intermediate result is stored, only arrangements of the inputs, which other operators share. `multi_join`
    takes equalities of any form.
    """

    parts: tuple[Node, ...]
    equalities: tuple[tuple[Place, ...], ...]
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise PlanError("a multijoin has fewer than two inputs")
        places = [place for equal in self.equalities for place in equal]
        if len(set(places)) != len(places):
            raise PlanError("a multijoin has a column in two classes")
        for equal in self.equalities:
            self._check(equal)

    def _check(self, equal: tuple[Place, ...]) -> None:
        for part, column in equal:
            if not (0 <= part < len(self.parts) and 0 <= column < len(self.parts[part].schema)):
                raise PlanError(f"a multijoin of {len(self.parts)} refers to column {column} of input {part}")
        if len(equal) < 2 or len({part for part, _ in equal}) != len(equal):
            raise PlanError(f"a multijoin's class needs at least two columns, from different inputs: {equal}")
        types = {self.parts[part].schema.types[column] for part, column in equal}
        if len(types) > 1:
            raise PlanError(f"a multijoin's class has different types: {', '.join(sorted(map(str, types)))}")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema(tuple(column for part in self.parts for column in part.schema.columns))

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    @cached_property
    def attributes(self) -> tuple[tuple[int, ...], ...]:
        """For every input, the attributes of its columns."""
        known = {place: number for number, equal in enumerate(self.equalities) for place in equal}
        number = len(self.equalities)
        rows: list[tuple[int, ...]] = []
        for part, node in enumerate(self.parts):
            row: list[int] = []
            for column in range(len(node.schema)):
                row.append(known.get((part, column), number))
                number += row[-1] == number
            rows.append(tuple(row))
        return tuple(rows)

    def is_shared(self, attribute: int) -> bool:
        """Whether several inputs have the attribute."""
        return attribute < len(self.equalities)

    @cached_property
    def is_cyclic(self) -> bool:
        """Whether the inputs form a cycle, so that any order of binary joins may have intermediate results
        larger than all inputs and the output.

        A join is acyclic if nothing is left of it after these steps are repeated as often as possible: remove
        an attribute that only one input has; remove an input whose attributes another input has too.
        """
        edges = [{a for a in attributes if self.is_shared(a)} for attributes in self.attributes]
        before = None
        while edges != before:
            before = [set(edge) for edge in edges]
            for edge in edges:
                edge -= {a for a in edge if sum(a in other for other in edges) == 1}
            edges = [
                edge
                for i, edge in enumerate(edges)
                if not any(edge < other or (edge == other and j < i) for j, other in enumerate(edges))
            ]
        return len(edges) > 1


def multi_join(parts: Iterable[Node], equalities: Iterable[Iterable[Place]]) -> Node:
    """The rows of all `parts` joined where the columns of each equality hold the same word.

    Equalities that share a column are merged; an equality within a part becomes a filter of it. NULL equals
    NULL, as in every join of the engine. A single part is returned as it is. Raises PlanError if a column
    does not exist or if the types of equal columns differ.
    """
    inputs = list(parts)
    classes: list[tuple[Place, ...]] = []
    for equal in merged(equalities):
        firsts: dict[int, int] = {}
        for part, column in sorted(equal):
            if not 0 <= part < len(inputs):
                raise PlanError(f"a multijoin of {len(inputs)} refers to input {part}")
            if part in firsts:
                inputs[part] = _same(inputs[part], firsts[part], column)
            else:
                firsts[part] = column
        if len(firsts) > 1:
            classes.append(tuple(firsts.items()))
    return inputs[0] if len(inputs) == 1 else MultiJoin(tuple(inputs), tuple(sorted(classes)))


def merged(equalities: Iterable[Iterable[Item]]) -> list[set[Item]]:
    """The equalities that are not empty, with those merged that have an item in common."""
    found: list[set[Item]] = []
    for equal in map(set, equalities):
        touching = [other for other in found if other & equal]
        found = [other for other in found if not other & equal]
        if equal:
            found.append(equal.union(*touching))
    return found


def _same(node: Node, first: int, second: int) -> Node:
    """The rows with the same word in two columns."""
    types = node.schema.types
    if not 0 <= first < second < len(types):
        raise PlanError(f"a multijoin refers to columns {first} and {second} of {len(types)}")
    if types[first] != types[second]:
        raise PlanError(f"a multijoin's class has different types: {types[first]}, {types[second]}")
    columns = (ColumnRef(first, types[first]), ColumnRef(second, types[second]))
    return Filter(node, Call(Op.NOT_DISTINCT, columns, BOOLEAN))
