"""ORDER BY among the arguments of a window function over whole partitions.

first_value(x ORDER BY y) OVER (PARTITION BY k)  →  first_value(x) OVER (PARTITION BY k ORDER BY y ROWS
                                                    BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
rank(ORDER BY y) OVER (PARTITION BY k)           →  rank() OVER (PARTITION BY k ORDER BY y)
"""

from __future__ import annotations

from sqlglot import exp

_OF_FRAMES = (exp.First, exp.FirstValue, exp.Last, exp.LastValue, exp.NthValue)
_OF_PLACES = (
    exp.Rank,
    exp.DenseRank,
    exp.RowNumber,
    exp.PercentRank,
    exp.CumeDist,
    exp.Ntile,
    exp.Lag,
    exp.Lead,
)


def ordered_argument(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The window with the order in OVER; None for any other, and for one with its own order or frame."""
    if not isinstance(node, exp.Window) or any(node.args.get(part) for part in ("order", "spec", "alias")):
        return None
    window = node.copy()
    inner: exp.Expr = window.this
    function = inner.this if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls) else inner
    if not isinstance(function, (*_OF_FRAMES, *_OF_PLACES)):
        return None
    order = next((part for part in function.iter_expressions() if isinstance(part, exp.Order)), None)
    if order is None:
        return None
    if order.this is None:
        order.pop()
    else:
        order.replace(order.this)
    window.set("order", exp.Order(expressions=order.expressions))
    if isinstance(function, _OF_FRAMES):
        ends = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "UNBOUNDED", "end_side": "FOLLOWING"}
        window.set("spec", exp.WindowSpec(kind="ROWS", **ends))
    return window
