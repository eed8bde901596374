"""Estimates of an operator's number of rows, which decide the order of joins.

A relation has as many rows as the catalog says. Most views are registered before their data arrives; then a
relation's key is a hint, because relations with a key of several columns, or none, mostly refer to relations
with a key of one. Of predicates only the kind is known. Only the better of two orders matters, so rough
numbers suffice; they depend on nothing but the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from engine.plan.expressions import Call, ColumnRef, Literal, OneOf, Op
from planner.ir import (
    Aggregate,
    Context,
    Distinct,
    Expression,
    Fixpoint,
    JoinKind,
    RecursiveRef,
    Relational,
    Selection,
    SetKind,
    SetOp,
    TableScan,
    ThetaJoin,
    Top,
    Values,
)
from planner.ir.declared import fact
from planner.ir.scalars import conjuncts, split_chain
from planner.ir.unique import Ids, equated, is_unique, unique_keys

KEYED, KEYLESS, RECURSIVE = 1_000.0, 10_000.0, 100.0
"""Rows of a relation with a key of one column, of one without a key, and of a round of a recursion."""
WIDE_KEY = 4.0
"""The factor for each further column of a key."""
GROUP = 4.0
"""Rows per group, and per distinct row."""
_SELECTED = {Op.EQ: 0.1, Op.NOT_DISTINCT: 0.1, Op.NE: 0.9, Op.DISTINCT: 0.9, Op.IS_NULL: 0.1}
_COMPARED, _OTHER, _MATCHED = 0.3, 0.25, 0.5


@dataclass(frozen=True)
class Size:
    """`rows` is the number of rows, and `whole` the number without any filter."""

    rows: float
    whole: float

    @property
    def part(self) -> float:
        return self.rows / self.whole

    def filtered(self, part: float) -> Size:
        return Size(self.rows * part, self.whole)


@fact
def size_of(operator: Relational) -> Size:
    """The size of an operator's rows."""
    match operator:
        case TableScan(rows=rows, key=key):
            guess = KEYLESS if key is None else KEYED * WIDE_KEY ** (len(key) - 1)
            return _whole(guess if rows is None else rows)
        case Values(rows=rows):
            return _whole(len(rows))
        case RecursiveRef():
            return _whole(RECURSIVE)
        case Selection(input=input, predicate=predicate):
            return size_of(input).filtered(selectivity(predicate))
        case Aggregate(keys=keys, input=input):
            return _grouped(size_of(input)) if keys else _whole(1)
        case Distinct(input=input) | Context(input=input):
            return size_of(input) if unique_keys(input) else _grouped(size_of(input))
        case ThetaJoin():
            return _join(operator)
        case SetOp(kind=kind, left=left, right=right):
            sides = size_of(left), size_of(right)
            return sides[0] if kind is not SetKind.UNION else _whole(sides[0].rows + sides[1].rows)
        case Top(input=input, keys=(), limit=int() as limit):
            return _whole(min(size_of(input).rows, limit))
        case Top(input=input, keys=keys):
            return _grouped(size_of(input)) if operator.has_one else size_of(input)
        case Fixpoint():
            return _whole(KEYLESS)
        case _:
            return size_of(operator.inputs[0]) if operator.inputs else _whole(KEYED)


def _whole(rows: float) -> Size:
    return Size(max(rows, 1.0), max(rows, 1.0))


def _grouped(size: Size) -> Size:
    return Size(max(size.rows / GROUP, 1.0), max(size.whole / GROUP, 1.0))


def selectivity(predicate: Expression) -> float:
    """The share of rows for which the predicate is true."""
    return prod(_part(part) for part in conjuncts(predicate))


def _part(part: Expression) -> float:
    match part:
        case Call(op=Op.OR):
            return min(1.0, sum(selectivity(alternative) for alternative in split_chain(Op.OR, part)))
        case OneOf(values=values):
            return min(1.0, len(values) * _SELECTED[Op.EQ])
        case Call(op=Op.NOT, args=(arg,)):
            return max(1.0 - selectivity(arg), 0.1)
        case Call(op=op) if op in _SELECTED:
            return _SELECTED[op]
        case Call(op=Op.LT | Op.LE | Op.GT | Op.GE):
            return _COMPARED
        case Literal(value=value):
            return 1.0 if value is True else 0.0
        case ColumnRef():
            return 0.5
        case _:
            return _OTHER


def _join(join: ThetaJoin) -> Size:
    left, right = size_of(join.left), size_of(join.right)
    if join.kind in (JoinKind.SEMI, JoinKind.ANTI):
        return left.filtered(min(_MATCHED, right.part) if join.kind is JoinKind.SEMI else _MATCHED)
    if join.kind is JoinKind.MARK:
        return left
    equal = equated(join.condition, join.left.ids, join.right.ids)
    inner = joined_size(left, right, unique_keys(join.left), unique_keys(join.right), *equal)
    rows = max(inner.rows, left.rows) if join.kind is not JoinKind.INNER else inner.rows
    return Size(rows, max(inner.whole, rows))


def joined_size(
    left: Size,
    right: Size,
    left_keys: tuple[Ids, ...],
    right_keys: tuple[Ids, ...],
    left_equal: Ids,
    right_equal: Ids,
) -> Size:
    """The size of an inner join on equalities of these columns, for sides with these keys."""
    to_right, to_left = is_unique(right_keys, right_equal), is_unique(left_keys, left_equal)
    if to_right and (not to_left or left.whole >= right.whole):
        return Size(left.rows * right.part, left.whole)
    if to_left:
        return Size(right.rows * left.part, right.whole)
    values = max(left.whole, right.whole) if right_equal else 1.0
    return Size(left.rows * right.rows / values, left.whole * right.whole / values)
