"""The tokens of a script, by the rules of its dialect."""

from __future__ import annotations

import re
from functools import cache

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, Tokenizer, TokenType

from planner.errors import InvalidSyntax
from planner.parsing.rewritten_text import place_of

_CANDIDATES = 100
_MARK = "\ue000"
"""A character for private use."""
_NUMBERED = re.compile(r"(?<![\w$])\$(?=[0-9])")
_SEARCHED = 1 << 22
"""Characters that are read at most to find where a quotation begins."""


def tokens_in(script: str, dialect: Dialect) -> list[Token]:
    """Every token of the script. Raises InvalidSyntax for a quotation that is not closed."""
    try:
        tokens = _tokenizer(dialect.tokenizer_class)(dialect=dialect).tokenize(_marked(script, dialect))
        return [_unmarked(token) if _MARK in token.text else token for token in tokens]
    except TokenError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        line, column = place_of(script, _unclosed(script, dialect))
        raise InvalidSyntax(
            "the quotation or comment that begins here is not closed", line=line, column=column
        ) from None


@cache
def _tokenizer(of_dialect: type[Tokenizer]) -> type[Tokenizer]:
    """The dialect's tokenizer without its commands: what follows EXPLAIN or SHOW is tokens too, not one text
    that ends at the next semicolon, quoted or not."""
    singles = {**of_dialect.SINGLE_TOKENS, _MARK: TokenType.PARAMETER}
    return type(of_dialect.__name__, (of_dialect,), {"COMMANDS": set(), "SINGLE_TOKENS": singles})


def _marked(script: str, dialect: Dialect) -> str:
    """The script with another character for the `$` of numbered parameters where `$` also begins quotations:
    sqlglot would take `$1,$` for the beginning of one."""
    if "$" not in dialect.tokenizer_class.HEREDOC_STRINGS or _MARK in script:
        return script
    return _NUMBERED.sub(_MARK, script)


def _unmarked(token: Token) -> Token:
    text = token.text.replace(_MARK, "$")
    return Token(token.token_type, text, token.line, token.col, token.start, token.end, token.comments)


def _unclosed(script: str, dialect: Dialect) -> int:
    """The offset of the unclosed quotation or comment that ends a script; the first of a hundred candidates,
    of fewer in a long script."""
    offset = 0
    most = min(_CANDIDATES, max(1, _SEARCHED // len(script)))
    for candidate in list(re.finditer(r"['\"`$\[]|/\*", script))[: -most - 1 : -1]:
        offset = candidate.start()
        try:
            dialect.tokenize(script[:offset])
        except TokenError:
            continue
        break
    return offset
