"""A copy of a query with new numbers for all columns, so that it can stand beside the original."""

from __future__ import annotations

from dataclasses import replace

from engine.plan.expressions import ColumnRef
from planner.ir import (
    Aggregate,
    Attribute,
    Context,
    Exists,
    Expression,
    Fixpoint,
    Over,
    Project,
    RecursiveRef,
    Relational,
    ScalarSubquery,
    SetOp,
    SharedRef,
    Some,
    TableScan,
    ThetaJoin,
    Top,
    UnnestLists,
    Values,
)
from planner.ir.column_numbers import Numbers
from planner.ir.rewrite import with_expressions, with_inputs
from planner.ir.scalars import rewrite
from planner.limits import count_relation


def renumbered(operator: Relational, numbers: Numbers) -> tuple[Relational, dict[int, int]]:
    """The copy, and its columns' new numbers by the old ones.

    Variables of recursions keep their numbers: the copies are separate scopes.
    """
    copier = _Copier(numbers)
    copy = copier.operator(operator)
    numbers.provenance.copied({new: old for old, new in copier.names.items()})
    return copy, copier.names


class _Copier:
    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.names: dict[int, int] = {}

    def operator(self, old: Relational) -> Relational:
        inputs = tuple(self.operator(i) for i in old.inputs)
        if isinstance(old, SetOp):
            return self._set_operation(old, *inputs)
        if isinstance(old, Over):
            return self._window(old, *inputs)
        below = with_inputs(old, inputs)
        if below.expressions:
            below = with_expressions(below, tuple(self.expression(e) for e in below.expressions))
        return self._own(below)

    def expression(self, old: Expression) -> Expression:
        return rewrite(old, self._part)

    def _part(self, part: Expression) -> Expression | None:
        match part:
            case ColumnRef(index=id, type=type):
                return ColumnRef(self._id(id), type)
            case Exists(query=query):
                return Exists(self.operator(query))
            case ScalarSubquery(query=query, column=column, type=type):
                return ScalarSubquery(self.operator(query), self._id(column), type)
            case Some(predicate=predicate, query=query):
                inner = self.operator(query)
                return Some(self.expression(predicate), inner)
        return None

    def _id(self, id: int) -> int:
        return self.names.get(id, id)

    def _new(self, attribute: Attribute) -> Attribute:
        self.names[attribute.id] = self.numbers.number()
        return replace(attribute, id=self.names[attribute.id])

    def _columns(self, columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        return tuple(self._new(column) for column in columns)

    def _set_operation(self, old: SetOp, left: Relational, right: Relational) -> SetOp:
        lefts, rights = (tuple(map(self._id, ids)) for ids in (old.lefts, old.rights))
        return SetOp(old.kind, left, right, self._columns(old.columns), lefts, rights)

    def _window(self, window: Over, input: Relational) -> Over:
        items = []
        for item in window.items:
            arguments = tuple(self._id(a) if isinstance(a, int) else a for a in item.arguments)
            items.append(replace(item, attribute=self._new(item.attribute), arguments=arguments))
        order = tuple(ordering._replace(column=self._id(ordering.column)) for ordering in window.order)
        keys, ties = (tuple(map(self._id, ids)) for ids in (window.keys, window.ties))
        return Over(input, keys, order, ties, tuple(items))

    def _own(self, operator: Relational) -> Relational:
        """The numbers that the operator itself produces, or refers to outside its expressions."""
        match operator:
            case TableScan() | Values() | RecursiveRef():
                count_relation()
                return replace(operator, columns=self._columns(operator.columns))
            case Project(input=input, items=items):
                return Project(input, tuple((self._new(attribute), e) for attribute, e in items))
            case ThetaJoin(mark=mark) if mark is not None:
                return replace(operator, mark=self._new(mark))
            case Aggregate(input=input, keys=keys, items=items):
                new = tuple(
                    replace(
                        item,
                        attribute=self._new(item.attribute),
                        arguments=tuple(map(self._id, item.arguments)),
                    )
                    for item in items
                )
                return Aggregate(input, tuple(self._id(key) for key in keys), new)
            case Top(keys=keys, order=order):
                placed = tuple(o._replace(column=self._id(o.column)) for o in order)
                return replace(operator, keys=tuple(map(self._id, keys)), order=placed)
            case UnnestLists(lists=lists, place=place):
                elements = tuple(
                    replace(e, attribute=self._new(e.attribute), arguments=tuple(map(self._id, e.arguments)))
                    for e in lists
                )
                return replace(operator, lists=elements, place=None if place is None else self._new(place))
            case SharedRef(renaming=renaming):
                return replace(operator, renaming=tuple((self._new(a), old) for a, old in renaming))
            case Context(renaming=renaming):
                return replace(operator, renaming=tuple((self._new(a), self._id(old)) for a, old in renaming))
            case Fixpoint(bindings=bindings):
                new_bindings = tuple(replace(b, outputs=tuple(map(self._id, b.outputs))) for b in bindings)
                return replace(operator, bindings=new_bindings, columns=self._columns(operator.columns))
            case _:
                return operator
