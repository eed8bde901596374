"""Keys of operators: sets of columns that tell all rows apart, as far as the operators show.

The empty set is a key of an operator with at most one row. NULL equals NULL here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from engine.plan.expressions import Call, ColumnRef, Literal, Op, Parameter
from planner.ir import (
    Aggregate,
    Context,
    Distinct,
    Expression,
    JoinKind,
    Nearest,
    Over,
    Prioritized,
    Project,
    Relational,
    Selection,
    SetKind,
    SetOp,
    TableScan,
    ThetaJoin,
    Top,
    Values,
)
from planner.ir.conditions import equality_of
from planner.ir.declared import fact
from planner.ir.scalars import conjuncts

Ids = frozenset[int]
MOST = 4
"""The number of keys to keep: the smallest ones."""


@fact
def unique_keys(operator: Relational) -> tuple[Ids, ...]:
    """The keys of an operator, the smallest first; no key contains another."""
    return _least(_keys(operator))


def joined_keys(
    lefts: Iterable[Ids], rights: Iterable[Ids], left_equal: Ids, right_equal: Ids
) -> tuple[Ids, ...]:
    """The keys of an inner join on equalities of these columns of its sides."""
    return _least(_joined(tuple(lefts), tuple(rights), left_equal, right_equal, padded=False))


def is_unique(keys: Iterable[Ids], ids: Ids) -> bool:
    """Whether no two rows have the same values in `ids`."""
    return any(key <= ids for key in keys)


def equated(condition: Expression, left: Ids, right: Ids) -> tuple[Ids, Ids]:
    """The columns of either side that a condition equates with an expression of the other side."""
    found = [equality_of(part, left, right) for part in conjuncts(condition)]
    pairs = [(e.left, e.right) for e in found if e is not None]
    lefts = frozenset(e.index for e, _ in pairs if isinstance(e, ColumnRef))
    return lefts, frozenset(e.index for _, e in pairs if isinstance(e, ColumnRef))


def _keys(operator: Relational) -> Iterable[Ids]:
    match operator:
        case TableScan(key=key, columns=columns, positions=positions) if key is not None:
            ids = {position: column.id for column, position in zip(columns, positions, strict=True)}
            return [frozenset(ids[p] for p in key)] if ids.keys() >= set(key) else []
        case Values(rows=rows) if len(rows) <= 1:
            return [frozenset()]
        case Selection(input=input, predicate=predicate):
            constant = frozenset(_constants(predicate))
            return [key - constant for key in unique_keys(input)]
        case Prioritized(input=input) | Over(input=input):
            return unique_keys(input)
        case Top(input=input, keys=keys):
            return [*unique_keys(input), *([frozenset(keys)] if operator.has_one else [])]
        case Project(input=input, items=items):
            names = {e.index: a.id for a, e in reversed(items) if isinstance(e, ColumnRef)}
            return [frozenset(names[id] for id in key) for key in unique_keys(input) if key <= names.keys()]
        case Distinct(input=input):
            return [operator.ids, *unique_keys(input)]
        case Context():
            return [operator.ids]
        case Aggregate(keys=keys):
            return [frozenset(keys)]
        case ThetaJoin(
            kind=JoinKind.INNER | JoinKind.LEFT as kind, left=left, right=right, condition=condition
        ):
            sides = unique_keys(left), unique_keys(right)
            return _joined(*sides, *equated(condition, left.ids, right.ids), kind is JoinKind.LEFT)
        case ThetaJoin(kind=JoinKind.SEMI | JoinKind.ANTI | JoinKind.MARK, left=left):
            return unique_keys(left)
        case Nearest(left=left):
            return unique_keys(left)
        case SetOp(kind=SetKind.EXCEPT | SetKind.INTERSECT, left=left, columns=columns, lefts=lefts):
            names = {id: column.id for column, id in zip(columns, lefts, strict=True)}
            return [frozenset(names[id] for id in key) for key in unique_keys(left) if key <= names.keys()]
        case _:
            return []


def _joined(
    lefts: Iterable[Ids], rights: Iterable[Ids], left_equal: Ids, right_equal: Ids, padded: bool
) -> Iterator[Ids]:
    """All unions of a key of each side, and one side's keys if each of its rows meets at most one row of the
    other.

    Only the left side's rows are `padded`.
    """
    for left, right in product(lefts, rights):
        yield left | right
        if right <= right_equal:
            yield left
        if left <= left_equal and not padded:
            yield right


def _least(keys: Iterable[Ids]) -> tuple[Ids, ...]:
    found: list[Ids] = []
    for key in sorted(keys, key=lambda key: (len(key), sorted(key))):
        if not any(other <= key for other in found):
            found.append(key)
    return tuple(found[:MOST])


def _constants(predicate: Expression) -> Iterator[int]:
    """The columns that can have only one value."""
    for part in conjuncts(predicate):
        match part:
            case Call(op=Op.EQ, args=(ColumnRef(index=id), Literal() | Parameter())):
                yield id
            case Call(op=Op.EQ, args=(Literal(), ColumnRef(index=id))):
                yield id
            case Call(op=Op.IS_NULL, args=(ColumnRef(index=id),)):
                yield id
