"""Conjunctions that no row can satisfy, recognized by their conditions on single columns.

a = 1 AND a = 2        a > 5 AND a < 3        a IS NULL AND a > 0        a = NULL
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from planner.ir import Expression
from planner.ir.constants import PLAIN
from planner.ir.scalars import TRUE, rejects_null

_LOW = {Op.EQ: True, Op.GE: True, Op.GT: False}
_HIGH = {Op.EQ: True, Op.LE: True, Op.LT: False}
"""Comparisons that bound a column from below and above, and whether they include the bound."""


def is_contradictory(conjuncts: Iterable[Expression]) -> bool:
    """Whether the conjuncts are never all true; columns must be to the left of constants."""
    parts = list(conjuncts)
    if any(isinstance(part, Literal) and part != TRUE for part in parts):
        return True
    nulls = (part.args[0] for part in parts if isinstance(part, Call) and part.op is Op.IS_NULL)
    absent = {arg.index for arg in nulls if isinstance(arg, ColumnRef)}
    if any(rejects_null(part, frozenset({id})) for id in absent for part in parts):
        return True
    lows: dict[int, tuple[Any, bool]] = {}
    highs: dict[int, tuple[Any, bool]] = {}
    for op, id, value in _comparisons(parts):
        if value is None:
            return True
        if op in _LOW:
            new = (value, _LOW[op])
            lows[id] = max(lows.get(id, new), new, key=lambda bound: (bound[0], not bound[1]))
        if op in _HIGH:
            new = (value, _HIGH[op])
            highs[id] = min(highs.get(id, new), new, key=lambda bound: (bound[0], bound[1]))
    return any(_is_empty(lows[id], highs[id]) for id in lows.keys() & highs.keys())


def _comparisons(parts: Iterable[Expression]) -> Iterator[tuple[Op, int, Any]]:
    for part in parts:
        match part:
            case Call(op=op, args=(ColumnRef(index=id, type=type), Literal(value=value, type=same))) if (
                op in _LOW or op in _HIGH
            ) and (value is None or (type == same and type.kind in PLAIN)):
                yield op, id, value


def _is_empty(low: tuple[Any, bool], high: tuple[Any, bool]) -> bool:
    return low[0] > high[0] or (low[0] == high[0] and not (low[1] and high[1]))
