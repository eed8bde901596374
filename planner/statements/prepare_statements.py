"""Reads PREPARE, EXECUTE and DEALLOCATE.

PREPARE name [(type, ...)] AS statement
EXECUTE name [(expression, ...)]
DEALLOCATE [PREPARE] {name | ALL}
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokens import TokenType

from planner.parsing.script import Excerpt, Piece
from planner.statements.word_reader import WordReader


@dataclass(frozen=True)
class Prepare:
    """`types` are those of the parameters, as they are written."""

    name: str
    types: tuple[str, ...]
    statement: Piece


@dataclass(frozen=True)
class Execute:
    name: str
    arguments: tuple[Excerpt, ...]


@dataclass(frozen=True)
class Deallocate:
    """`name` is None for all."""

    name: str | None


def prepare(piece: Piece) -> Prepare:
    reader = WordReader(piece, 1, "write PREPARE name [(type, ...)] AS statement")
    name = reader.name()
    types = tuple(part.text for part in _parts(reader)) if reader.word == "(" else ()
    reader.expect("AS")
    if reader.is_done:
        raise reader.failure("a statement is expected")
    return Prepare(name, types, piece.from_token(reader.at))


def execute(piece: Piece) -> Execute:
    reader = WordReader(piece, 1, "write EXECUTE name [(value, ...)]")
    name = reader.name()
    arguments = _parts(reader) if reader.word == "(" else ()
    reader.end()
    return Execute(name, arguments)


def deallocate(piece: Piece) -> Deallocate:
    reader = WordReader(piece, 1, "write DEALLOCATE {name | ALL}")
    reader.skip("PREPARE")
    name = None if reader.skip("ALL") else reader.name()
    reader.end()
    return Deallocate(name)


def _parts(reader: WordReader) -> tuple[Excerpt, ...]:
    """What stands between the commas in the parentheses that are next."""
    piece, start = reader.piece, reader.at + 1
    end = reader.closed()
    found, depth = [], 0
    for at in range(start, end + 1):
        token = piece.tokens[at]
        if at == end or (depth == 0 and token.token_type == TokenType.COMMA):
            if at == start:
                reader.at = at
                raise reader.failure("a value is expected")
            text = piece.script[piece.tokens[start].start : piece.tokens[at - 1].end + 1]
            found.append(Excerpt(text, *piece.place(start)))
            start = at + 1
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0) * (
            token.token_type != TokenType.STRING
        )
    reader.at = end + 1
    return tuple(found)
