"""What Materialize and RisingWave write otherwise than PostgreSQL: `LIST [1, 2]`, `MAP {1: 'a'}`, and lambdas
as in `|x| x + 1`."""

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


class RisingWaveWords:
    """Reads them. A mixin that comes before a parser class among the bases."""

    def _parse_primary(self: Any) -> exp.Expr | None:
        follows = self._next is not None and self._next.token_type is TokenType.L_BRACE
        if follows and self._curr.text.upper() == "MAP":
            self._advance(2)
            is_empty = self._curr.token_type is TokenType.R_BRACE
            entries = [] if is_empty else self._parse_csv(self._parse_entry)
            if not self._match(TokenType.R_BRACE):
                self.raise_error("a map ends with }")
            return exp.ToMap(this=exp.Struct(expressions=entries))
        return super()._parse_primary()  # type: ignore[misc,no-any-return]

    def _parse_entry(self: Any) -> exp.Expr:
        key = self._parse_disjunction()
        if not self._match(TokenType.COLON):
            self.raise_error("a colon stands between a key of a map and its value")
        return exp.PropertyEQ(this=key, expression=self._parse_disjunction())

    def _parse_lambda(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if self._curr is None or self._curr.token_type is not TokenType.PIPE:
            return super()._parse_lambda(*args, **kwargs)  # type: ignore[misc,no-any-return]
        self._advance()
        names = self._parse_csv(self._parse_id_var)
        if not self._match(TokenType.PIPE):
            self.raise_error("a lambda is written |x| value")
        body = self._parse_disjunction()
        return self.expression(exp.Lambda(this=self._replace_lambda(body, names), expressions=names))  # type: ignore[no-any-return]
