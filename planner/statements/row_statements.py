"""Which statements return rows, as their words say: before anything is parsed."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from planner.parsing.script import Piece

_READS = frozenset({"SELECT", "VALUES"})
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_SHOWS = frozenset({"DESC", "DESCRIBE", "EXPLAIN", "FROM", "SHOW", "TABLE"})


def returns_rows(piece: Piece) -> bool:
    """Whether a statement returns rows if it succeeds."""
    words = {token.text.upper() for token in piece.tokens if token.token_type is not TokenType.STRING}
    return piece.words(1)[:1] in {(word,) for word in _SHOWS} or "RETURNING" in words or is_query(piece)


def is_query(piece: Piece) -> bool:
    """Whether a statement reads rows and changes none, as its words say outside of parentheses."""
    depth = 0
    for token in piece.tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        word = token.text.upper()
        if token.token_type in (TokenType.IDENTIFIER, TokenType.STRING):
            continue
        if depth == 0 and word in _READS:
            return True
        if word in _CHANGES or (token is piece.tokens[0] and word not in ("WITH", "(")):
            return False
    return piece.tokens[0].token_type == TokenType.L_PAREN
