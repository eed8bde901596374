"""Refuses PRIORITY where a recursion's result could depend on the round in which a row enters.

The fixed point does not depend on it if the recursion is *monotone*: more rows below make more rows above, or
better ones. In a column of a MIN, a smaller value is better and NULL is the worst; in a column of a MAX, a
larger one is better. State A is below state B if for each row of A, B has a row that is at least as good and
agrees in the columns of neither MIN nor MAX. Every operator that this check accepts preserves this order, so
any two orders of entry end in states that are each below the other. Such states are equal, because only the
one row of a group changes: rows with changing columns pass from round to round only through a MIN or a MAX.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.plan.expressions import Call, Cast, ColumnRef, Op
from engine.plan.nodes import Function
from engine.schema import Kind, Type
from planner import ir
from planner.bind.dependence import Dependence
from planner.bind.references import components
from planner.bind.session import Session
from planner.errors import Unsupported
from planner.ir.scalars import conjuncts

_HINT = "remove the hint PRIORITY: the result is the same without it"


class Course(enum.Enum):
    """The direction in which better rows move a column's value: not at all, down, or up."""

    FIXED = 0
    FALLING = -1
    RISING = 1

    def turned(self) -> Course:
        return Course(-self.value)

    def with_(self, other: Course, what: str) -> Course:
        """The course of a value that depends on both."""
        if self is not other and Course.FIXED not in (self, other):
            raise _refusal(what)
        return other if self is Course.FIXED else self


_COURSES = {Function.MIN: Course.FALLING, Function.MAX: Course.RISING}
_LESS = {Op.LT: Course.FALLING, Op.LE: Course.FALLING, Op.GT: Course.RISING, Op.GE: Course.RISING}


@dataclass(frozen=True)
class _State:
    """What is known of a variable's rows.

    `courses` are those of its columns. `counted` says whether the number of equal rows is certain to be the
    same, whatever the order of entry.
    """

    courses: tuple[Course, ...]
    counted: bool


def check_monotone(session: Session, bindings: tuple[ir.RecursiveBinding, ...]) -> None:
    """Raise Unsupported, without a place, if the fixed point could depend on when rows enter it."""
    known = {b.variable: _State((Course.FIXED,) * len(b.outputs), True) for b in bindings}
    while True:
        check = _Check(session, known)
        found = {b.variable: check.state(b) for b in bindings}
        if found == known:
            break
        known = {v: _merged(known[v], found[v]) for v in known}
    moving = {b.variable for b in bindings if _moves(known[b.variable].courses)}
    if any(not state.counted for v, state in known.items() if v not in moving):
        raise _refusal("duplicate rows whose number depends on a MIN or MAX")
    handed_on = {str(b.variable): check.handed_on(b.value) & moving for b in bindings}
    uses = {name: frozenset(map(str, found)) for name, found in handed_on.items()}
    for group in components(uses):
        if len(group) > 1 or group[0] in uses[group[0]]:
            raise _refusal("a MIN or MAX whose earlier rows the recursion keeps")


def _refusal(what: str) -> Unsupported:
    return Unsupported(f"PRIORITY is not supported with {what} over the recursion's rows", _HINT)


def _moves(courses: Iterable[Course]) -> bool:
    return any(course is not Course.FIXED for course in courses)


def _merged(old: _State, new: _State) -> _State:
    courses = (a.with_(b, "MIN and MAX of one column") for a, b in zip(old.courses, new.courses, strict=True))
    return _State(tuple(courses), old.counted and new.counted)


