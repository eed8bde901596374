"""SQLite's comparisons: numbers come before texts, and collations say which texts are equal.

    1 = '1'                    →  0
    2 < 'a'                    →  1
    'a' = 'A' COLLATE NOCASE   →  1
    ORDER BY name COLLATE NOCASE

Examples are the manual's, https://sqlite.org/datatype3.html. Constants have no type to which another value
would be converted.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql

_TRUE: dict[type[exp.Expr], tuple[bool, bool]] = {
    exp.EQ: (False, False),
    exp.NEQ: (True, True),
    exp.LT: (True, False),
    exp.LTE: (True, False),
    exp.GT: (False, True),
    exp.GTE: (False, True),
}
"""Whether a number compares so with a text, and a text with a number."""
_LETTERS = "'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'"
_COLLATED = {"BINARY": "{0}", "NOCASE": f"translate({{0}}, {_LETTERS})", "RTRIM": "rtrim({0}, ' ')"}


def compared(node: exp.Expression) -> exp.Expression | None:
    """The comparison of constants of two kinds, or of texts under a collation; None for any other."""
    left, right = (side.unnest() for side in (node.this, node.expression))
    order = next(
        (side.expression.name.upper() for side in (left, right) if isinstance(side, exp.Collate)), ""
    )
    if order in _COLLATED:
        sides = [side.this if isinstance(side, exp.Collate) else side for side in (left, right)]
        return type(node)(this=_ordered(sides[0], order), expression=_ordered(sides[1], order))
    if isinstance(left, exp.Literal) and isinstance(right, exp.Literal) and left.is_string != right.is_string:
        return exp.Boolean(this=_TRUE[type(node)][left.is_string])
    return None


def collated(node: exp.Collate) -> exp.Expression | None:
    """A text in an order, or under the collation that everyone has; None for any other."""
    order = node.expression.name.upper()
    if order == "BINARY" or (order in _COLLATED and isinstance(node.parent, exp.Ordered)):
        return _ordered(node.this, order)
    return None


def _ordered(text: exp.Expr, order: str) -> exp.Expression:
    return sql(_COLLATED[order], [text])
