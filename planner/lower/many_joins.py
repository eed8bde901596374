"""Inner joins of three or more relations as one multijoin, which stores no intermediate results, where it
wins.

Joins whose equalities form a cycle become a multijoin, which is then worst-case optimal: binary joins of a
graph with hubs store the square of a hub's edges on the way to its triangles. They do not if each of the
binary joins is by a key, so that none makes more rows than it reads. Other joins become a multijoin if its
arrangements have fewer estimated rows than those of binary joins, which also arrange intermediate results:
joins of many relations on one key, and joins of a relation with itself.

If the numbers are equal, as in a chain of tables where each one in the middle is arranged twice, the data
decide which is smaller. For revenue by order for a segment of customers (W2 of the benchmarks, at a quarter
of its size) binary joins were better: single changes took 23 µs instead of 33, changes of 1,000 rows 1.2 ms
instead of 1.9, and memory was 12 % less. Four relations on one key took half the memory as a multijoin,
loaded no slower, and changes took as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.plan.expressions import Call, ColumnRef, Op
from engine.plan.join_paths import orders
from engine.plan.multijoins import MultiJoin, multi_join
from engine.plan.nodes import Filter, Node
from engine.plan.nodes import Join as EngineJoin
from planner.ir import Expression, JoinKind, Project, Relational, ThetaJoin, references
from planner.ir.estimates import size_of
from planner.ir.scalars import conjuncts
from planner.ir.unique import equated, is_unique, unique_keys
from planner.lower.equi_joins import lower_join
from planner.lower.lowered import Lowered, not_null
from planner.lower.time_filters import filtered_over_time, mapped_over_time, with_keys_over_time


@dataclass(frozen=True)
class Link:
    """An equality of two relations: for each, its index and an expression over it."""

    sides: tuple[tuple[int, Expression], tuple[int, Expression]]
    null_safe: bool


@dataclass(frozen=True)
class Relations:
    """A tree of inner joins taken apart: the joined relations, the equalities between two of them, and all
    other conjuncts."""

    leaves: tuple[Relational, ...]
    links: tuple[Link, ...]
    rest: tuple[Expression, ...]

    @property
    def are_connected(self) -> bool:
        """Whether the links connect everything, so that no step has to be a cross product."""
        reached = {0}
        for _ in self.leaves:
            for link in self.links:
                ends = {leaf for leaf, _ in link.sides}
                if ends & reached:
                    reached |= ends
        return len(reached) == len(self.leaves)


def relations(join: ThetaJoin) -> Relations:
    """The relations of a tree of inner joins, from left to right.

    Projections that only drop columns are looked through: a multijoin returns just the columns that are
    needed above.
    """
    leaves = tuple(_leaves(join))
    owners = {id: number for number, leaf in enumerate(leaves) for id in leaf.ids}
    links: list[Link] = []
    rest: list[Expression] = []
    for part in _conditions(join):
        link = _link(part, owners)
        if link is None:
            rest.append(part)
        else:
            links.append(link)
    return Relations(leaves, tuple(links), tuple(rest))


def _is_passed(operator: Relational) -> bool:
    match operator:
        case ThetaJoin(kind=JoinKind.INNER):
            return True
        case Project(input=input, items=items):
            drops = all(isinstance(e, ColumnRef) and e.index == attribute.id for attribute, e in items)
            return drops and _is_passed(input)
    return False


def _leaves(operator: Relational) -> Iterator[Relational]:
    if not _is_passed(operator):
        yield operator
    else:
        for input in operator.inputs:
            yield from _leaves(input)


def _conditions(operator: Relational) -> Iterator[Expression]:
    if _is_passed(operator):
        for input in operator.inputs:
            yield from _conditions(input)
        if isinstance(operator, ThetaJoin):
            yield from conjuncts(operator.condition)


def _link(part: Expression, owners: dict[int, int]) -> Link | None:
    if not (isinstance(part, Call) and part.op in (Op.EQ, Op.NOT_DISTINCT)):
        return None
    left, right = part.args
    lefts, rights = ({owners[id] for id in references(side)} for side in (left, right))
    if len(lefts) != 1 or len(rights) != 1 or lefts == rights:
        return None
    return Link(((lefts.pop(), left), (rights.pop(), right)), part.op is Op.NOT_DISTINCT)


def lower_relations(join: ThetaJoin, apart: Relations, leaves: Sequence[Lowered]) -> Lowered:
    """The lowered join of its relations: a multijoin or binary joins, whichever is preferable."""
    many, node = _multijoin(apart, leaves)
    arranged: dict[tuple[Node, tuple[int, ...]], float] = {}
    binary = _binary(join, iter(leaves), arranged)
    is_worst_case_optimal = node.is_cyclic and not _is_by_keys(join)
    if is_worst_case_optimal or _arranged_rows(node, apart) < sum(arranged.values()):
        return filtered_over_time(many, apart.rest)
    return binary


def _is_by_keys(operator: Relational) -> bool:
    """Whether in each join of the tree, the rows of one side meet at most one row of the other."""
    if not _is_passed(operator):
        return True
    if isinstance(operator, ThetaJoin):
        sides = operator.left, operator.right
        equal = equated(operator.condition, sides[0].ids, sides[1].ids)
        if not any(is_unique(unique_keys(side), ids) for side, ids in zip(sides, equal, strict=True)):
            return False
    return all(map(_is_by_keys, operator.inputs))


def _multijoin(apart: Relations, leaves: Sequence[Lowered]) -> tuple[Lowered, MultiJoin]:
    """The relations joined on their links alone."""
    sides: list[Lowered] = []
    classes: list[list[tuple[int, int]]] = [[] for _ in apart.links]
    for number, leaf in enumerate(leaves):
        ends = [(i, e) for i, link in enumerate(apart.links) for owner, e in link.sides if owner == number]
        side, positions = with_keys_over_time(leaf, [e for _, e in ends])
        strict = (p for (i, _), p in zip(ends, positions, strict=True) if not apart.links[i].null_safe)
        sides.append(not_null(side, strict))
        for (i, _), position in zip(ends, positions, strict=True):
            classes[i].append((number, position))
    node = multi_join([side.node for side in sides], classes)
    if not isinstance(node, MultiJoin):
        raise TypeError("a multijoin of one relation")
    ids = tuple(id for side in sides for id in side.ids)
    nullable = tuple(null for side in sides for null in side.nullable)
    return Lowered(node, ids, nullable, _key(sides, node)), node


def _key(sides: Sequence[Lowered], node: MultiJoin) -> frozenset[int] | None:
    """A key of the rows: the keys of all sides, except sides that are joined by their whole key to earlier
    sides."""
    key: set[int] = set()
    offset = 0
    for number, side in enumerate(sides):
        if side.key is None:
            return None
        tied = {c for equal in node.equalities for i, c in equal if i == number and equal[0][0] < number}
        if not (number and side.key <= tied):
            key |= {position + offset for position in side.key}
        offset += len(side.ids)
    return frozenset(key)


def _binary(
    operator: Relational, leaves: Iterator[Lowered], arranged: dict[tuple[Node, tuple[int, ...]], float]
) -> Lowered:
    """The tree of inner joins in its own order over lowered leaves.

    `arranged` collects the inputs of its joins, with their keys and estimated rows, including intermediate
    results.
    """
    match operator:
        case ThetaJoin(left=left, right=right) if _is_passed(operator):
            result = lower_join(operator, _binary(left, leaves, arranged), _binary(right, leaves, arranged))
            node = result.node
            while isinstance(node, Filter):
                node = node.input
            if isinstance(node, EngineJoin):
                arranged[node.left, node.left_keys] = size_of(left).rows
                arranged[node.right, node.right_keys] = size_of(right).rows
            return result
        case Project(input=input, items=items) if _is_passed(operator):
            return mapped_over_time(
                _binary(input, leaves, arranged), [(attribute.id, e) for attribute, e in items]
            )
    return next(leaves)


def _arranged_rows(node: MultiJoin, apart: Relations) -> float:
    """The estimated number of rows in the arrangements of a multijoin of the relations."""
    rows = {part: size_of(leaf).rows for part, leaf in zip(node.parts, apart.leaves, strict=True)}
    return sum(rows[part] * len(part_orders) for part, part_orders in orders(node).items())
