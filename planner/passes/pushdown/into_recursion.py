"""Moves filters into the base of a recursion that passes their columns through.

    filter(x = 1, fixpoint r := base UNION step(r))   →   fixpoint r := filter(x = 1, base) UNION step(r)

That is right if every row of a step has the filter's columns from the one row of `r` that it is made from:
then rows with another x lead only to rows with another x. It is not done for several names at once, nor where
a step reads `r` twice for one row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.plan.expressions import ColumnRef
from planner import ir
from planner.ir.rewrite import bottom_up
from planner.ir.scalars import conjoin, conjuncts, inline, rename

Origins = Mapping[int, int]
"""Columns by number, and the position of the variable's column whose value each passes through."""


def push_into_recursion(program: ir.RelationalProgram) -> ir.RelationalProgram:
    pushing = _Pushing(program)
    return program.mapped(lambda operator: bottom_up(operator, pushing.pushed))


class _Pushing:
    def __init__(self, program: ir.RelationalProgram) -> None:
        self.program = program

    def pushed(self, operator: ir.Relational) -> ir.Relational:
        match operator:
            case ir.Selection(input=ir.Fixpoint(bindings=(_,)) as fixpoint, predicate=predicate):
                return self._filtered(fixpoint, conjuncts(predicate))
        return operator

    def _filtered(self, fixpoint: ir.Fixpoint, predicates: list[ir.Expression]) -> ir.Relational:
        binding = fixpoint.bindings[0]
        origins = self._origins(binding.value, binding.variable) or {}
        kept = {
            column.id: output
            for i, (column, output) in enumerate(zip(fixpoint.columns, binding.outputs, strict=True))
            if origins.get(output) == i
        }
        inside = [p for p in predicates if ir.references(p) and ir.references(p) <= kept.keys()]
        above = [p for p in predicates if p not in inside]
        if inside:
            value = self._started(binding.value, [rename(p, kept) for p in inside], binding.variable)
            fixpoint = replace(fixpoint, bindings=(replace(binding, value=value),))
        return ir.Selection(fixpoint, conjoin(above)) if above else fixpoint

    def _started(self, value: ir.Relational, predicates: list[ir.Expression], variable: int) -> ir.Relational:
        """The value with its parts that do not recur filtered."""
        match value:
            case ir.Distinct(input=input):
                return ir.Distinct(self._started(input, predicates, variable))
            case ir.Project(input=input, items=items) if self._origins(value, variable) is not None:
                values = {attribute.id: expression for attribute, expression in items}
                inner = [inline(p, values) for p in predicates]
                return ir.Project(self._started(input, inner, variable), items)
            case ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right, columns=columns) if (
                self._origins(value, variable) is not None
            ):
                sides = []
                for side, ids in ((left, value.lefts), (right, value.rights)):
                    names = {column.id: id for column, id in zip(columns, ids, strict=True)}
                    inner = [rename(p, names) for p in predicates]
                    sides.append(self._started(side, inner, variable))
                return replace(value, left=sides[0], right=sides[1])
        if self._origins(value, variable) is None or isinstance(value, ir.Aggregate):
            return ir.Selection(value, conjoin(predicates))
        return value

    def _origins(self, operator: ir.Relational, variable: int) -> Origins | None:
        """The origins of the operator's columns; None if it does not depend on the variable."""
        match operator:
            case ir.RecursiveRef(columns=columns, positions=positions) if operator.variable == variable:
                return {c.id: position for c, position in zip(columns, positions, strict=True)}
            case ir.SharedRef(number=number):
                return None if self._origins(self.program.definitions[number], variable) is None else {}
        found = [self._origins(i, variable) for i in operator.inputs]
        if all(origins is None for origins in found):
            return None
        below = found[0] or {}
        match operator:
            case ir.Selection() | ir.Distinct() | ir.UnnestLists():
                return below
            case ir.Project(items=items):
                handed_on = [(a.id, e.index) for a, e in items if isinstance(e, ColumnRef)]
                return {id: below[source] for id, source in handed_on if source in below}
            case ir.Aggregate(keys=keys):
                return {key: below[key] for key in keys if key in below}
            case ir.ThetaJoin(kind=kind):
                return _joined(kind, *found)
            case ir.Top(keys=keys):
                return {key: below[key] for key in keys if key in below}
            case ir.Nearest():
                return _joined(ir.JoinKind.LEFT, *found)
            case ir.SetOp():
                return _combined(operator, *found)
            case _:
                return {}


def _joined(kind: ir.JoinKind, left: Origins | None, right: Origins | None) -> Origins:
    if right is None and kind is not ir.JoinKind.FULL:
        return left or {}
    return right if left is None and right is not None and kind is ir.JoinKind.INNER else {}


def _combined(operation: ir.SetOp, left: Origins | None, right: Origins | None) -> Origins:
    if operation.kind is not ir.SetKind.UNION and right is not None:
        return {}
    sides = [
        {column.id: origins.get(id) for column, id in zip(operation.columns, ids, strict=True)}
        for origins, ids in ((left, operation.lefts), (right, operation.rights))
        if origins is not None
    ]
    return {
        id: position
        for id, position in sides[0].items()
        if position is not None and all(side[id] == position for side in sides)
    }
