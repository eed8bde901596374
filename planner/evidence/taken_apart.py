"""A query taken apart: the leaves from which its rows are made, and the conditions that they have to meet.

project(a := x + 1, filter(y > 2, join(t, u, t.k = u.k)))
    →   leaves t and u, conditions t.k = u.k and y > 2, and a is x + 1
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from planner import ir
from planner.ir.scalars import TRUE, call, conjoin, conjuncts, inline


@dataclass(frozen=True)
class TakenApart:
    """`values` are the columns of the query as expressions over the leaves; a column of a leaf is not among
    them. `absent` are the sides of which a row may have no match, with the condition of a match."""

    leaves: tuple[ir.Relational, ...]
    conditions: tuple[ir.Expression, ...]
    values: Mapping[int, ir.Expression]
    absent: tuple[tuple[ir.Relational, ir.Expression], ...] = ()


def taken_apart(operator: ir.Relational, wanted: Collection[int]) -> TakenApart:
    """The operator taken apart. Of the columns `wanted`, rows are sought that are not NULL, so that an outer
    join that makes one of them is an inner one."""
    match operator:
        case ir.Selection(input=input, predicate=predicate):
            below = taken_apart(input, wanted)
            found = tuple(inline(each, below.values) for each in conjuncts(predicate))
            return replace(below, conditions=(*below.conditions, *found))
        case ir.Distinct(input=input):
            return taken_apart(input, wanted)
        case ir.Project(input=input, items=items):
            sought = [ir.references(e) for attribute, e in items if attribute.id in wanted]
            below = taken_apart(input, frozenset().union(*sought))
            return replace(below, values={a.id: inline(e, below.values) for a, e in items})
        case ir.ThetaJoin(kind=kind, left=left) if kind is not ir.JoinKind.MARK:
            return _joined(operator, taken_apart(left, wanted), wanted)
    return TakenApart((operator,), (), {})


def _joined(join: ir.ThetaJoin, left: TakenApart, wanted: Collection[int]) -> TakenApart:
    if join.kind is ir.JoinKind.ANTI:
        condition = inline(join.condition, left.values)
        return replace(left, absent=(*left.absent, (join.right, condition)))
    is_outer = join.kind in (ir.JoinKind.LEFT, ir.JoinKind.FULL)
    if is_outer and not join.right.ids.intersection(wanted):
        padded = {c.id: Literal(None, c.type) for c in join.right.columns}
        return replace(left, values={**left.values, **padded})
    right = taken_apart(join.right, wanted)
    if join.kind is ir.JoinKind.FULL and not join.left.ids.intersection(wanted):
        padded = {c.id: Literal(None, c.type) for c in join.left.columns}
        return replace(right, values={**right.values, **padded})
    values = {**left.values, **right.values}
    conditions = tuple(inline(each, values) for each in conjuncts(join.condition))
    return TakenApart(
        (*left.leaves, *right.leaves),
        (*left.conditions, *right.conditions, *conditions),
        values,
        (*left.absent, *right.absent),
    )


def of_leaves(leaves: Iterable[ir.Relational], conditions: Iterable[ir.Expression]) -> ir.Relational:
    """The rows of all leaves together that meet the conditions."""
    first, *rest = leaves
    for leaf in rest:
        first = ir.ThetaJoin(ir.JoinKind.INNER, first, leaf, TRUE)
    return ir.Selection(first, conjoin(conditions))


def connected(
    leaves: Iterable[ir.Relational], conditions: Iterable[ir.Expression]
) -> list[tuple[list[ir.Relational], list[ir.Expression]]]:
    """The leaves in groups that no condition connects, each with its own conditions."""
    groups: list[tuple[list[ir.Relational], list[ir.Expression]]] = [([leaf], []) for leaf in leaves]
    for condition in conditions:
        used = ir.references(condition)
        met = [group for group in groups if any(used & leaf.ids for leaf in group[0])]
        if met:
            merged = (
                [leaf for group in met for leaf in group[0]],
                [*(each for group in met for each in group[1]), condition],
            )
            groups = [group for group in groups if group not in met] + [merged]
    return groups


def implied(conditions: Iterable[ir.Expression]) -> Iterator[ir.Expression]:
    """The values that columns must have because they equal others that have them."""
    equal: list[tuple[ColumnRef, ColumnRef]] = []
    known: dict[int, Literal] = {}
    for condition in conditions:
        match condition:
            case Call(op=Op.EQ | Op.NOT_DISTINCT, args=(ColumnRef() as a, ColumnRef() as b)):
                equal += [(a, b), (b, a)]
            case Call(op=Op.EQ, args=(ColumnRef(index=id), Literal() as value)):
                known[id] = value
    given = set(known)
    while True:
        new = {b.index: known[a.index] for a, b in equal if a.index in known and b.index not in known}
        if not new:
            break
        known |= new
    for id in known.keys() - given:
        yield call(Op.EQ, ColumnRef(id, known[id].type), known[id])
