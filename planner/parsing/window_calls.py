"""Windows of time in the words of other systems.

Flink's `TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), size))` is read as `TUMBLE(t, at, size)`, and the keys of
`SESSION(TABLE t PARTITION BY k, ...)` become its last argument. Behind GROUP BY, Spark's `window` is a name:
sqlglot takes it for the clause WINDOW.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

_NAMES = frozenset({"TUMBLE", "HOP", "SESSION"})


class WindowCalls:
    """Reads the calls. A mixin that comes before a parser class among the bases."""

    def _parse_table(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if not self._at_window_call():
            return super()._parse_table(*args, **kwargs)  # type: ignore[misc]
        self._advance(2)
        call = exp.Anonymous(this=self._curr.text)
        call.update_positions(self._curr)
        self._advance(2)
        keys: list[exp.Expr] = []
        arguments = self._parse_csv(lambda: self._parse_window_argument(keys))
        self._match_r_paren()
        self._match_r_paren()
        call.set("expressions", [*arguments, *([exp.Tuple(expressions=keys)] if keys else [])])
        table = exp.Table(this=call)
        alias = self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS)
        if alias is not None:
            table.set("alias", alias)
        return table

    def _parse_group(self: Any, *args: Any, **kwargs: Any) -> exp.Group | None:
        key = self._next
        behind = self._curr is not None and self._curr.token_type is TokenType.GROUP_BY
        if behind and key is not None and key.token_type is TokenType.WINDOW:
            key.token_type = TokenType.VAR
        return super()._parse_group(*args, **kwargs)  # type: ignore[misc, no-any-return]

    def _at_window_call(self: Any) -> bool:
        begin = self._index
        words = [token.text.upper() for token in self._tokens[begin : begin + 4]]
        return len(words) == 4 and words[:2] == ["TABLE", "("] and words[2] in _NAMES and words[3] == "("

    def _parse_window_argument(self: Any, keys: list[exp.Expr]) -> exp.Expr | None:
        """An argument, also with its name; the keys behind a table are added to `keys`."""
        if self._next is not None and self._next.token_type is TokenType.FARROW:
            self._advance(2)
        if self._match(TokenType.TABLE):
            table = self._parse_column()
            if self._match(TokenType.PARTITION_BY):
                wrapped = self._match(TokenType.L_PAREN)
                keys += [self._parse_column()]
                while wrapped and self._match(TokenType.COMMA):
                    keys += [self._parse_column()]
                if wrapped:
                    self._match_r_paren()
            return table  # type: ignore[no-any-return]
        if self._match_text_seq("DESCRIPTOR"):
            return self._parse_wrapped(self._parse_column)  # type: ignore[no-any-return]
        return self._parse_disjunction()  # type: ignore[no-any-return]
