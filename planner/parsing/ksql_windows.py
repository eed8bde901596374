"""ksqlDB's WINDOW between FROM and GROUP BY: `WINDOW TUMBLING (SIZE 1 HOUR)`, HOPPING and SESSION."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

from planner.errors import Unsupported
from planner.rewriting.window_clauses import WINDOWS, with_windows

_LIMITS = ("RETENTION", "GRACE")


class WindowClauses:
    """Reads the clause. A mixin that comes before a parser class among the bases."""

    def _parse_window_clause(self: Any) -> list[exp.Expr] | None:
        words = [token.text.upper() for token in self._tokens[self._index + 1 : self._index + 3]]
        is_window = self._curr is not None and self._curr.token_type is TokenType.WINDOW
        if not is_window or words[1:] != ["("] or words[0] not in WINDOWS:
            return super()._parse_window_clause()  # type: ignore[misc, no-any-return]
        self._advance()
        call = exp.Anonymous(this=words[0])
        call.update_positions(self._prev)
        self._advance(2)
        call.set("expressions", self._parse_csv(self._parse_length_of_window))
        self._match_r_paren()
        return [call]

    def _parse_length_of_window(self: Any) -> exp.Expr | None:
        """A length behind its word, if it has one: `SIZE 1 HOUR`, `ADVANCE BY 10 SECONDS`."""
        word = self._curr
        if word is not None and word.text.upper() in _LIMITS:
            place = word.line, word.col - (word.end - word.start)
            hint = "how late rows may come is said by the WATERMARK of a table"
            raise Unsupported(f"{word.text.upper()} of a WINDOW is not supported", hint, *place)
        if not self._match_text_seq("SIZE") and self._match_text_seq("ADVANCE"):
            self._match_text_seq("BY")
        number = self._parse_number()
        if number is None:
            self.raise_error("a length such as 10 MINUTES is expected", self._curr)
        return self._parse_interval_span(exp.Literal.string(number.name))  # type: ignore[no-any-return]

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        query = super()._parse_query_modifiers(this)  # type: ignore[misc]
        windows = query.args.get("windows") if isinstance(query, exp.Select) else None
        if not windows or not isinstance(windows[0], exp.Anonymous):
            return query  # type: ignore[no-any-return]
        return with_windows(query, windows[0])
