"""Moves filters down to the source of their columns; on the way they become conditions of joins.

    filter(x.a = y.a AND x.b > 1, join(x, y))   →   join(filter(x.b > 1, x), y, x.a = y.a)

Inner joins are taken apart here and put together again in `join_order`.
"""

from __future__ import annotations

from dataclasses import replace

from planner import ir
from planner.ir.rewrite import with_inputs
from planner.ir.scalars import TRUE, conjoin, conjuncts, inline, rename
from planner.passes.pushdown.join_order import Parts, joined


def push_filters(operator: ir.Relational) -> ir.Relational:
    return pushed(operator, [])


def pushed(operator: ir.Relational, predicates: list[ir.Expression]) -> ir.Relational:
    """The rows of `operator` for which all `predicates`, which are over its columns, are true."""
    match operator:
        case ir.Selection(input=input, predicate=predicate):
            return pushed(input, [*conjuncts(predicate), *predicates])
        case ir.Project(input=input, items=items):
            values = {attribute.id: expression for attribute, expression in items}
            return ir.Project(pushed(input, [inline(p, values) for p in predicates]), items)
        case ir.Distinct(input=input):
            return ir.Distinct(pushed(input, predicates))
        case ir.Prioritized(input=input):
            return replace(operator, input=pushed(input, predicates))
        case ir.ThetaJoin(kind=ir.JoinKind.INNER):
            return joined(_flattened(operator, predicates))
        case ir.ThetaJoin(kind=ir.JoinKind.LEFT):
            return _left(operator, predicates)
        case ir.ThetaJoin(kind=ir.JoinKind.FULL):
            return _full(operator, predicates)
        case ir.ThetaJoin():
            return _semi(operator, predicates)
        case ir.Nearest(left=left, right=right):
            down, above = _divided(predicates, left.ids)
            return _filtered(replace(operator, left=pushed(left, down), right=pushed(right, [])), above)
        case ir.UnnestLists(input=input):
            down, above = _divided(predicates, input.ids)
            return _filtered(replace(operator, input=pushed(input, down)), above)
        case ir.Aggregate(input=input, keys=keys) | ir.Top(input=input, keys=keys):
            down, above = _divided(predicates, frozenset(keys))
            return _filtered(replace(operator, input=pushed(input, down)), above)
        case ir.Over(input=input, keys=keys):
            down, above = _divided(predicates, frozenset(keys))
            return _filtered(replace(operator, input=pushed(input, down)), above)
        case ir.SetOp():
            return _set_operation(operator, predicates)
        case _:
            below = with_inputs(operator, tuple(pushed(i, []) for i in operator.inputs))
            return _filtered(below, predicates)


def _filtered(operator: ir.Relational, predicates: list[ir.Expression]) -> ir.Relational:
    return ir.Selection(operator, conjoin(predicates)) if predicates else operator


def _divided(
    predicates: list[ir.Expression], ids: frozenset[int]
) -> tuple[list[ir.Expression], list[ir.Expression]]:
    """The predicates over `ids` alone, and the others."""
    down = [p for p in predicates if ir.references(p) and ir.references(p) <= ids]
    return down, [p for p in predicates if p not in down]


def _flattened(operator: ir.Relational, predicates: list[ir.Expression]) -> Parts:
    """The leaves and conditions of a tree of inner joins."""
    leaves: list[ir.Relational] = []
    conditions: list[ir.Expression] = []

    def visit(node: ir.Relational) -> None:
        match node:
            case ir.ThetaJoin(kind=ir.JoinKind.INNER, left=left, right=right, condition=condition):
                visit(left)
                visit(right)
                conditions.extend(conjuncts(condition))
            case ir.Selection(input=input, predicate=predicate) if _is_inner(input):
                visit(input)
                conditions.extend(conjuncts(predicate))
            case _:
                leaves.append(node)

    visit(operator)
    return Parts(leaves, [*conditions, *predicates], pushed)


def _is_inner(operator: ir.Relational) -> bool:
    return isinstance(operator, ir.ThetaJoin) and operator.kind is ir.JoinKind.INNER


def _left(join: ir.ThetaJoin, predicates: list[ir.Expression]) -> ir.Relational:
    lefts, above = _divided(predicates, join.left.ids)
    rights, condition = _divided(conjuncts(join.condition), join.right.ids)
    result = replace(
        join, left=pushed(join.left, lefts), right=pushed(join.right, rights), condition=conjoin(condition)
    )
    return _filtered(result, above)


def _full(join: ir.ThetaJoin, predicates: list[ir.Expression]) -> ir.Relational:
    below = replace(join, left=pushed(join.left, []), right=pushed(join.right, []))
    return _filtered(below, predicates)


def _semi(join: ir.ThetaJoin, predicates: list[ir.Expression]) -> ir.Relational:
    lefts, above = _divided(predicates, join.left.ids)
    rights, condition = _divided(conjuncts(join.condition), join.right.ids)
    if join.kind is ir.JoinKind.SEMI:
        more, condition = _divided(condition, join.left.ids)
        lefts += more
    result = replace(
        join,
        left=pushed(join.left, lefts),
        right=pushed(join.right, rights),
        condition=conjoin(condition) if condition else TRUE,
    )
    return _filtered(result, above)


def _set_operation(operation: ir.SetOp, predicates: list[ir.Expression]) -> ir.Relational:
    sides = []
    for side, ids in ((operation.left, operation.lefts), (operation.right, operation.rights)):
        names = {column.id: id for column, id in zip(operation.columns, ids, strict=True)}
        sides.append(pushed(side, [rename(p, names) for p in predicates]))
    return replace(operation, left=sides[0], right=sides[1])
