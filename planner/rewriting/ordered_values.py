"""The value at an end of an order: KEEP and FROM LAST.

max(x) KEEP (DENSE_RANK FIRST ORDER BY y)   →  first(x ORDER BY y, x DESC NULLS LAST)
nth_value(x, n) FROM LAST OVER (ORDER BY y) →  nth_value(x, n) OVER (ORDER BY y DESC, the frame reversed)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from sqlglot import exp

from planner.native.templates import with_parts
from planner.positions import refuse

_SIDES = {"PRECEDING": "FOLLOWING", "FOLLOWING": "PRECEDING"}


def ordered_value(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The call in the standard's words; None for any other. Raises Unsupported where there is none."""
    if not isinstance(node, exp.Window):
        return None
    if is_keep(node):
        if _is_over(node.parent, node) or not _is_extreme(node):
            return None
        value, *terms = _kept(node)
        return exp.First(this=exp.Order(this=value, expressions=terms))
    inner = node.this
    if is_keep(inner) and _is_extreme(inner):
        value, *terms = _kept(inner)
        if node.args.get("order") or node.args.get("spec") or node.args.get("alias"):
            refuse(node, "KEEP over an ordered window is not supported", "give OVER only PARTITION BY")
        return with_parts(node, this=exp.FirstValue(this=value), order=exp.Order(expressions=terms))
    if isinstance(inner, exp.NthValue) and inner.args.get("from_first") is False:
        return _from_first(node)
    return None


def is_keep(node: exp.Expr | None) -> TypeGuard[exp.Window]:
    """Whether the node is an aggregate with KEEP."""
    return isinstance(node, exp.Window) and str(node.args.get("over")).upper() == "KEEP"


def _is_over(parent: exp.Expr | None, node: exp.Window) -> bool:
    return isinstance(parent, exp.Window) and parent.this is node


def _kept(node: exp.Window) -> list[exp.Expression]:
    """The value, and the order in which it is the first."""
    function = node.this
    terms = kept_order(node)
    value = function.this
    own = exp.Ordered(this=value.copy(), desc=isinstance(function, exp.Max), nulls_first=False)
    return [value.copy(), *terms, own]


def kept_order(node: exp.Window) -> list[exp.Expression]:
    """The order in which the rows that KEEP keeps are the first."""
    terms = [term.copy() for term in node.args["order"].expressions]
    return terms if node.args.get("first") else _reversed(terms)


def _is_extreme(node: exp.Window) -> bool:
    return isinstance(node.this, exp.Max | exp.Min)


def _reversed(terms: Iterable[exp.Expression]) -> list[exp.Expression]:
    return [
        exp.Ordered(
            this=term.this.copy(),
            desc=not term.args.get("desc"),
            nulls_first=not term.args.get("nulls_first"),
        )
        for term in terms
    ]


def _from_first(node: exp.Window) -> exp.Window:
    """The window in the reversed order, where the values that were last are the first."""
    if node.args.get("alias"):
        refuse(node, "FROM LAST over a named window is not supported", "write the window in OVER")
    found = node.copy()
    found.this.set("from_first", None)
    order, spec = found.args.get("order"), found.args.get("spec")
    if order is not None:
        order.set("expressions", _reversed(order.expressions))
        spec = spec or exp.WindowSpec(kind="RANGE", start="UNBOUNDED", start_side="PRECEDING")
    if spec is not None:
        (start, start_side), (end, end_side) = _edge(spec, "start"), _edge(spec, "end")
        edges = {"start": end, "start_side": end_side, "end": start, "end_side": start_side}
        found.set("spec", exp.WindowSpec(**{**spec.args, **edges}))
    return found


def _edge(spec: exp.WindowSpec, part: str) -> tuple[object, object]:
    """An end of the frame, seen in the other direction."""
    side = str(spec.args.get(f"{part}_side") or "").upper()
    return spec.args.get(part) or "CURRENT ROW", _SIDES.get(side)
