"""The loop of a recursion with a working table: as PostgreSQL and DuckDB evaluate `base UNION [ALL] step`.

    w   := base in the first round, then step(w); under UNION as a set, less the rows that were there before
    all := all + w

The step reads w, and DuckDB's `recurring.name` reads `all`, each as of the last round. The result is `all`.
With USING KEY, `all` has one row for a key, and w has the rows of `all` that the round has changed.

The loop ends with the first step that has no rows: a step that has rows without w gets a gate, which closes
with the round after w was last empty. It is open in the second round, because the systems run the step once
even if the base has no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.plan.expressions import Literal
from engine.schema import BOOLEAN
from planner import ir
from planner.bind.additivity import vanishes
from planner.bind.session import Bound, Recursion, Session
from planner.ir.renumber import renumbered
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE

ACCUMULATED = 1
"""The place of the result among the bindings of a loop."""


@dataclass(frozen=True)
class Sides:
    """The base and the step of a bound `base UNION [ALL] step`, each with exactly its columns in order."""

    base: Bound
    step: Bound


def sides_of(session: Session, binding: ir.RecursiveBinding) -> Sides:
    """The sides of a recursive name's value."""

    def side(is_step: bool) -> Bound:
        operator, names = renumbered(_side(binding.value, is_step), session)
        columns = tuple(operator.attribute(names[id]) for id in binding.outputs)
        return Bound(ir.Project(operator, identity(columns)), columns)

    return Sides(side(False), side(True))


def _side(value: ir.Relational, is_step: bool) -> ir.Relational:
    """One side of the union below casts and DISTINCT."""
    match value:
        case ir.Distinct(input=input):
            return _side(input, is_step)
        case ir.Project(input=input, items=items):
            return ir.Project(_side(input, is_step), items)
        case ir.SetOp(kind=ir.SetKind.UNION, left=left, right=right, lefts=lefts, rights=rights):
            side, ids = (right, rights) if is_step else (left, lefts)
            columns = zip(value.columns, ids, strict=True)
            return ir.Project(side, tuple((column, side.attribute(id).ref) for column, id in columns))
    raise TypeError(f"{type(value).__name__} is not the union of a base and a step")


def working_loop(
    session: Session, binding: ir.RecursiveBinding, sides: Sides, accumulated: int, as_set: bool
) -> tuple[ir.RecursiveBinding, ...]:
    """The bindings of the loop: the working table has the variable of `binding`, the result `accumulated`."""
    return _WorkingLoop(session, binding, sides, accumulated).bindings(as_set)


def keyed_loop(
    session: Session,
    binding: ir.RecursiveBinding,
    sides: Sides,
    accumulated: int,
    merge: Callable[[Bound, Bound], Bound],
) -> tuple[ir.RecursiveBinding, ...]:
    """The bindings of a loop that keeps rows by key: `merge` makes them of those kept before and a round's
    rows."""
    return _WorkingLoop(session, binding, sides, accumulated).keyed(merge)


