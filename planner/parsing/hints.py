"""The hint PRIORITY, which other databases and sqlglot read as a comment.

    SELECT /*+ PRIORITY(expression) */ ...

The hint belongs to its SELECT, whose copies keep it; `canonical_text` writes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidSyntax
from planner.limits import check_time
from planner.positions import remember

_META = "priority"
_HINT = re.compile(r"[ \t]*/\*\+\s*PRIORITY\b(.*?)\*/", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"\+?\s*PRIORITY\b", re.IGNORECASE)
_STRAY = re.compile(r"\+\s*PRIORITY\b", re.IGNORECASE)
_USAGE = "write SELECT /*+ PRIORITY(expression) */ ..., with the hint on the line of its SELECT"


def check_hints(tokens: Iterable[Token], sql: str) -> None:
    """Raise InvalidSyntax, with its place, for a hint that does not follow a SELECT."""
    for token in tokens if _STRAY.search(sql) else ():
        if any(_STRAY.match(comment) for comment in token.comments) and not _follows(token, sql):
            column = token.col - (token.end - token.start)
            raise InvalidSyntax("the hint PRIORITY does not follow a SELECT", _USAGE, token.line, column)


def priority_of(select: exp.Expr) -> exp.Expression | None:
    """The expression of the SELECT's hint, if it has one."""
    return select.meta.get(_META)


def hint_text(priority: str) -> str:
    """The hint whose expression has the text `priority`."""
    return f" /*+ PRIORITY({priority}) */"


def _follows(token: Token, sql: str) -> re.Match[str] | None:
    return _HINT.match(sql, token.end + 1) if token.token_type is TokenType.SELECT else None


class _Priority(exp.Hint):
    """A hint that has not reached its SELECT yet."""


class PriorityHints:
    """Parses the hint. A mixin that comes before a parser class among the bases; `name` is the dialect's."""

    name: str

    def _parse_hint(self: Any) -> exp.Hint | None:
        found = _follows(self._prev, self.sql)
        if found is None:
            return super()._parse_hint()  # type: ignore[misc,no-any-return]
        self._match(TokenType.HINT)
        hint = _Priority()
        hint.meta[_META] = self._parse_priority(found[1], found.start(1))
        return hint

    def _parse_priority(self: Any, written: str, place: int) -> exp.Expr:
        """The expression in parentheses at `place`, its nodes marked with their places in the text."""
        check_time()
        before = "".join("\n" if c == "\n" else " " for c in self.sql[:place])
        text = before + written
        (tree,) = type(self)(dialect=self.dialect).parse(self.dialect.tokenize(text), text) or (None,)
        if not isinstance(tree, exp.Paren):
            line, column = before.count("\n") + 1, place - before.rfind("\n")
            raise InvalidSyntax("PRIORITY takes one expression", _USAGE, line, column)
        remember(tree, text, self.name)
        return tree.this

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        if isinstance(this, exp.Select) and isinstance(this.args.get("hint"), _Priority):
            this.meta[_META] = this.args["hint"].meta[_META]
            this.set("hint", None)
            this.comments = [comment for comment in this.comments or () if not _COMMENT.match(comment)]
        return super()._parse_query_modifiers(this)  # type: ignore[misc,no-any-return]
