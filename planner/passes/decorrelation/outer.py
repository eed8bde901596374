"""Outer joins whose condition asks a query about both sides at once.

The pairs are a filtered inner join. A row is unmatched if its columns in the condition occur in no pair.
Sides and pairs are definitions, because each is used more than once.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.plan.expressions import Literal
from planner import ir
from planner.ir.column_numbers import Numbers
from planner.ir.scalars import TRUE
from planner.passes.decorrelation.dependent import null_safe

Define = Callable[[ir.Relational], int]


def outer_join(
    join: ir.ThetaJoin,
    condition: ir.Expression,
    numbers: Numbers,
    define: Define,
    filtered: Callable[[ir.Relational, ir.Expression], ir.Relational],
) -> ir.Relational:
    """The left or full join as a union of its pairs and its padded unmatched rows."""
    left, right = (_shared(side, define, numbers) for side in (join.left, join.right))
    pairs = define(filtered(ir.ThetaJoin(ir.JoinKind.INNER, left(()), right(()), TRUE), condition))
    columns = numbers.fresh(join.columns)
    result: ir.Relational = ir.SharedRef(
        pairs, tuple(zip(columns, (c.id for c in join.columns), strict=True))
    )
    sides = [(join.left, left)] if join.kind is ir.JoinKind.LEFT else [(join.left, left), (join.right, right)]
    for operator, side in sides:
        ids = [c.id for c in operator.columns if c.id in ir.references(condition)]
        rest, rest_columns = _unmatched(join, operator, side, ids, pairs, numbers)
        outputs = join.columns if operator is sides[-1][0] else numbers.fresh(join.columns)
        lefts, rights = (tuple(c.id for c in columns) for columns in (columns, rest_columns))
        result = ir.SetOp(ir.SetKind.UNION, result, rest, outputs, lefts, rights)
        columns = outputs
    return result


Reference = Callable[[tuple[ir.Attribute, ...]], ir.Relational]


def _shared(side: ir.Relational, define: Define, numbers: Numbers) -> Reference:
    """The side as a definition. Call the result with new columns, or with none to keep the old ones."""
    number = define(side)

    def reference(columns: tuple[ir.Attribute, ...]) -> ir.Relational:
        return ir.SharedRef(
            number, tuple((n, o.id) for n, o in zip(columns or side.columns, side.columns, strict=True))
        )

    return reference


def _unmatched(
    join: ir.ThetaJoin, operator: ir.Relational, side: Reference, ids: list[int], pairs: int, numbers: Numbers
) -> tuple[ir.Relational, tuple[ir.Attribute, ...]]:
    """The rows of a side that are in no pair, with NULL for the other side's columns."""
    columns = numbers.fresh(operator.columns)
    new = {old.id: column for old, column in zip(operator.columns, columns, strict=True)}
    keys = numbers.fresh(join.attribute(id) for id in ids)
    matched = ir.SharedRef(pairs, tuple(zip(keys, ids, strict=True)))
    kept = ir.ThetaJoin(
        ir.JoinKind.ANTI, side(columns), matched, null_safe(tuple(new[id] for id in ids), keys)
    )
    outputs = numbers.fresh(join.columns)
    values: list[ir.Expression] = [
        new[c.id].ref if c.id in new else Literal(None, c.type) for c in join.columns
    ]
    return ir.Project(kept, tuple(zip(outputs, values, strict=True))), outputs