class _Check:
    """One walk over the bindings; `courses` holds the courses of the columns met so far that are not
    fixed."""

    def __init__(self, session: Session, known: Mapping[int, _State]) -> None:
        self.definitions = session.definitions
        self.known = known
        self.variables = frozenset(known)
        self.dependence = Dependence(session)
        self.courses: dict[int, Course] = {}

    def state(self, binding: ir.RecursiveBinding) -> _State:
        counted = self._counted(binding.value)
        return _State(tuple(self._of(id) for id in binding.outputs), counted)

    def handed_on(self, operator: ir.Relational) -> frozenset[int]:
        """The variables whose rows the operator passes on, other than through a MIN or MAX."""
        match operator:
            case ir.RecursiveRef(variable=variable):
                return frozenset({variable}) & self.variables
            case ir.SharedRef(number=number):
                return self.handed_on(self.definitions[number])
            case ir.Aggregate():
                return frozenset()
        return frozenset().union(*(self.handed_on(input) for input in operator.inputs))

    def _of(self, id: int) -> Course:
        return self.courses.get(id, Course.FIXED)

    def _varies(self, operator: ir.Relational) -> bool:
        return self.dependence.of(operator, self.variables) or _moves(map(self._of, operator.free))

    def _counted(self, operator: ir.Relational) -> bool:
        """Find the courses of the operator's columns; return whether its rows are `counted`, as in
        `_State`."""
        if not self._varies(operator):
            return True
        if any(self.dependence.in_subquery(e, self.variables) for e in operator.expressions):
            raise _refusal("EXISTS, IN or another subquery")
        match operator:
            case ir.RecursiveRef(variable=variable, columns=columns, positions=positions):
                state = self.known[variable]
                for column, position in zip(columns, positions, strict=True):
                    self.courses[column.id] = state.courses[position]
                return state.counted
            case ir.Prioritized():
                return True
            case ir.SharedRef(number=number, renaming=renaming):
                counted = self._counted(self.definitions[number])
                self.courses.update({column.id: self._of(old) for column, old in renaming})
                return counted
            case ir.Project(input=input, items=items):
                counted = self._counted(input)
                self.courses.update({attribute.id: self._course(e) for attribute, e in items})
                return counted
            case ir.Selection(input=input, predicate=predicate):
                counted = self._counted(input)
                self._check_condition(predicate)
                return counted
            case ir.Distinct(input=input):
                return self._counted(input) and not _moves(map(self._of, operator.ids))
            case ir.Aggregate():
                self._aggregate(operator)
                return True
            case ir.ThetaJoin():
                return self._join(operator)
            case ir.SetOp(kind=ir.SetKind.UNION):
                return self._union(operator)
            case ir.UnnestLists(input=input):
                counted = self._counted(input)
                if _moves(map(self._of, operator.used)):
                    raise _refusal("a list of a MIN or MAX")
                return counted
            case ir.Top():
                raise _refusal("LIMIT or DISTINCT ON")
            case ir.Nearest():
                raise _refusal("ASOF JOIN")
            case ir.SetOp():
                raise _refusal("EXCEPT or INTERSECT")
            case ir.Over():
                raise _refusal("a window function")
        raise _refusal("another recursion")

    def _aggregate(self, aggregate: ir.Aggregate) -> None:
        self._counted(aggregate.input)
        if not aggregate.keys:
            raise _refusal("an aggregate without GROUP BY")
        if _moves(map(self._of, aggregate.keys)):
            raise _refusal("GROUP BY a MIN or MAX")
        for item in aggregate.items:
            course = _COURSES.get(item.function) if isinstance(item.function, Function) else None
            if course is None or not item.arguments:
                raise _refusal(ir.function_name(item.function).upper())
            self.courses[item.attribute.id] = course.with_(
                self._of(item.arguments[0]), "MIN of a MAX, or MAX of a MIN,"
            )

    def _join(self, join: ir.ThetaJoin) -> bool:
        if join.kind is not ir.JoinKind.INNER and (
            join.kind is not ir.JoinKind.LEFT
            or self._varies(join.right)
            or _moves(map(self._of, ir.references(join.condition)))
        ):
            raise _refusal("an outer join")
        left = self._counted(join.left)
        right = self._counted(join.right)
        self._check_condition(join.condition)
        return left and right

    def _union(self, union: ir.SetOp) -> bool:
        left = self._counted(union.left)
        right = self._counted(union.right)
        for column, a, b in zip(union.columns, union.lefts, union.rights, strict=True):
            self.courses[column.id] = self._of(a).with_(self._of(b), "MIN and MAX of one column")
        return left and right

    def _check_condition(self, predicate: ir.Expression) -> None:
        """Refuse a condition that better rows could make false."""
        for part in conjuncts(predicate):
            if not _moves(map(self._of, ir.references(part))):
                continue
            if not isinstance(part, Call) or part.op not in _LESS:
                raise _refusal("a condition that a better MIN or MAX could make false")
            left, right = (self._course(arg) for arg in part.args)
            wanted = _LESS[part.op]
            if left not in (Course.FIXED, wanted) or right not in (Course.FIXED, wanted.turned()):
                raise _refusal("a condition that a better MIN or MAX could make false")

    def _course(self, expression: ir.Expression) -> Course:
        """The direction in which better rows move the expression's value."""
        if not _moves(map(self._of, ir.references(expression))):
            return Course.FIXED
        what = "an expression that does not follow a MIN or MAX"
        match expression:
            case ColumnRef(index=id):
                return self._of(id)
            case Cast(arg=arg, type=type, lenient=False) if _is_numeric(arg.type) and _is_numeric(type):
                return self._course(arg)
            case Call(op=Op.NEG, args=(arg,)):
                return self._course(arg).turned()
            case Call(op=Op.ADD, args=(left, right)):
                return self._course(left).with_(self._course(right), what)
            case Call(op=Op.SUB, args=(left, right)):
                return self._course(left).with_(self._course(right).turned(), what)
        raise _refusal(what)


def _is_numeric(type: Type) -> bool:
    return type.is_integer or type.is_float or type.kind is Kind.NUMERIC
