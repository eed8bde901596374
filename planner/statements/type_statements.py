"""CREATE and ALTER TYPE, read from their tokens, because not every dialect parses them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokens import TokenType

from engine.schema import Type, enumeration
from planner.parsing.script import Piece
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_CREATE = "CREATE TYPE name AS ENUM ('label', ...)"
_ALTER = "write ALTER TYPE name ADD VALUE [IF NOT EXISTS] 'label' [BEFORE 'other' | AFTER 'other']"


@dataclass(frozen=True)
class CreateType(Statement):
    name: str
    type: Type
    if_not_exists: bool


@dataclass(frozen=True)
class AddLabel(Statement):
    """ALTER TYPE ... ADD VALUE: a label behind the others, or `before` or after a `neighbour`."""

    name: str
    label: str
    neighbour: str | None
    before: bool
    if_not_exists: bool


def create_type(piece: Piece) -> CreateType:
    """CREATE TYPE name AS ENUM (label, ...)."""
    reader = WordReader(piece, 2, _CREATE)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.made()
    tokens = piece.tokens[reader.at :]
    words = [token.text.upper() for token in tokens]
    if words[:3] != ["AS", "ENUM", "("] or words[-1] != ")":
        raise piece.unsupported("CREATE TYPE of anything but an ENUM is not supported", _CREATE)
    labels = tokens[3:-1]
    strings = [token.text for token in labels[::2] if token.token_type == TokenType.STRING]
    if len(labels) != 2 * len(strings) - 1 or any(token.text != "," for token in labels[1::2]):
        raise piece.failure("labels must be texts, separated by commas", _CREATE, 2)
    if len(set(strings)) < len(strings):
        raise piece.failure("an ENUM cannot have a label twice", _CREATE, 2)
    return CreateType(piece, name, enumeration(*strings), if_not_exists)


def alter_type(piece: Piece) -> AddLabel:
    """ALTER TYPE name ADD VALUE [IF NOT EXISTS] label [{BEFORE | AFTER} label]."""
    reader = WordReader(piece, 2, _ALTER)
    name = reader.type()
    if not reader.skip("ADD", "VALUE"):
        hint = "a label can be added: ALTER TYPE name ADD VALUE 'label'"
        raise piece.unsupported(f"ALTER TYPE ... {reader.word} is not supported", hint, reader.at)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    label = reader.text()
    before = reader.skip("BEFORE")
    neighbour = reader.text() if before or reader.skip("AFTER") else None
    reader.end()
    return AddLabel(piece, name, label, neighbour, before, if_not_exists)
