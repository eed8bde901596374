"""Origins: from which columns of sources the columns of a plan come, and which of these a plan equates.

Two columns are of one class if a join equates what comes from them. Rows that are drawn by a class meet in
the draw as they meet in the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.plan.expressions import ColumnRef
from engine.plan.group_queries import GroupQuery
from engine.plan.multijoins import MultiJoin, merged
from engine.plan.nearest_joins import NearestJoin
from engine.plan.node import SameSchema
from engine.plan.nodes import Concat, GroupBy, Join, Map, Node, Reduce, Source
from engine.plan.window_functions import Window


class Origin(NamedTuple):
    """A column of a source."""

    source: str
    column: int


Columns = tuple[frozenset[Origin], ...]
"""For each column of a node, the columns whose values it has, unchanged. Empty if they are not known."""
_UNKNOWN: frozenset[Origin] = frozenset()


class ColumnOrigins:
    """The origins of a plan's columns."""

    def __init__(self, plan: Node) -> None:
        self.all: dict[Node, Columns] = {}
        """By node."""
        for node in inputs_first(plan):
            known = self._of(node)
            self.all[node] = known + (_UNKNOWN,) * (len(node.schema) - len(known))

    def equated(self) -> Iterator[frozenset[Origin]]:
        """The sets of columns that a join equates."""
        for node in self.all:
            match node:
                case Join() | NearestJoin():
                    for left, right in zip(node.left_keys, node.right_keys, strict=True):
                        yield self.all[node.left][left] | self.all[node.right][right]
                case MultiJoin(parts=parts, equalities=equalities):
                    for equal in equalities:
                        yield frozenset().union(*(self.all[parts[part]][column] for part, column in equal))

    def classes(self) -> list[set[Origin]]:
        """The classes of columns that joins equate, directly or through others; in order."""
        return sorted(merged(self.equated()), key=sorted)

    def _of(self, node: Node) -> Columns:
        match node:
            case Source(name=name, schema=schema):
                return tuple(frozenset({Origin(name, column)}) for column in range(len(schema)))
            case Map(input=input, expressions=expressions):
                known = self.all[input]
                return tuple(known[e.index] if isinstance(e, ColumnRef) else _UNKNOWN for e in expressions)
            case Join() | NearestJoin():
                return self.all[node.left] + self.all[node.right]
            case MultiJoin(parts=parts):
                return tuple(column for part in parts for column in self.all[part])
            case Concat(parts=parts):
                return tuple(
                    frozenset().union(*columns)
                    for columns in zip(*(self.all[part] for part in parts), strict=True)
                )
            case Reduce() | GroupBy() | GroupQuery():
                return tuple(self.all[node.input][key] for key in node.keys)
            case SameSchema(input=input) | Window(input=input):
                return self.all[input]
            case _:
                return ()


def inputs_first(plan: Node) -> Iterable[Node]:
    """The nodes of a plan, each once, inputs first."""
    found: dict[Node, None] = {}
    waiting = [(plan, False)]
    while waiting:
        node, is_ready = waiting.pop()
        if node in found:
            continue
        if is_ready:
            found[node] = None
        else:
            waiting.append((node, True))
            waiting.extend((input, False) for input in reversed(node.inputs) if input not in found)
    return found


def columns_by_source(group: Iterable[Origin]) -> Mapping[str, int]:
    """One column of each source of a class: the first."""
    found: dict[str, int] = {}
    for source, column in sorted(group):
        found.setdefault(source, column)
    return found