class _WorkingLoop:
    def __init__(
        self, session: Session, binding: ir.RecursiveBinding, sides: Sides, accumulated: int
    ) -> None:
        self.session = session
        self.name = binding.name
        self.variable = binding.variable
        self.accumulated = accumulated
        self.columns = tuple(binding.value.attribute(id) for id in binding.outputs)
        self.sides = sides

    def keyed(self, merge: Callable[[Bound, Bound], Bound]) -> tuple[ir.RecursiveBinding, ...]:
        step, marks = self._step()
        first, mark = self._first()
        before = self.session.number()
        every = merge(self._read(before, is_current=True), self._combined(ir.SetKind.UNION, first, step))
        now, kept = (self._read(variable, is_current=True) for variable in (self.accumulated, before))
        return (
            self._binding(before, f"{self.name} before", self._read(self.accumulated)),
            self._binding(self.accumulated, f"recurring.{self.name}", every),
            self._binding(self.variable, self.name, self._combined(ir.SetKind.EXCEPT, now, kept)),
            *marks,
            mark,
        )

    def bindings(self, as_set: bool) -> tuple[ir.RecursiveBinding, ...]:
        step, marks = self._step()
        if as_set:
            both = self._combined(ir.SetKind.UNION, self.sides.base, step)
            rows = Bound(ir.Distinct(both.operator), both.columns)
            working = self._combined(ir.SetKind.EXCEPT, rows, self._read(self.accumulated))
        else:
            first, mark = self._first()
            working = self._combined(ir.SetKind.UNION, first, step)
            marks = (*marks, mark)
        before, now = self._read(self.accumulated), self._read(self.variable, is_current=True)
        every = self._combined(ir.SetKind.UNION, before, now)
        # What has come and gone must cancel out before it goes round again: as a set, or by a difference.
        if as_set:
            every = Bound(ir.Distinct(every.operator), every.columns)
        else:
            none = self.session.fresh(every.columns)
            every = self._combined(ir.SetKind.EXCEPT, every, Bound(ir.Values(none, ()), none))
        return (
            self._binding(self.variable, self.name, working),
            self._binding(self.accumulated, f"recurring.{self.name}", every),
            *marks,
        )

    def _step(self) -> tuple[Bound, tuple[ir.RecursiveBinding, ...]]:
        """The step, with a gate if it has rows without the working table; and the gate's bindings."""
        step = self.sides.step
        if vanishes(self.session, step.operator, frozenset({self.variable})):
            return step, ()
        return self._gated(step)

    def _first(self) -> tuple[Bound, ir.RecursiveBinding]:
        """The base in the first round alone, and the binding that takes it away in the others."""
        entry = self.session.define(self.sides.base)
        base, again = (self.session.reference(self.name, entry) for _ in range(2))
        variable = self.session.number()
        first = self._combined(ir.SetKind.EXCEPT, base, self._read(variable))
        return first, self._binding(variable, f"{self.name} base", again)

    def _gated(self, step: Bound) -> tuple[Bound, tuple[ir.RecursiveBinding, ...]]:
        """The step in the second round, and then while the working table has rows; with the two bindings that
        are empty until the first round, and until the second, has passed."""
        started, stepped = self.session.number(), self.session.number()
        mark = (self.session.attribute("started", BOOLEAN, False),)

        def read(variable: int) -> Bound:
            return self.session.reference("started", Recursion(variable, mark))

        second = self._combined(ir.SetKind.EXCEPT, read(started), read(stepped))
        rows = self._read(self.variable).operator
        found = self.session.fresh(mark)
        going = Bound(ir.Project(rows, ((found[0], Literal(True, BOOLEAN)),)), found)
        gate = self._combined(ir.SetKind.UNION, second, going)
        gated = ir.ThetaJoin(ir.JoinKind.SEMI, step.operator, gate.operator, TRUE)
        columns = self.session.fresh(mark)
        marks = (
            self._binding(started, "started", Bound(ir.Values(columns, ((True,),)), columns)),
            self._binding(stepped, "stepped", read(started)),
        )
        return replace(step, operator=gated), marks

    def _read(self, variable: int, is_current: bool = False) -> Bound:
        return self.session.reference(self.name, Recursion(variable, self.columns, is_current))

    def _combined(self, kind: ir.SetKind, left: Bound, right: Bound) -> Bound:
        columns = self.session.fresh(left.columns)
        lefts, rights = (tuple(column.id for column in side.columns) for side in (left, right))
        columns = tuple(
            replace(column, nullable=a.nullable or (kind is ir.SetKind.UNION and b.nullable))
            for column, a, b in zip(columns, left.columns, right.columns, strict=True)
        )
        return Bound(ir.SetOp(kind, left.operator, right.operator, columns, lefts, rights), columns)

    def _binding(self, variable: int, name: str, bound: Bound) -> ir.RecursiveBinding:
        return ir.RecursiveBinding(variable, name, bound.operator, tuple(c.id for c in bound.columns))
