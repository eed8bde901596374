"""Joins of every kind, made from the engine's equi-join.

The inner part is a join on the keys, with the rest of the condition as a filter. The other kinds need the
*matched* rows: the distinct values of the columns that decide whether a row of the kept side matches. The
unmatched rows are the side minus its join with those values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.plan.expressions import Literal
from engine.plan.nodes import Join as EngineJoin
from planner.ir import Expression, JoinKind, ThetaJoin, references
from planner.ir.conditions import Condition, parts_of
from planner.ir.scalars import FALSE, TRUE
from planner.lower.join_keys import keyed
from planner.lower.lowered import Lowered, difference, distinct, lowered, pairs_key, projected, sum_of, taken
from planner.lower.time_filters import filtered_over_time, mapped_over_time


def lower_join(join: ThetaJoin, left: Lowered, right: Lowered) -> Lowered:
    condition = parts_of(join.condition, join.left.ids, join.right.ids)
    match join.kind:
        case JoinKind.INNER:
            return inner(left, right, condition)
        case JoinKind.LEFT:
            return _outer(join, left, right, condition)
        case JoinKind.FULL:
            return _full(join, left, right, condition)
        case JoinKind.SEMI:
            return _matching(left, _matched(left, right, condition))
        case JoinKind.ANTI:
            return _unmatched(left, _matched(left, right, condition))
        case JoinKind.MARK:
            return _marked(join, left, _matched(left, right, condition))


def inner(left: Lowered, right: Lowered, condition: Condition, keep_left: bool = False) -> Lowered:
    """The matching pairs. With `keep_left` the left side is not filtered first, so that an outer join reads
    it in one form for all of its parts."""
    sides = keyed(left, right, condition, keep_left)
    return filtered_over_time(
        _pairs(sides.left, sides.right, sides.left_keys, sides.right_keys), condition.rest
    )


def _pairs(left: Lowered, right: Lowered, left_keys: tuple[int, ...], right_keys: tuple[int, ...]) -> Lowered:
    node = EngineJoin(left.node, right.node, left_keys, right_keys)
    key = pairs_key(left, right, right_keys)
    return Lowered(node, left.ids + right.ids, left.nullable + right.nullable, key)


@dataclass(frozen=True)
class _Matched:
    """The distinct values of the positions `keys` of `side` in rows that match.

    `side` is the kept side, with computed keys added if there are any.
    """

    side: Lowered
    keys: tuple[int, ...]
    values: Lowered


def _matched(left: Lowered, right: Lowered, condition: Condition) -> _Matched:
    if not condition.lefts and not condition.rest:
        sides = keyed(left, right, condition, keep_left=True)
        return _Matched(sides.left, sides.left_keys, distinct(taken(sides.right, sides.right_keys)))
    decisive = (*condition.lefts, *condition.rest, *(equality.left for equality in condition.equalities))
    used = frozenset().union(*(references(e) for e in decisive))
    ids = [id for id in left.ids if id in used]
    return _Matched(left, left.positions(ids), distinct(projected(inner(left, right, condition), ids)))


def _matching(left: Lowered, matched: _Matched) -> Lowered:
    """The rows of the side that match, with their counts."""
    every = _pairs(matched.side, matched.values, matched.keys, tuple(range(len(matched.keys))))
    return taken(every, range(len(left.ids)))


def _unmatched(left: Lowered, matched: _Matched) -> Lowered:
    return replace(left, node=difference(left.node, _matching(left, matched).node))


def _padded(rows: Lowered, ids: tuple[int, ...], join: ThetaJoin) -> Lowered:
    """The rows in the order of `ids`, with NULL for the attributes that they lack."""
    values: list[tuple[int, Expression]] = []
    for id in ids:
        attribute = join.attribute(id)
        values.append((id, attribute.ref if id in rows.ids else Literal(None, attribute.type)))
    return mapped_over_time(rows, values)


def _outer(join: ThetaJoin, left: Lowered, right: Lowered, condition: Condition) -> Lowered:
    ids = tuple(column.id for column in join.columns)
    pairs = projected(inner(left, right, condition, keep_left=not condition.lefts), ids)
    rest = _padded(_unmatched(left, _matched(left, right, condition)), ids, join)
    return lowered(sum_of((pairs.node, rest.node)), pairs.ids)


def _full(join: ThetaJoin, left: Lowered, right: Lowered, condition: Condition) -> Lowered:
    turned = parts_of(join.condition, join.right.ids, join.left.ids)
    ids = tuple(column.id for column in join.columns)
    pairs = projected(inner(left, right, condition), ids)
    lefts = _padded(_unmatched(left, _matched(left, right, condition)), ids, join)
    rights = _padded(_unmatched(right, _matched(right, left, turned)), ids, join)
    return lowered(sum_of((pairs.node, lefts.node, rights.node)), pairs.ids)


def _marked(join: ThetaJoin, left: Lowered, matched: _Matched) -> Lowered:
    if join.mark is None:
        raise TypeError("a mark join needs a mark")
    columns = [(column.id, column.ref) for column in join.left.columns]
    yes = mapped_over_time(_matching(left, matched), [*columns, (join.mark.id, TRUE)])
    no = mapped_over_time(_unmatched(left, matched), [*columns, (join.mark.id, FALSE)])
    return lowered(sum_of((yes.node, no.node)), yes.ids, yes.key and no.key)
