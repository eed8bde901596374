"""Checks how deeply a text is nested, by its tokens, before sqlglot's parser recurses into it.

A level is an open parenthesis, bracket or brace, an open CASE, or a sign or NOT right behind another one.
Chains of operators that the binder binds in one go (`a OR b OR c`, `a + b + c`) are one level in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokens import Token, TokenType

from planner.errors import SqlTooDeep
from planner.limits import depth_limit

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_SIGNS = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})
_HINT = "move parts of it into CTEs or views, or raise FRESHET_SQL_DEPTH"


def check_nesting(tokens: Iterable[Token]) -> None:
    """Raise SqlTooDeep at the token that opens one level too many."""
    most = depth_limit()
    open_levels = signs = 0
    for token in tokens:
        kind = token.token_type
        signs = signs + 1 if kind in _SIGNS else 0
        if kind in _OPENING:
            open_levels += 1
        elif kind in _CLOSING:
            open_levels = max(0, open_levels - 1)
        elif kind is TokenType.SEMICOLON:
            open_levels = 0
        if open_levels + signs > most:
            column = token.col - (token.end - token.start)
            raise SqlTooDeep(f"the text is nested more than {most} levels deep", _HINT, token.line, column)
