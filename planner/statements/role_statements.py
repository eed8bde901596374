"""CREATE ROLE, GRANT and REVOKE, read from their tokens, because dialects parse them differently.

A relation's name in double quotes may be a pattern, in which `*` stands for any characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.parsing.script import Piece
from planner.relation_names import EVERY, schema_of, schema_pattern
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_CREATE = "CREATE ROLE name"
_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE")
_MEMBERSHIPS = ("READ", "WRITE", "ADMIN")
_FORM = (
    "write {0} SELECT, INSERT, UPDATE, DELETE or ALL ON name, ... {1} role, ... ON ALL TABLES IN SCHEMA "
    "name, ... {1} role, or {0} read, write or admin {1} role"
)
_INSTEAD = {
    "TRUNCATE": "TRUNCATE needs DELETE",
    "CREATE": "whoever has ALL on all tables of a schema may define in it",
    "REFERENCES": "whoever has ALL on all tables of a schema may define in it",
    "USAGE": "a schema needs no rights: its tables do",
    "CONNECT": "whoever has a key may connect",
}


@dataclass(frozen=True)
class CreateRole(Statement):
    name: str


@dataclass(frozen=True)
class Grant(Statement):
    """Gives `roles` privileges on relations, which are names and patterns, or all that the roles `member_of`
    have. The `schemas` that it names have to exist."""

    privileges: tuple[str, ...]
    relations: tuple[str, ...]
    member_of: tuple[str, ...]
    roles: tuple[str, ...]
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Revoke(Statement):
    """Takes from `roles` what Grant gives."""

    privileges: tuple[str, ...]
    relations: tuple[str, ...]
    member_of: tuple[str, ...]
    roles: tuple[str, ...]


def create_role(piece: Piece) -> CreateRole:
    """CREATE ROLE name [[WITH] LOGIN]."""
    reader = WordReader(piece, 2, f"write {_CREATE}")
    name = reader.name()
    reader.skip("WITH")
    reader.skip("LOGIN")
    if not reader.is_done:
        word = reader.word
        raise piece.unsupported(
            f"CREATE ROLE ... {word} is not supported",
            "a role has permissions by GRANT, and keys by POST /v1/keys",
            reader.at,
        )
    return CreateRole(piece, name)


def grant(piece: Piece) -> Grant:
    reader = WordReader(piece, 1, _FORM.format("GRANT", "TO"))
    if reader.skip("USAGE", "ON", "SCHEMA"):
        schemas = reader.listed(reader.schema)
        return Grant(piece, (), (), (), _grantees(reader), schemas)
    privileges, relations, member_of = _what(reader)
    return Grant(piece, privileges, relations, member_of, _grantees(reader), _whole(relations))


def _grantees(reader: WordReader) -> tuple[str, ...]:
    reader.expect("TO")
    roles = reader.names()
    _end(reader)
    return roles


def _whole(patterns: Iterable[str]) -> tuple[str, ...]:
    """The schemas all of whose relations are named."""
    return tuple(schema_of(p) for p in patterns if p == schema_pattern(schema_of(p), EVERY))


def revoke(piece: Piece) -> Revoke:
    reader = WordReader(piece, 1, _FORM.format("REVOKE", "FROM"))
    privileges, relations, member_of = _what(reader)
    reader.expect("FROM")
    roles = reader.names()
    _ = reader.skip("CASCADE") or reader.skip("RESTRICT")
    _end(reader)
    return Revoke(piece, privileges, relations, member_of, roles)


def _what(reader: WordReader) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The privileges, the relations that they are on, and the predefined roles, up to TO or FROM."""
    if reader.word in _MEMBERSHIPS:
        words = [_privilege(reader, _MEMBERSHIPS)]
        while reader.skip(","):
            words.append(_privilege(reader, _MEMBERSHIPS))
        return (), (), tuple(word.lower() for word in words)
    privileges = _privileges(reader)
    reader.expect("ON")
    if reader.skip("ALL"):
        reader.expect("TABLES", "IN", "SCHEMA")
        return privileges, reader.listed(lambda: schema_pattern(reader.schema(), EVERY)), ()
    if reader.skip("SCHEMA"):
        raise reader.piece.unsupported(
            "privileges on a schema are not supported", "write ON ALL TABLES IN SCHEMA name", reader.at - 1
        )
    reader.skip("TABLE")
    return privileges, reader.listed(lambda: _relations(reader)), ()


def _privileges(reader: WordReader) -> tuple[str, ...]:
    if reader.skip("ALL"):
        reader.skip("PRIVILEGES")
        return _PRIVILEGES
    return reader.listed(lambda: _privilege(reader, _PRIVILEGES))


def _privilege(reader: WordReader, among: tuple[str, ...]) -> str:
    """The next word, one of several."""
    word = reader.word
    if word not in among:
        if word:
            hint = _INSTEAD.get(word, reader.form)
            raise reader.piece.unsupported(f"the privilege {word} is not supported", hint, reader.at)
        raise reader.failure("a privilege is expected")
    reader.skip(word)
    if reader.word == "(":
        raise reader.piece.unsupported(
            "privileges on columns are not supported", "make a view of these columns", reader.at
        )
    return word


def _relations(reader: WordReader) -> str:
    """The full name of a table or view, or a pattern of such names in one schema."""
    schema, name = reader.qualified()
    if reader.word == "*":
        raise reader.failure("a pattern is in double quotes")
    names = reader.piece.names
    if schema is None and EVERY not in name:
        return names.meant(name, names.relations)
    if schema is None:
        schema = schema_of(names.made(name))
    if EVERY in schema:
        hint = "write ON ALL TABLES IN SCHEMA name, ..."
        raise reader.piece.unsupported("a pattern of schemas is not supported", hint, reader.at - 1)
    return schema_pattern(schema, name)


def _end(reader: WordReader) -> None:
    if reader.word == "WITH":
        raise reader.piece.unsupported("WITH GRANT OPTION is not supported", "make an admin", reader.at)
    reader.end()
