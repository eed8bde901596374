"""Which rows of its sources a query can use: those that meet conditions, or have values that others have.

    filter(t.a = 5, join(t, u, t.b = u.b))   →   of t rows with a = 5, of u those whose b some such row has

A row may be left out if it is in no row of the answer, and if no row of the answer appears because it is
gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from engine.plan.expressions import Call, ColumnRef, Literal, Op, Parameter
from engine.plan.nodes import Source
from planner import ir
from planner.ir.scalars import can_fail, conjuncts, rename

Place = tuple[int, int]
"""A scan by number, and the position of a column in its source."""
_Passed = Mapping[int, Place]
"""Columns by number, and the place from which all their values come, NULLs of outer joins apart; rows without
some values of them may be left out there."""


@dataclass
class ScannedSource:
    """What one scan of a source can use: rows that have the `values` at some positions, that meet the
    `conditions`, over positions, and that have at each position of `links` a value that another scan has."""

    source: Source
    values: list[tuple[int, Literal | Parameter]] = field(default_factory=list)
    conditions: list[ir.Expression] = field(default_factory=list)
    links: list[tuple[int, Place]] = field(default_factory=list)


def scanned_sources(program: ir.RelationalProgram) -> list[ScannedSource]:
    """The scans of sources of a program."""
    reader = _Reader()
    for operator in (*program.definitions, program.root):
        reader.passed(operator)
    return reader.scans


def without_links(scans: list[ScannedSource], sources: Collection[Source]) -> list[ScannedSource]:
    """The scans; those of the sources, whose rows change, are read whole, and no links lead to them."""
    changing = {number for number, scan in enumerate(scans) if scan.source in sources}
    return [
        ScannedSource(scan.source)
        if number in changing
        else replace(scan, links=[link for link in scan.links if link[1][0] not in changing])
        for number, scan in enumerate(scans)
    ]


class _Reader:
    def __init__(self) -> None:
        self.scans: list[ScannedSource] = []

    def passed(self, operator: ir.Relational) -> _Passed:
        """Notes the scans here and below; the columns that rows can be left out by."""
        match operator:
            case ir.TableScan(plan=Source() as source, columns=columns, positions=positions):
                self.scans.append(ScannedSource(source))
                number = len(self.scans) - 1
                return {c.id: (number, place) for c, place in zip(columns, positions, strict=True)}
            case ir.Selection(input=input, predicate=predicate):
                found = self.passed(input)
                self._values(conjuncts(predicate), found)
                self._links(conjuncts(predicate), found, found)
                return found
            case ir.Distinct(input=input):
                return self.passed(input)
            case ir.Project(input=input, items=items):
                below = self.passed(input)
                refs = [(a.id, e.index) for a, e in items if isinstance(e, ColumnRef)]
                return {id: below[index] for id, index in refs if index in below}
            case (
                ir.Aggregate(input=input, keys=keys)
                | ir.Top(input=input, keys=keys)
                | ir.Over(input=input, keys=keys)
            ):
                below = self.passed(input)
                return {key: below[key] for key in keys if key in below}
            case ir.ThetaJoin():
                return self._joined(operator)
        for input in operator.inputs:
            self.passed(input)
        return {}

    def _joined(self, join: ir.ThetaJoin) -> _Passed:
        left, right = self.passed(join.left), self.passed(join.right)
        if join.kind is ir.JoinKind.FULL:
            return {}
        if join.kind is ir.JoinKind.MARK:
            return left
        parts = list(conjuncts(join.condition))
        self._values(parts, right)
        self._links(parts, right, left)
        if join.kind in (ir.JoinKind.INNER, ir.JoinKind.SEMI):
            self._values(parts, left)
            self._links(parts, left, right)
        return {**left, **right} if join.kind is ir.JoinKind.INNER else left

    def _values(self, parts: Iterable[ir.Expression], passed: _Passed) -> None:
        """Notes conditions that are about one scan alone."""
        for part in parts:
            used = ir.references(part)
            if not used <= passed.keys() or len({passed[id][0] for id in used}) != 1 or can_fail(part):
                continue
            positions = {id: passed[id][1] for id in used}
            scan = self.scans[next(passed[id][0] for id in used)]
            match part:
                case Call(op=Op.EQ, args=(ColumnRef(index=id), Literal() | Parameter() as value)):
                    scan.values.append((positions[id], value))
                case _:
                    scan.conditions.append(rename(part, positions))

    def _links(self, parts: Iterable[ir.Expression], to: _Passed, others: _Passed) -> None:
        """Notes that columns of `to` have values that columns of the `others` have."""
        for part in parts:
            match part:
                case Call(op=Op.EQ, args=(ColumnRef(type=left) as a, ColumnRef(type=right) as b)) if (
                    left == right
                ):
                    for mine, other in ((a.index, b.index), (b.index, a.index)):
                        if mine in to and other in others and to[mine][0] != others[other][0]:
                            number, position = to[mine]
                            self.scans[number].links.append((position, others[other]))
