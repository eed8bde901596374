"""Expressions of a row's position in its partition, from which percent_rank, cume_dist and ntile are made."""

from __future__ import annotations

from engine.plan.expressions import Case, Cast, Literal, Op
from engine.schema import BIGINT, DOUBLE
from planner.ir import Expression
from planner.ir.scalars import call

_ONE = Literal(1, BIGINT)


def percentage(rank: Expression, size: Expression) -> Expression:
    """The share of the other rows that precede the row's peers: from 0 to 1."""
    part = _ratio(call(Op.SUB, rank, _ONE, type=BIGINT), call(Op.SUB, size, _ONE, type=BIGINT))
    alone = call(Op.EQ, size, _ONE)
    return Case(((alone, Literal(0.0, DOUBLE)),), part, DOUBLE)  # type: ignore[arg-type]


def cumulative(reached: Expression, size: Expression) -> Expression:
    """The share of the rows up to and including the row's last peer."""
    return _ratio(reached, size)


def tile(number: Expression, size: Expression, tiles: Literal) -> Expression:
    """The number of the row's tile, if all rows are divided into `tiles` tiles with the larger ones first.

    Of n rows in k tiles, n % k tiles have n / k + 1 rows, and the others n / k.
    """
    count = Literal(tiles.value, BIGINT)
    small = call(Op.INTDIV, size, count, type=BIGINT)
    larger = call(Op.MOD, size, count, type=BIGINT)
    before = call(Op.SUB, number, _ONE, type=BIGINT)
    in_larger = call(Op.MUL, larger, call(Op.ADD, small, _ONE, type=BIGINT), type=BIGINT)
    first = call(Op.INTDIV, before, call(Op.ADD, small, _ONE, type=BIGINT), type=BIGINT)
    rest = call(Op.INTDIV, call(Op.SUB, before, in_larger, type=BIGINT), small, type=BIGINT)
    place = Case(
        ((call(Op.LT, before, in_larger), first),),
        call(Op.ADD, larger, rest, type=BIGINT),
        BIGINT,  # type: ignore[arg-type]
    )
    return call(Op.ADD, place, _ONE, type=BIGINT)


def _ratio(part: Expression, size: Expression) -> Expression:
    return call(Op.DIV, Cast(part, DOUBLE), Cast(size, DOUBLE), type=DOUBLE)  # type: ignore[arg-type]
