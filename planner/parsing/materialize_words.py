"""What Materialize writes otherwise than PostgreSQL: `LIST [1, 2]`."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType


class MaterializeWords:
    """Reads them. A mixin that comes before a parser class among the bases."""

    def _parse_primary(self: Any) -> exp.Expr | None:
        follows = self._next is not None and self._next.token_type is TokenType.L_BRACKET
        if not follows or self._curr.text.upper() != "LIST":
            return super()._parse_primary()  # type: ignore[misc,no-any-return]
        self._advance(2)
        is_empty = self._curr.token_type is TokenType.R_BRACKET
        elements = [] if is_empty else self._parse_csv(self._parse_disjunction)
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("a list ends with ]")
        return exp.Array(expressions=elements)
