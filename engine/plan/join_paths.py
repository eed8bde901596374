"""How a multijoin is maintained: for each input, the path of its changes through the other inputs.

  Δ(A ⋈ B ⋈ C) = ΔA ⋈ B ⋈ C + A' ⋈ ΔB ⋈ C + A' ⋈ B' ⋈ ΔC

A path begins with *lines*: the changes of one input, whose attributes are bound. Every step looks lines up in
an arrangement of another input by what is bound so far, and binds more. At the end every other input has been
met exactly once.

If the inputs form no cycle, a path meets them one after the other. If they do, it is worst-case optimal:
shared attributes are bound one at a time, and each line takes the values from the input that has the fewest
for it, while the other inputs check them. The work for a batch of changes is then bounded by the largest
possible output of relations of these sizes (times a logarithm), which no sequence of binary joins can
guarantee. An input with private attributes only proposes and checks; it is met once all shared attributes are
bound.

Paths do not depend on statistics: equal joins have equal paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import Node


@dataclass(frozen=True)
class Access:
    """The rows of an input, looked up by some of its columns, whose attributes are bound."""

    input: int
    columns: frozenset[int]


@dataclass(frozen=True)
class Meet:
    """Join each line with the rows that `access` finds: binds the input's attributes, multiplies diffs."""

    access: Access


@dataclass(frozen=True)
class PathCheck:
    """Drop the lines for which `access` finds nothing."""

    access: Access


@dataclass(frozen=True)
class Candidate:
    """An input with values of an attribute: `propose` finds all of them, and `check` one.

    With `meets`, this access also meets the input, because it leaves no attribute of it unbound.
    """

    propose: Access
    check: Access
    meets: bool


@dataclass(frozen=True)
class Bind:
    """Bind `attribute`: each line takes the values from the candidate with the fewest rows; the others
    check."""

    attribute: int
    candidates: tuple[Candidate, ...]


Step = Meet | PathCheck | Bind


@dataclass(frozen=True)
class Path:
    """The steps of a change of `input`."""

    input: int
    steps: tuple[Step, ...]

    def accesses(self) -> Iterator[Access]:
        """All accesses of the path's steps, in order."""
        for step in self.steps:
            if isinstance(step, Bind):
                for candidate in step.candidates:
                    yield candidate.propose
                    yield candidate.check
            else:
                yield step.access


def paths(node: MultiJoin) -> tuple[Path, ...]:
    """The path of each input, in order."""
    find = _bound_one_by_one if node.is_cyclic else _met_one_by_one
    return tuple(Path(start, tuple(find(node, start))) for start in range(len(node.parts)))


def orders(node: MultiJoin) -> dict[Node, tuple[tuple[int, ...], ...]]:
    """The orders of columns in which each input is arranged for the paths, as few as possible.

    An order serves every access whose columns lead it, so accesses by growing sets of columns share one.
    Inputs that are the same node share all orders.
    """
    keys: dict[Node, set[frozenset[int]]] = {part: set() for part in node.parts}
    for path in paths(node):
        for access in path.accesses():
            keys[node.parts[access.input]].add(access.columns)
    return {
        part: tuple(_order(chain, len(part.schema)) for chain in _chains(sets)) for part, sets in keys.items()
    }


def order_for(access: Access, candidates: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The first of the orders that `access` can use."""
    size = len(access.columns)
    return next(order for order in candidates if access.columns == set(order[:size]))


def _met_one_by_one(node: MultiJoin, start: int) -> Iterator[Step]:
    """Inputs that share a bound attribute first, and among these the ones with fewest unbound shared
    attributes."""
    bound = set(node.attributes[start])
    left = [i for i in range(len(node.parts)) if i != start]

    def rank(i: int) -> tuple[bool, int]:
        attributes = node.attributes[i]
        return bound.isdisjoint(attributes), sum(node.is_shared(a) and a not in bound for a in attributes)

    while left:
        following = min(left, key=rank)
        left.remove(following)
        yield Meet(_access(node, following, bound))
        bound |= set(node.attributes[following])


def _bound_one_by_one(node: MultiJoin, start: int) -> Iterator[Step]:
    """Bind all shared attributes in an order. Inputs that share an attribute with the start, but do not have
    the first attribute, are checked before it, so that lines without a match end early."""
    bound = set(node.attributes[start])
    left = [i for i in range(len(node.parts)) if i != start]
    attributes = _attribute_order(node, bound)
    for i in left:
        known = bound.intersection(node.attributes[i])
        if known and not set(attributes[:1]).intersection(node.attributes[i]):
            access = _access(node, i, bound)
            yield Meet(access) if bound.issuperset(node.attributes[i]) else PathCheck(access)
    for attribute in attributes:
        after = bound | {attribute}
        yield Bind(
            attribute,
            tuple(
                Candidate(_access(node, i, bound), _access(node, i, after), after.issuperset(row))
                for i, row in enumerate(node.attributes)
                if attribute in row
            ),
        )
        bound = after
    for i in left:
        if not all(node.is_shared(a) for a in node.attributes[i]):
            yield Meet(_access(node, i, bound))


def _attribute_order(node: MultiJoin, start: set[int]) -> list[int]:
    """The shared attributes beyond `start`; next is always the one that most inputs can bind by a lookup."""
    bound = set(start)
    left = set(range(len(node.equalities))) - bound
    order: list[int] = []

    def known_by(attribute: int) -> tuple[int, int]:
        knowing = [row for row in node.attributes if attribute in row and not bound.isdisjoint(row)]
        return len(knowing), -attribute

    while left:
        order.append(max(left, key=known_by))
        bound.add(order[-1])
        left.remove(order[-1])
    return order


def _access(node: MultiJoin, input: int, bound: set[int]) -> Access:
    return Access(input, frozenset(c for c, a in enumerate(node.attributes[input]) if a in bound))


def _chains(sets: set[frozenset[int]]) -> list[list[frozenset[int]]]:
    """The fewest chains of growing sets that cover `sets`; one empty chain if there are no sets.

    By Dilworth's theorem: match as many sets as possible with a larger one each, no two with the same.
    """
    ordered = sorted(sets, key=lambda columns: (len(columns), sorted(columns)))
    smaller: dict[frozenset[int], frozenset[int]] = {}

    def place(small: frozenset[int], tried: set[frozenset[int]]) -> bool:
        for large in ordered:
            if small < large and large not in tried:
                tried.add(large)
                if large not in smaller or place(smaller[large], tried):
                    smaller[large] = small
                    return True
        return False

    for columns in ordered:
        place(columns, set())
    larger = {small: large for large, small in smaller.items()}
    chains = [[columns] for columns in ordered if columns not in smaller]
    for chain in chains:
        while chain[-1] in larger:
            chain.append(larger[chain[-1]])
    return chains or [[]]


def _order(chain: list[frozenset[int]], width: int) -> tuple[int, ...]:
    """All of `width` columns, ordered so that each set of the chain is a prefix."""
    order: list[int] = []
    for columns in (*chain, frozenset(range(width))):
        order += sorted(columns.difference(order))
    return tuple(order)
