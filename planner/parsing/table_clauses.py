"""Clauses of tables that sqlglot does not read.

y GENERATED ALWAYS AS (expression)      without a type, without STORED, or with VIRTUAL
ALTER TABLE t ADD CHECK (condition)     a constraint without a name
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType


class TableClauses:
    """A mixin that comes before a parser class among the bases."""

    def _parse_types(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """No type begins with GENERATED ALWAYS, where sqlglot would take the word for one of a user's."""
        words = [token.text.upper() for token in (self._curr, self._next) if token is not None]
        if kwargs.get("schema") and words == ["GENERATED", "ALWAYS"]:
            return None
        return super()._parse_types(*args, **kwargs)  # type: ignore[misc, no-any-return]

    def _parse_generated_as_identity(self: Any) -> exp.Expr:
        """STORED and VIRTUAL say how a value is kept, and every value is."""
        found: exp.Expr = super()._parse_generated_as_identity()  # type: ignore[misc]
        stored = self._match_texts(("STORED", "VIRTUAL"))
        if isinstance(found, exp.GeneratedAsIdentityColumnConstraint) and found.expression is not None:
            return exp.ComputedColumnConstraint(this=found.expression, persisted=True)
        if stored:
            self.raise_error("only a column with an expression is STORED or VIRTUAL", self._prev)
        return found

    def _parse_alter_table_add(self: Any) -> list[exp.Expr]:
        if self._curr.text.upper() != "CHECK" or self._curr.token_type is TokenType.IDENTIFIER:
            return super()._parse_alter_table_add()  # type: ignore[misc, no-any-return]
        added: list[exp.Expr] = [exp.AddConstraint(expressions=[self._parse_constraint()])]
        if self._match(TokenType.COMMA):
            self._match_text_seq("ADD")
            added += self._parse_alter_table_add()
        return added
