"""Which columns can be NULL at a place: what the binder knew, and what filters and joins add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.ir import (
    Attribute,
    Distinct,
    Expression,
    JoinKind,
    Nearest,
    Over,
    Prioritized,
    Project,
    Relational,
    Selection,
    ThetaJoin,
    Top,
    UnnestLists,
)
from planner.ir.declared import fact
from planner.ir.scalars import may_be_null, not_null_ids

Columns = Mapping[int, Attribute]


@fact
def known_columns(operator: Relational) -> Columns:
    """The operator's columns by number, with their nullability as far as it is known."""
    match operator:
        case Selection(input=input, predicate=predicate):
            return _held(known_columns(input), predicate)
        case Distinct(input=input) | Prioritized(input=input) | Top(input=input):
            return known_columns(input)
        case Over(input=input, items=items):
            return {**known_columns(input), **{item.attribute.id: item.attribute for item in items}}
        case UnnestLists(input=input):
            return {**{column.id: column for column in operator.columns}, **known_columns(input)}
        case Project(input=input, items=items):
            below = known_columns(input)
            return {a.id: _strict(a) if a.nullable and not may_be_null(e, below) else a for a, e in items}
        case ThetaJoin(kind=JoinKind.INNER, left=left, right=right, condition=condition):
            return _held({**known_columns(left), **known_columns(right)}, condition)
        case ThetaJoin(kind=JoinKind.SEMI, left=left, condition=condition):
            return _held(known_columns(left), condition)
        case ThetaJoin(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.MARK, left=left):
            return {**{column.id: column for column in operator.columns}, **known_columns(left)}
        case Nearest(kind=JoinKind.INNER, left=left, right=right):
            return {**known_columns(left), **known_columns(right)}
        case Nearest(left=left):
            return {**{column.id: column for column in operator.columns}, **known_columns(left)}
        case _:
            return {column.id: column for column in operator.columns}


def _held(columns: Columns, predicate: Expression) -> Columns:
    """The columns where the predicate is true."""
    certain = not_null_ids(predicate)
    found = {id: _strict(columns[id]) for id in certain & columns.keys() if columns[id].nullable}
    return {**columns, **found} if found else columns


def _strict(column: Attribute) -> Attribute:
    return replace(column, nullable=False)
