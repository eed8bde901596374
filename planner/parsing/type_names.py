"""Named types: where a text names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot.tokens import Token, TokenType

from engine.schema import Type
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.rewritten_text import Replaced, spliced
from planner.parsing.script import split
from planner.relation_names import full_name, schema_named

Types = Mapping[str, Type]
"""By full name."""

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_CASTS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST"})
_WITH_COLUMNS = frozenset({"TABLE", "SOURCE"})
_NEW_COLUMN = frozenset({"ADD", "COLUMN", "EXISTS"})
_NO_COLUMN = frozenset({"CHECK", "CONSTRAINT", "FOREIGN", "LIKE", "PRIMARY", "UNIQUE"})


def named_types(text: str, dialect: str, types: Types, names: Namespace = DEFAULT) -> list[Replaced]:
    """What takes the places of the names of types in a text, in order."""
    return [
        (first.start, last.end, str(type))
        for piece in split(text, dialect)
        for first, last, type in _named(piece.tokens, types, names)
    ]


def respelled(text: str, dialect: str, old: Type, new: Type) -> str:
    """The text with an enumeration that is spelled out, as `named_types` does, in the place of another."""
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


def _named(tokens: Sequence[Token], types: Types, names: Namespace) -> list[tuple[Token, Token, Type]]:
    """The first and the last token of each name of a type, with this type."""
    words = [token.text.upper() for token in tokens]
    defines = words[0] in ("CREATE", "ALTER") and not _WITH_COLUMNS.isdisjoint(words[:4])
    opened: list[str] = []  # the words before the open parentheses
    found = []
    after = 0
    for i, token in enumerate(tokens):
        if words[i] == "(":
            opened.append(words[i - 1] if i else "")
        elif words[i] == ")" and opened:
            opened.pop()
        elif i >= max(2, after) and token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            before = words[i - 2 : i]
            if _casts(before, opened) or (defines and _types_column(before, opened)):
                after = _end_of_name(words, i)
                type = types.get(_full_name(tokens[i:after:2], types, names))
                if type is not None:
                    found.append((token, tokens[after - 1], type))
    return found


def _end_of_name(words: Sequence[str], first: int) -> int:
    """The place after a name, which may have a database and a schema before it."""
    end = first + 1
    while end + 1 < len(words) and words[end] == "." and end - first < 5:
        end += 2
    return end


def _full_name(parts: Sequence[Token], types: Types, names: Namespace) -> str:
    folded = [t.text if t.token_type == TokenType.IDENTIFIER else t.text.lower() for t in parts]
    *before, name = folded
    schema = schema_named(before)
    return names.meant(name, types) if schema is None else full_name(schema, name)


def _casts(before: Sequence[str], opened: Sequence[str]) -> bool:
    """Whether a type follows `x::` or `CAST(x AS`."""
    return before[1] == "::" or (before[1] == "AS" and bool(opened) and opened[-1] in _CASTS)


def _types_column(before: Sequence[str], opened: Sequence[str]) -> bool:
    """Whether a type follows a column's name in CREATE TABLE or ALTER TABLE, or the word TYPE."""
    if opened:
        return len(opened) == 1 and before[0] in ("(", ",") and before[1] not in _NO_COLUMN
    return before[0] in _NEW_COLUMN or before[1] == "TYPE"
