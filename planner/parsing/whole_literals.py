"""Whole numbers in sixteens, eights and twos, and with underscores, as single tokens: 0x1F, 0o17, 0b1, 1_000.

sqlglot takes the first for bytes, and the others for a number with an alias.
"""

from __future__ import annotations

import re

from sqlglot.tokens import Token, TokenType

_DIALECTS = frozenset({"trino"})
_BASES = {"x": 16, "o": 8, "b": 2}
_PREFIXED = re.compile(r"(?:o[0-7]+(?:_[0-7]+)*|b[01]+(?:_[01]+)*)", re.IGNORECASE)
_GROUPS = re.compile(r"(?:_[0-9]+)+")
_MOST = 64  # digits; no type of a number has more in any base
_MARK = 2  # characters of 0x


def with_numerals(tokens: list[Token], dialect: str) -> list[Token]:
    """The tokens with such numbers in tens."""
    if dialect not in _DIALECTS:
        return tokens
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        if before is not None and (text := _continued(before, token)) is not None:
            found[-1] = _number(text, before, token)
        elif _is_of_sixteens(token):
            found.append(_number(str(int(token.text, 16)), token, token))
        else:
            found.append(token)
    return found


def _is_of_sixteens(token: Token) -> bool:
    """Whether it is 0x1F, not X'1F', which has quotes around its digits."""
    is_bare = token.end - token.start + 1 == len(token.text) + _MARK
    return token.token_type is TokenType.HEX_STRING and is_bare and 0 < len(token.text) <= _MOST


def _continued(before: Token, token: Token) -> str | None:
    """The number that a token directly behind a number belongs to, in tens; None if it belongs to none."""
    if (
        before.token_type is not TokenType.NUMBER
        or token.token_type is not TokenType.VAR
        or token.start != before.end + 1
        or len(token.text) > _MOST
    ):
        return None
    if before.text == "0" and _PREFIXED.fullmatch(token.text):
        return str(int(token.text[1:], _BASES[token.text[0].lower()]))
    if before.text.isdigit() and _GROUPS.fullmatch(token.text):
        return before.text + token.text.replace("_", "")
    return None


def _number(text: str, first: Token, last: Token) -> Token:
    return Token(TokenType.NUMBER, text, first.line, last.col, first.start, last.end, last.comments)
