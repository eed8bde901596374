"""ClickHouse's elements of tuples by their places: `(1, 'a').2`, `pair.1.2`, read as tupleElement(pair, 1)."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

_PLACES = re.compile(r"\.[1-9]\d*(?:\.[1-9]\d*)?")


class TuplePlaces:
    """Reads the places. A mixin that comes before a parser class among the bases."""

    def _parse_column_ops(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        found = super()._parse_column_ops(this)  # type: ignore[misc]
        if type(self.dialect).__name__ != "ClickHouse":
            return found  # type: ignore[no-any-return]
        while found is not None and self._at_place():
            for place in self._curr.text.split(".")[1:]:
                found = _element(found, place)
            self._advance()
            found = super()._parse_column_ops(found)  # type: ignore[misc]
        return _with_element(found)

    def _at_place(self: Any) -> bool:
        token = self._curr
        is_number = token is not None and token.token_type is TokenType.NUMBER
        return is_number and _PLACES.fullmatch(token.text) is not None and self._prev.end + 1 == token.start


def _element(row: exp.Expr, place: str) -> exp.Expr:
    return exp.Anonymous(this="TUPLEELEMENT", expressions=[row, exp.Literal.number(place)])


def _with_element(node: exp.Expr | None) -> exp.Expr | None:
    """A column whose name is a number: the element of the tuple before the point."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Literal):
        return node
    names = [node.args[part] for part in ("catalog", "db", "table") if node.args.get(part)]
    return _element(exp.column(*reversed(names)), node.name)
