"""Sources of a plan: which part of the text each engine node comes from.

A node comes from the operator whose lowering has made it. Where one node takes the place of several, such as
one Map of a projection over a projection, it comes from all of them. Where lowering has only moved a node, it
comes from what the moved one came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.plan.nodes import Filter, Map, Node, sources_of
from planner.ir import Project, Relational, RelationalProgram, Selection, TableScan, ThetaJoin
from planner.ir.provenance import FoundProvenance, Part


@dataclass(eq=False)
class _Making:
    """Operators that are being lowered as one: `below` are the nodes of what they read, `made` their own."""

    operators: list[Relational]
    below: list[Node] = field(default_factory=list)
    made: Node | None = None

    def becomes(self, node: Node) -> None:
        self.made = node


_NATURAL: Mapping[type[Relational], type[Node]] = {Project: Map, Selection: Filter}
"""What operators become whose nodes others may replace."""


class PlanSources:
    """The parts of the nodes that have been made, by node; nothing without provenance."""

    def __init__(self, provenance: FoundProvenance | None = None) -> None:
        self._provenance = provenance
        self._parts: dict[Node, list[Part]] = {}
        self._making: list[_Making] = []

    @property
    def parts(self) -> Mapping[Node, list[Part]]:
        return self._parts

    @contextmanager
    def of(self, operator: Relational) -> Iterator[_Making]:
        """Inside the context, the operator is lowered."""
        making = _Making([operator])
        self._making.append(making)
        yield making
        self._making.pop()
        if making.made is None:
            return
        if self._making:
            self._making[-1].below.append(making.made)
        if self._provenance is not None:
            natural = _NATURAL.get(type(operator), Node)
            parts = [part for one in making.operators for part in self._provenance.of(one)]
            if isinstance(operator, TableScan) and making.made in self._parts:
                self._parts[making.made] += parts
            self._note(parts, making.made, making.below, natural)

    def together(self, join: Relational, leaves: Sequence[Relational]) -> None:
        """The operator that is being lowered is lowered as one with the joins between it and the leaves."""
        ends = {id(leaf) for leaf in leaves}
        waiting = [side for side in join.inputs if id(side) not in ends]
        while waiting:
            inner = waiting.pop()
            self._making[-1].operators += [inner] if isinstance(inner, ThetaJoin) else []
            waiting += [side for side in inner.inputs if id(side) not in ends]

    def add_root(self, program: RelationalProgram, node: Node) -> None:
        """The node of the whole program: its new part has the columns that the user asked for."""
        if self._provenance is not None:
            parts = self._provenance.of_columns(column.id for column in program.outputs)
            self._note(parts, node, [], Map)

    def _note(self, parts: list[Part], made: Node, below: list[Node], natural: type[Node]) -> None:
        new, old = self._new(made)
        lost = self._lost(below, old) if new else []
        for node in new:
            replaced = [part for gone in lost if _takes_place(node, gone) for part in self._parts[gone]]
            is_moved = bool(replaced) and not isinstance(node, natural)
            self._parts[node] = _once(replaced if is_moved else [*parts, *replaced])

    def _lost(self, below: list[Node], kept: set[Node]) -> list[Node]:
        """The nodes that were read and are no part of the plan any more."""
        lost: dict[Node, None] = {}
        waiting = list(below)
        while waiting:
            node = waiting.pop()
            if node in self._parts and node not in kept and node not in lost:
                lost[node] = None
                waiting += node.inputs
        return list(lost)

    def _new(self, made: Node) -> tuple[list[Node], set[Node]]:
        """The nodes of a plan that have no parts yet, and the first ones below them that have."""
        new: dict[Node, None] = {}
        old: set[Node] = set()
        waiting = [made]
        while waiting:
            node = waiting.pop()
            if node in self._parts:
                old.add(node)
            elif node not in new:
                new[node] = None
                waiting += node.inputs
        return list(new), old


def _once(parts: Iterable[Part]) -> list[Part]:
    """The parts without repetitions, of which there may be exponentially many."""
    return list({id(part): part for part in parts}.values())


def _takes_place(new: Node, gone: Node) -> bool:
    """Whether a node may stand where another stood: they are of one kind, over the same tables."""
    return type(new) is type(gone) and set(sources_of(new)) == set(sources_of(gone))
