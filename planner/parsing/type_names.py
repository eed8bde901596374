"""Named types: where SQL names one, its definition replaces the name.

Parsing happens after that and knows no names, and everything that is stored (a table's columns, a view's
query) keeps the type's definition, even if the name is changed or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot.tokens import Token, TokenType

from engine.schema import Type
from planner.parsing.script import Piece, split

Types = Mapping[str, Type]
"""By lower-case name."""

_CASTS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST"})
_NEW_COLUMN = frozenset({"ADD", "COLUMN", "EXISTS"})
_NO_COLUMN = frozenset({"CHECK", "CONSTRAINT", "FOREIGN", "LIKE", "PRIMARY", "UNIQUE"})


def spelled_out(text: str, dialect: str, types: Types) -> str:
    """The text with the definitions of types instead of their names."""
    if not types:
        return text
    for piece in reversed(split(text, dialect)):
        for token, type in reversed(list(_named(piece.tokens, types))):
            text = f"{text[: token.start]}{type}{text[token.end + 1 :]}"
    return text


def spelled_out_piece(piece: Piece, types: Types) -> Piece:
    """The same for one statement of a script."""
    source = piece.source
    text = spelled_out(source, piece.dialect, types)
    if text == source:
        return piece
    start, end = piece.tokens[0].start, piece.tokens[-1].end + 1
    script = piece.script[:start] + text + piece.script[end:]
    return replace(split(script, piece.dialect)[piece.index], parameters=piece.parameters)


def _named(tokens: Sequence[Token], types: Types) -> list[tuple[Token, Type]]:
    """The tokens that name types, with these types."""
    words = [token.text.upper() for token in tokens]
    defines = "TABLE" in words[:4] and words[0] in ("CREATE", "ALTER")
    opened: list[str] = []  # the words before the open parentheses
    found = []
    for i, token in enumerate(tokens):
        if words[i] == "(":
            opened.append(words[i - 1] if i else "")
        elif words[i] == ")" and opened:
            opened.pop()
        elif i > 1 and token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            quoted = token.token_type == TokenType.IDENTIFIER
            type = types.get(token.text if quoted else token.text.lower())
            before = words[i - 2 : i]
            if type is not None and (_casts(before, opened) or (defines and _types_column(before, opened))):
                found.append((token, type))
    return found


def _casts(before: Sequence[str], opened: Sequence[str]) -> bool:
    """Whether a type follows `x::` or `CAST(x AS`."""
    return before[1] == "::" or (before[1] == "AS" and bool(opened) and opened[-1] in _CASTS)


def _types_column(before: Sequence[str], opened: Sequence[str]) -> bool:
    """Whether a type follows a column's name in CREATE TABLE or ALTER TABLE, or the word TYPE."""
    if opened:
        return len(opened) == 1 and before[0] in ("(", ",") and before[1] not in _NO_COLUMN
    return before[0] in _NEW_COLUMN or before[1] == "TYPE"
