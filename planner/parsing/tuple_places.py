"""ClickHouse's elements of tuples by their places: `(1, 'a').2`, read as tupleElement((1, 'a'), 2)."""

from __future__ import annotations

from typing import Any

from sqlglot import exp


class TuplePlaces:
    """Reads the places. A mixin that comes before a parser class among the bases."""

    def _parse_column_ops(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        found = super()._parse_column_ops(this)  # type: ignore[misc]
        return _with_elements(found) if type(self.dialect).__name__ == "ClickHouse" else found


def _with_elements(node: exp.Expr | None) -> exp.Expr | None:
    """A name or value before a point and a number: the element of that tuple."""
    if isinstance(node, exp.Bracket | exp.Cast):
        node.set("this", _with_elements(node.this))
        return node
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Literal):
        names = [node.args[part] for part in ("catalog", "db", "table") if node.args.get(part)]
        return _element(exp.column(*reversed(names)), node.name)
    if not isinstance(node, exp.Dot):
        return node
    row = _with_elements(node.this)
    node.set("this", row)
    return _element(row, node.name) if isinstance(node.expression, exp.Literal) else node


def _element(row: exp.Expr | None, places: str) -> exp.Expr:
    for place in places.split("."):
        row = exp.Anonymous(this="TUPLEELEMENT", expressions=[row, exp.Literal.number(place)])
    return row  # type: ignore[return-value]
