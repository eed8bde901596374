"""Names beyond 63 bytes, which PostgreSQL's dialect cuts, as PostgreSQL does."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokens import Token, TokenType

from planner.relation_names import LONGEST, shortened

_NAMES = (TokenType.IDENTIFIER, TokenType.VAR)


def with_short_names(tokens: Iterable[Token]) -> list[Token]:
    """The tokens, with the text of each long name cut."""
    return [_cut(token) if _is_long(token) else token for token in tokens]


def notices(tokens: Iterable[Token], script: str) -> tuple[str, ...]:
    """What to tell of the tokens of a script whose names were cut."""
    found = {}
    for token in tokens:
        written = script[token.start : token.end + 1]
        name = written[1:-1].replace('""', '"') if written.startswith('"') else written
        if token.token_type in _NAMES and len(name) > len(token.text):
            found[written] = f"the name {written} has more than {LONGEST} bytes: it is cut to {token.text}"
    return tuple(found.values())


def _is_long(token: Token) -> bool:
    return (
        len(token.text) > LONGEST // 4
        and token.token_type in _NAMES
        and len(token.text.encode("utf-8", "replace")) > LONGEST
    )


def _cut(token: Token) -> Token:
    place = (token.line, token.col, token.start, token.end)
    return Token(token.token_type, shortened(token.text), *place, token.comments)
