"""Texts that have an enumeration spelled out: the same text with other labels.

Such a text may be a whole query or only a part of one, so it is searched token by token.
"""

from __future__ import annotations

from sqlglot.tokens import TokenType

from engine.schema import Type
from planner.parsing.rewritten_text import Replaced, spliced
from planner.parsing.script import split

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


def respelled(text: str, dialect: str, old: Type, new: Type) -> str:
    """The text with an enumeration that is spelled out in the place of another."""
    labels = [part for label in old.labels for part in (label, ",")][:-1]
    found: list[Replaced] = []
    for piece in split(text, dialect):
        tokens = piece.tokens
        for i, token in enumerate(tokens):
            if token.text.upper() != "ENUM" or token.token_type in _QUOTED:
                continue
            listed = tokens[i + 1 : i + len(labels) + 3]
            if [t.text for t in listed] == ["(", *labels, ")"] and all(
                (t.token_type == TokenType.STRING) == (place % 2 == 1) for place, t in enumerate(listed)
            ):
                found.append((token.start, listed[-1].end, str(new)))
    return spliced(text, found)
