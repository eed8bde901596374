"""Clauses of systems for streams that tables do not have: their refusal says what to write.

The check reads tokens, because sqlglot has none of these clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot.tokens import Token, TokenType

from planner.errors import Unsupported

_EMITTED = {
    ("EMIT", "CHANGES"): "leave it out: a view is up to date at every epoch, and a feed has its changes",
    ("EMIT", "FINAL"): "leave it out: a late row changes its window",
}
_BEFORE_NAMES = frozenset(
    {TokenType.FROM, TokenType.JOIN, TokenType.COMMA, TokenType.DOT, TokenType.ALIAS, TokenType.L_PAREN}
    | {TokenType.SELECT}
)


def check_streams(tokens: Sequence[Token]) -> None:
    """Raise Unsupported, with its place, for ksqlDB's EMIT."""
    for place, token in enumerate(tokens):
        word = token.text.upper()
        if word != "EMIT":
            continue
        follows = [other.text.upper() for other in tokens[place + 1 : place + 3]]
        hint = _EMITTED.get((word, *follows[:1]), "")  # type: ignore[arg-type]
        is_name = place > 0 and tokens[place - 1].token_type in _BEFORE_NAMES
        if hint and not is_name and follows[1:2] in ([], [";"], [")"]):
            _refuse(f"EMIT {follows[0]}", hint, token)


def _refuse(clause: str, hint: str, token: Token) -> NoReturn:
    place = token.col - (token.end - token.start)
    raise Unsupported(f"{clause} is not supported", hint, token.line, place)
