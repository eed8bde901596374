"""Witnesses: the query of an operator's rows, each with the rows of the leaves that it is made from.

Projections, filters, joins and DISTINCT make a row from one row of each leaf. Their witness keeps all columns
on the way, and so has a row for each way in which a row can be made. Everything else is a leaf, which is
explained by itself: tables, groups, windows, set operations, recursions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from engine.plan.expressions import Literal
from engine.schema import BIGINT, BOOLEAN
from planner import ir
from planner.ir.column_numbers import Numbers
from planner.ir.rewrite import identity


@dataclass(frozen=True)
class Leaf:
    """A leaf of a witness. It has a row where column `mark` is not NULL; always without a mark. Of a scan,
    column `place` has the row's place."""

    operator: ir.Relational
    mark: int | None = None
    place: int | None = None


@dataclass(frozen=True)
class Witness:
    """`query` has the columns of the operator and those of its leaves. `absent` are the right sides of joins
    that keep rows without a match. `marks` are the columns that say whether there is a match, each with the
    join that has the matches."""

    query: ir.Relational
    leaves: tuple[Leaf, ...]
    absent: tuple[ir.Relational, ...] = ()
    marks: tuple[tuple[int, ir.ThetaJoin], ...] = ()

    @cached_property
    def telling(self) -> frozenset[int]:
        """The columns by which the rows of the leaves are known."""
        found = {mark for mark, _ in self.marks}.union(*(matches.left.ids for _, matches in self.marks))
        for leaf in self.leaves:
            found |= leaf.operator.ids if leaf.place is None else {leaf.place}
            found |= set() if leaf.mark is None else {leaf.mark}
        return frozenset(found) & self.query.ids


def witness(operator: ir.Relational, numbers: Numbers) -> Witness:
    """The witness of an operator; of a leaf, the leaf itself."""
    match operator:
        case ir.Selection(input=input):
            below = witness(input, numbers)
            return replace(below, query=replace(operator, input=below.query))
        case ir.Distinct(input=input):
            return witness(input, numbers)
        case ir.Project(input=input, items=items):
            below = witness(input, numbers)
            made = {attribute.id for attribute, _ in items}
            kept = tuple(column for column in below.query.columns if column.id not in made)
            return replace(below, query=ir.Project(below.query, (*items, *identity(kept))))
        case ir.ThetaJoin():
            return _joined(operator, numbers)
        case ir.TableScan(plan=plan, columns=columns, positions=positions):
            place = numbers.attribute("place", BIGINT, False)
            last = len(plan.schema) - 1
            query = replace(operator, columns=(*columns, place), positions=(*positions, last))
            return Witness(query, (Leaf(operator, place=place.id),))
    return Witness(operator, (Leaf(operator),))


def _joined(join: ir.ThetaJoin, numbers: Numbers) -> Witness:
    left = witness(join.left, numbers)
    if join.kind is ir.JoinKind.ANTI:
        return replace(left, query=replace(join, left=left.query), absent=(*left.absent, join.right))
    if join.mark is not None:
        matches = ir.ThetaJoin(ir.JoinKind.INNER, left.query, join.right, join.condition)
        return replace(
            left, query=replace(join, left=left.query), marks=(*left.marks, (join.mark.id, matches))
        )
    right = witness(join.right, numbers)
    if join.kind is ir.JoinKind.FULL:
        left = _marked(left, numbers)
    if join.kind in (ir.JoinKind.LEFT, ir.JoinKind.FULL):
        right = _marked(right, numbers)
    kind = ir.JoinKind.INNER if join.kind is ir.JoinKind.SEMI else join.kind
    query = ir.ThetaJoin(kind, left.query, right.query, join.condition)
    absent, marks = (*left.absent, *right.absent), (*left.marks, *right.marks)
    return Witness(query, (*left.leaves, *right.leaves), absent, marks)


def _marked(side: Witness, numbers: Numbers) -> Witness:
    """The same with a column that is not NULL in its rows, so that padded rows are told apart."""
    mark = numbers.attribute("is_there", BOOLEAN, False)
    query = ir.Project(side.query, (*identity(side.query.columns), (mark, Literal(True, BOOLEAN))))
    leaves = tuple(leaf if leaf.mark is not None else replace(leaf, mark=mark.id) for leaf in side.leaves)
    return replace(side, query=query, leaves=leaves)
