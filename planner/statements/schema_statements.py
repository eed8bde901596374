"""CREATE and ALTER SCHEMA and SET search_path, read from their tokens, because not every dialect parses
them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.namespace import SearchPath
from planner.parsing.script import Piece
from planner.parsing.search_path import path_of
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_CREATE = "write CREATE SCHEMA [IF NOT EXISTS] name"


@dataclass(frozen=True)
class CreateSchema(Statement):
    name: str
    if_not_exists: bool


@dataclass(frozen=True)
class RenameSchema(Statement):
    name: str
    to: str


@dataclass(frozen=True)
class SetSearchPath(Statement):
    """SET search_path, for the statements after it."""

    path: SearchPath


class ShowSearchPath(Statement):
    pass


class ShowSchemas(Statement):
    pass


def create_schema(piece: Piece) -> CreateSchema:
    """CREATE SCHEMA [IF NOT EXISTS] name [AUTHORIZATION role]; a schema has no owner, so the role is nothing
    but the name of a schema without one."""
    reader = WordReader(piece, 2, _CREATE)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = None if reader.word == "AUTHORIZATION" else reader.schema()
    if reader.skip("AUTHORIZATION"):
        role = reader.name()
        name = role if name is None else name
    if not reader.is_done:
        raise piece.unsupported(
            f"CREATE SCHEMA with {piece.tokens[reader.at].text.upper()} is not supported",
            "create the schema, then what is in it",
            reader.at,
        )
    return CreateSchema(piece, name or "", if_not_exists)


def set_search_path(piece: Piece) -> SetSearchPath:
    """SET [SESSION | LOCAL] search_path {TO | =} schema, ... or DEFAULT."""
    reader = WordReader(piece, 1, "write SET search_path TO schema, ...")
    _ = reader.skip("SESSION") or reader.skip("LOCAL")
    if not reader.skip("SEARCH_PATH"):
        hint = "a script has no setting but search_path: remove the statement"
        raise piece.unsupported("SET is not supported", hint)
    if not (reader.skip("TO") or reader.skip("=")) or reader.is_done:
        raise reader.failure("TO and the names of schemas are expected")
    return SetSearchPath(piece, path_of(list(piece.tokens[reader.at :])))


def rename_schema(piece: Piece) -> RenameSchema:
    """ALTER SCHEMA name RENAME TO name."""
    reader = WordReader(piece, 2, "write ALTER SCHEMA name RENAME TO name")
    name = reader.schema()
    if not reader.skip("RENAME"):
        raise piece.unsupported(f"ALTER SCHEMA ... {reader.word} is not supported", reader.form, reader.at)
    reader.expect("TO")
    to = reader.name()
    reader.end()
    return RenameSchema(piece, name, to)
