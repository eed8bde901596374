"""WATERMARK FOR in CREATE TABLE, and EMIT ON WINDOW CLOSE behind a query.

A watermark is a `WatermarkConstraint`. EMIT becomes conditions of its query
(`planner.rewriting.closed_windows`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.rewriting.closed_windows import check_whole, with_closed_windows

_EMIT = ("EMIT", "ON", "WINDOW", "CLOSE")


class WatermarkConstraint(exp.Expression):
    """Of the column `this`, whose watermark is the `expression`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Watermarks:
    """Reads both. A mixin that comes before a parser class among the bases."""

    def _parse_constraint(self: Any) -> exp.Expr | None:
        if not self._match_text_seq("WATERMARK", "FOR"):
            return super()._parse_constraint()  # type: ignore[misc, no-any-return]
        start = self._prev
        column = self._parse_column()
        if not self._match(TokenType.ALIAS):
            self.raise_error("WATERMARK FOR column AS expression", self._curr)
        found = WatermarkConstraint(this=column, expression=self._parse_disjunction())
        found.update_positions(start)
        return found

    def _parse_table_alias(self: Any, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        """An alias without AS is not the first word of EMIT ON WINDOW CLOSE."""
        if self._emits() is not None:
            return None
        return super()._parse_table_alias(*args, **kwargs)  # type: ignore[misc, no-any-return]

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        query = super()._parse_query_modifiers(this)  # type: ignore[misc]
        start = self._emits()
        if start is None or not isinstance(query, exp.Query):
            return query  # type: ignore[no-any-return]
        self._advance(len(_EMIT))
        return with_closed_windows(query, start)

    def _parse_set_operations(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        found = super()._parse_set_operations(this)  # type: ignore[misc]
        if isinstance(found, exp.SetOperation):
            check_whole(found)
        return found  # type: ignore[no-any-return]

    def _emits(self: Any) -> Token | None:
        """The first token of EMIT ON WINDOW CLOSE if it is next."""
        words = tuple(token.text.upper() for token in self._tokens[self._index : self._index + len(_EMIT)])
        return self._curr if words == _EMIT else None
