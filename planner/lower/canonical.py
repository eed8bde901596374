"""One form for equivalent filters, so that equal parts of different queries become one operator.

Conjuncts have a fixed order, and so do the sides of a comparison of two columns; nested filters become one. A
condition that can fail keeps its place: it sees only the rows that pass the conditions below it.
"""

from __future__ import annotations

from engine.plan.expressions import Call, Expression, Literal
from engine.plan.nodes import Filter, Node
from planner.ir.scalar_text import ScalarText
from planner.ir.scalars import TURNED, can_fail, conjoin, conjuncts

_TEXT = ScalarText(lambda index: f"#{index}")


def passing(node: Node, predicate: Expression) -> Filter:
    """The rows of a node for which a predicate over its positions is true."""
    parts = conjuncts(predicate)
    if isinstance(node, Filter) and not can_fail(node.predicate) and not can_fail(predicate):
        parts += conjuncts(node.predicate)
        node = node.input
    ordered = {_TEXT(part): part for part in map(_turned, parts)}  # type: ignore[arg-type]
    return Filter(node, conjoin(ordered[text] for text in sorted(ordered)))  # type: ignore[arg-type]


def _turned(part: Expression) -> Expression:
    """A comparison with its smaller side first, unless that side is a constant."""
    match part:
        case Call(op=op, args=(left, right), type=type) if op in TURNED and not isinstance(right, Literal):
            return part if _TEXT(left) <= _TEXT(right) else Call(TURNED[op], (right, left), type)
    return part
