"""If a filter keeps few row numbers, the window needs only the first rows of each partition.

    filter(n <= 3, window(row_number → n, t))   →   window(row_number → n, top 3(t))

That is right if the window's other functions look at no later row. The filter on `n` is then true for all
remaining rows, so the window goes too if nothing else needs it.
"""

from __future__ import annotations

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import Ordering
from engine.schema import BIGINT
from planner import ir
from planner.ir.rewrite import with_inputs
from planner.ir.scalars import conjoin, conjuncts

_TURNED = {Op.GT: Op.LT, Op.GE: Op.LE, Op.EQ: Op.EQ}
_BACKWARD = frozenset({ir.PlaceFunction.ROW_NUMBER, ir.PlaceFunction.RANK, ir.PlaceFunction.DENSE_RANK})


def keep_first_places(operator: ir.Relational) -> ir.Relational:
    if not isinstance(operator, ir.Selection) or not isinstance(operator.input, ir.Over):
        return operator
    window = operator.input
    numbers = {i.attribute.id for i in window.items if i.function is ir.PlaceFunction.ROW_NUMBER}
    bounds = {
        part: bound for part in conjuncts(operator.predicate) if (bound := _most(part, numbers)) is not None
    }
    if not bounds or not all(map(_looks_back, window.items)):
        return operator
    most = max(min(bounds.values()), 0)
    first = with_inputs(window, (ir.Top(window.input, window.keys, _order(window), most),))
    others = [part for part in conjuncts(operator.predicate) if part not in bounds or not _holds(part, most)]
    return ir.Selection(first, conjoin(others)) if others else first


def _most(part: ir.Expression, numbers: set[int]) -> int | None:
    """The greatest row number for which the condition can be true, if it bounds a row number; else None."""
    match part:
        case Call(op=op, args=(ColumnRef(index=id), Literal(value=int() as value))) if id in numbers:
            return {Op.LE: value, Op.LT: value - 1, Op.EQ: value}.get(op)
        case Call(op=op, args=(Literal() as value, ColumnRef() as number)) if op in _TURNED:
            return _most(Call(_TURNED[op], (number, value), part.type), numbers)
    return None


def _holds(bound: ir.Expression, most: int) -> bool:
    """Whether an upper bound of at least `most` is true for all row numbers up to `most`."""
    return not (isinstance(bound, Call) and bound.op is Op.EQ) or (
        most == 1 and Literal(1, BIGINT) in bound.args
    )


def _looks_back(item: ir.WindowItem) -> bool:
    """Whether later rows make no difference to a row's value."""
    if item.function in _BACKWARD:
        return True
    if item.function is ir.PlaceFunction.LAG:
        offset = item.arguments[1]
        return isinstance(offset, Literal) and isinstance(offset.value, int) and offset.value >= 0
    end = item.frame.end.place
    has_frame = item.function not in (
        ir.PlaceFunction.LEAD,
        ir.PlaceFunction.NTILE,
        ir.PlaceFunction.PERCENT_RANK,
        ir.PlaceFunction.CUME_DIST,
    )
    return has_frame and item.frame.unit is ir.Unit.ROWS and end is not None and end <= 0


def _order(window: ir.Over) -> tuple[Ordering, ...]:
    """The window's order, continued to the last column."""
    by = {ordering.column for ordering in window.order}
    ties = dict.fromkeys((*window.ties, *(column.id for column in window.input.columns)))
    return (*window.order, *(Ordering(id) for id in ties if id not in by))
