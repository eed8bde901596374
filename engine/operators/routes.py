"""Paths made ready to run: where each begins, which tables it reads, and its steps linked.

A line carries only what later steps look up and what the result needs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.operators.arrangement import ArrangementReader
from engine.operators.lookups import Checking, Choosing, Layout, Lookup, Meeting, Proposing, Selecting, Step
from engine.plan.join_paths import Access, Bind, Candidate, Meet, Path, PathCheck, order_for, paths
from engine.plan.join_paths import Step as PathStep
from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Node

Arrangements = Mapping[tuple[Node, tuple[int, ...]], ArrangementReader]
"""Nodes arranged in orders of their columns."""


@dataclass(frozen=True)
class Route:
    """The path of `input`: it starts from the changes of arrangement `source`, whose words `columns` make
    lines.

    `tables` has the arrangement and the input of each table that its steps read.
    """

    input: int
    source: int
    columns: np.ndarray
    tables: tuple[tuple[int, int], ...]
    first: Step


def routes(node: MultiJoin, wanted: Layout, arrangements: Arrangements) -> tuple[Route, ...]:
    """A route for each input; its last lines have the attributes `wanted`, in ascending order."""
    return tuple(_Routing(node, wanted, arrangements).route(path) for path in paths(node))


class _Routing:
    """Builds one route."""

    def __init__(self, node: MultiJoin, wanted: Layout, arrangements: Arrangements) -> None:
        self._node = node
        self._wanted = wanted
        self._arrangements = arrangements
        self._sources = {key: source for source, key in enumerate(arrangements)}
        self._tables: dict[tuple[int, int], int] = {}

    def route(self, path: Path) -> Route:
        attributes = self._node.attributes[path.input]
        key = (self._node.parts[path.input], self._orders(path.input)[0])
        words = [attributes[column] for column in key[1]]
        layout = self._layout(attributes, path.steps)
        epoch = len(words) + self._arrangements[key].depth
        columns = np.array([*(words.index(a) for a in layout), epoch, epoch + 1], np.int64)
        first = self._linked(path.steps, layout, frozenset(attributes))
        if first is None:
            raise TypeError("a path has no step")
        return Route(path.input, self._sources[key], columns, tuple(self._tables), first)

    def _orders(self, input: int) -> list[tuple[int, ...]]:
        """The orders in which an input is arranged."""
        return [order for node, order in self._arrangements if node == self._node.parts[input]]

    def _lookup(self, access: Access, layout: Layout) -> Lookup:
        order = order_for(access, self._orders(access.input))
        key = (self._node.parts[access.input], order)
        arrangement = self._arrangements[key]
        if access.columns:
            arrangement.look_up_by(len(access.columns))
        table = self._tables.setdefault((self._sources[key], access.input), len(self._tables))
        words = tuple(self._node.attributes[access.input][column] for column in order)
        return Lookup(table, len(access.columns), words, arrangement.depth, layout)

    def _layout(self, bound: Collection[int], rest: Sequence[PathStep]) -> Layout:
        """Those bound attributes that the rest of a path needs."""
        needed = {*self._wanted}
        for access in Path(0, tuple(rest)).accesses():
            needed |= {self._node.attributes[access.input][column] for column in access.columns}
        return tuple(sorted(needed.intersection(bound)))

    def _linked(self, steps: Sequence[PathStep], layout: Layout, bound: frozenset[int]) -> Step | None:
        """The steps from lines of `layout` to lines of the wanted attributes."""
        if not steps:
            return None if layout == self._wanted else Selecting(layout, self._wanted)
        rest = steps[1:]
        match steps[0]:
            case Meet(access):
                bound = bound.union(self._node.attributes[access.input])
                after = self._layout(bound, rest)
                return Meeting(self._lookup(access, layout), after, self._linked(rest, after, bound))
            case PathCheck(access):
                return Checking(self._lookup(access, layout), self._linked(rest, layout, bound))
            case Bind(attribute, candidates):
                then = self._linked(rest, (*layout, attribute), bound | {attribute})
                return Choosing(
                    [self._lookup(candidate.propose, layout) for candidate in candidates],
                    [self._branch(attribute, one, candidates, layout, then) for one in candidates],
                )

    def _branch(
        self,
        attribute: int,
        proposing: Candidate,
        candidates: tuple[Candidate, ...],
        layout: Layout,
        then: Step | None,
    ) -> Step:
        """One candidate proposes the values of an attribute, the others check them, and `then` follows."""
        after = (*layout, attribute)
        for other in reversed(candidates):
            if other is not proposing:
                lookup = self._lookup(other.check, after)
                then = Meeting(lookup, after, then) if other.meets else Checking(lookup, then)
        lookup = self._lookup(proposing.propose, layout)
        if proposing.meets:
            return Meeting(lookup, after, then)
        return Proposing(lookup, attribute, then)
