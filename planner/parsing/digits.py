"""Checks how long the numbers of a text are, by its tokens: long numbers take quadratic time to read."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokens import Token, TokenType

from planner.errors import ConstantTooLarge

MOST = 1_000
"""Characters of a number. No type of a column has more than 38 digits; a DOUBLE needs at most 767."""


def check_digits(tokens: Iterable[Token]) -> None:
    """Raise ConstantTooLarge at the first number that is too long."""
    for token in tokens:
        if token.token_type is TokenType.NUMBER and len(token.text) > MOST:
            column = token.col - (token.end - token.start)
            raise ConstantTooLarge(
                f"a number has {len(token.text)} characters, and at most {MOST} are allowed",
                "write it with an exponent, such as 1e300, or as a text",
                token.line,
                column,
            )
