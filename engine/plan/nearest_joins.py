"""The join of ASOF as a plan node: each row with the nearest of another relation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from engine.errors import PlanError
from engine.plan.expressions import Call, ColumnRef, Expression, Literal, Op
from engine.plan.node import Node, check_columns
from engine.plan.nodes import (
    Clamp,
    Concat,
    Filter,
    Join,
    Map,
    Negate,
    Ordering,
    Threshold,
    TopK,
    project,
)
from engine.schema import BOOLEAN, Schema


@dataclass(frozen=True, eq=False)
class NearestJoin(Node):
    """All columns of a row of `left`, then those of one row of `right`, for each copy of the row.

    The row of `right` has the same words as keys, and comes in `order`, whose first column is its *place*,
    not before the column `place` of the left row; behind it if the join `is_strict`. It is the first of all
    such rows in `order`, and then by the words of their other columns. A left row without such a row is left
    out, or has NULLs if the join `pads`. NULL equals NULL as a key, but no place meets a place that is NULL.
    A row with a negative multiplicity is left out.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    place: int
    order: tuple[Ordering, ...]
    is_strict: bool
    pads: bool

    def __post_init__(self) -> None:
        if not self.order or self.order[0].nulls_first:
            raise PlanError("a nearest join has no order, or one in which NULL is first")
        check_columns("a nearest join's left side", (*self.left_keys, self.place), self.left.schema)
        ordered = tuple(ordering.column for ordering in self.order)
        check_columns("a nearest join's right side", (*self.right_keys, *ordered), self.right.schema)
        left = [self.left.schema.types[c] for c in (*self.left_keys, self.place)]
        right = [self.right.schema.types[c] for c in (*self.right_keys, ordered[0])]
        if left != right:
            raise PlanError(f"a nearest join's sides have different types: {left} and {right}")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        right = self.right.schema.columns
        if self.pads:
            right = tuple(replace(column, nullable=True) for column in right)
        return Schema(self.left.schema.columns + right)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)


def by_pairs(node: NearestJoin) -> Node:
    """The same rows from all pairs that could match: a top-k over the join of the places with the right side.

    NearestJoin(x, y, [k], place, [t])
    → Join(x, TopK(Filter(Join(Distinct(x[k, place]), y, [k]), place <= t), [k, place], [t], 1))

    It keeps all those pairs, and has differences at times of every kind.
    """
    decisive = (*node.left_keys, node.place)
    split, width = len(decisive), len(node.left.schema)
    places = Threshold(project(node.left, decisive), Clamp.DISTINCT)
    pairs = Join(places, node.right, tuple(range(split - 1)), node.right_keys)
    order = tuple(ordering._replace(column=split + ordering.column) for ordering in node.order)
    nearest = TopK(Filter(pairs, _reaches(node, pairs, split - 1)), tuple(range(split)), order, 1)
    left = Threshold(node.left, Clamp.POSITIVE)
    joined = Join(left, nearest, decisive, tuple(range(split)))
    kept = project(joined, (*range(width), *range(width + split, len(joined.schema))))
    if not node.pads:
        return kept
    refs = tuple(ColumnRef(c, type) for c, type in enumerate(node.left.schema.types))
    nulls = tuple(Literal(None, type) for type in node.right.schema.types)
    alone = Concat((left, Negate(project(joined, tuple(range(width))))))
    matched = Map(kept, tuple(ColumnRef(c, type) for c, type in enumerate(node.schema.types)), node.schema)
    return Concat((matched, Map(alone, (*refs, *nulls), node.schema)))


def _reaches(node: NearestJoin, pairs: Join, place: int) -> Expression:
    """Whether a pair's right row comes not before its left row's place."""
    first = node.order[0]
    other = place + 1 + first.column
    ops = (Op.GE, Op.GT) if first.descending else (Op.LE, Op.LT)
    sides = (ColumnRef(place, pairs.schema.types[place]), ColumnRef(other, pairs.schema.types[other]))
    return Call(ops[node.is_strict], sides, BOOLEAN)
