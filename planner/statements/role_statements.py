"""Reads CREATE ROLE, DROP ROLE, GRANT and REVOKE, from their tokens, because dialects parse them differently.

A relation's name in double quotes may be a pattern, in which `*` stands for any characters.
"""

from __future__ import annotations

from sqlglot.tokens import Token, TokenType

from planner.errors import PlannerError
from planner.identifiers import DEFAULT_SCHEMAS
from planner.parsing.script import Piece
from planner.statements.statements import CreateRole, DropRole, Grant, Revoke

_CREATE = "CREATE ROLE name"
_DROP = "DROP ROLE [IF EXISTS] name, ..."
_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE")
_MEMBERSHIPS = ("READ", "WRITE", "ADMIN")
_FORM = (
    "write {0} SELECT, INSERT, UPDATE, DELETE or ALL ON name, ... {1} role, ... ON ALL TABLES IN SCHEMA "
    "public {1} role, or {0} read, write or admin {1} role"
)
_INSTEAD = {
    "TRUNCATE": "TRUNCATE needs DELETE",
    "CREATE": "whoever has ALL on all tables may define",
    "REFERENCES": "whoever has ALL on all tables may define",
    "USAGE": "there is one schema, which everybody may use",
    "CONNECT": "whoever has a key may connect",
}


def create_role(piece: Piece) -> CreateRole:
    """CREATE ROLE name [[WITH] LOGIN]."""
    reader = _Reader(piece, 2, f"write {_CREATE}")
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


def drop_role(piece: Piece) -> DropRole:
    """DROP ROLE [IF EXISTS] name, ..."""
    reader = _Reader(piece, 2, f"write {_DROP}")
    if_exists = reader.skip("IF") and reader.skip("EXISTS")
    names = reader.names()
    reader.end()
    return DropRole(piece, names, if_exists)


def grant(piece: Piece) -> Grant:
    reader = _Reader(piece, 1, _FORM.format("GRANT", "TO"))
    privileges, relations, member_of = _what(reader)
    reader.expect("TO")
    roles = reader.names()
    reader.end()
    return Grant(piece, privileges, relations, member_of, roles)


def revoke(piece: Piece) -> Revoke:
    reader = _Reader(piece, 1, _FORM.format("REVOKE", "FROM"))
    privileges, relations, member_of = _what(reader)
    reader.expect("FROM")
    roles = reader.names()
    _ = reader.skip("CASCADE") or reader.skip("RESTRICT")
    reader.end()
    return Revoke(piece, privileges, relations, member_of, roles)


def _what(reader: _Reader) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The privileges, the relations that they are on, and the predefined roles, up to TO or FROM."""
    if reader.word in _MEMBERSHIPS:
        words = [reader.take(_MEMBERSHIPS)]
        while reader.skip(","):
            words.append(reader.take(_MEMBERSHIPS))
        return (), (), tuple(word.lower() for word in words)
    if reader.skip("ALL"):
        reader.skip("PRIVILEGES")
        privileges = list(_PRIVILEGES)
    else:
        privileges = [reader.take(_PRIVILEGES)]
        while reader.skip(","):
            privileges.append(reader.take(_PRIVILEGES))
    reader.expect("ON")
    if reader.skip("ALL"):
        for word in ("TABLES", "IN", "SCHEMA"):
            reader.expect(word)
        if reader.name() not in DEFAULT_SCHEMAS:
            raise reader.piece.unsupported("there are no schemas", "write public", reader.at - 1)
        return tuple(privileges), ("*",), ()
    reader.skip("TABLE")
    return tuple(privileges), reader.names(qualified=True), ()


class _Reader:
    """Reads a statement's words one by one, from token `at` on; `form` is the hint of its errors."""

    def __init__(self, piece: Piece, at: int, form: str) -> None:
        self.piece = piece
        self.at = at
        self._form = form

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.piece.tokens)

    @property
    def word(self) -> str:
        """The token in upper case; empty for a quoted name, and at the end."""
        if self.is_done or self._token.token_type in (TokenType.IDENTIFIER, TokenType.STRING):
            return ""
        return self._token.text.upper()

    def skip(self, word: str) -> bool:
        """Passes the word if it is next."""
        is_next = self.word == word
        self.at += is_next
        return is_next

    def expect(self, word: str) -> None:
        if not self.skip(word):
            raise self._failure(f"{word} is expected")

    def take(self, among: tuple[str, ...]) -> str:
        """The next word, one of several."""
        word = self.word
        if word not in among:
            if word:
                hint = _INSTEAD.get(word, self._form)
                raise self.piece.unsupported(f"the privilege {word} is not supported", hint, self.at)
            raise self._failure("a privilege is expected")
        self.at += 1
        if self.word == "(":
            raise self.piece.unsupported(
                "privileges on columns are not supported", "make a view of these columns", self.at
            )
        return word

    def names(self, qualified: bool = False) -> tuple[str, ...]:
        """Names, separated by commas; `qualified`: each may have the schema before it."""
        found = [self._qualified() if qualified else self.name()]
        while self.skip(","):
            found.append(self._qualified() if qualified else self.name())
        return tuple(found)

    def name(self) -> str:
        if self.is_done or self._token.token_type == TokenType.STRING or not _is_name(self._token):
            raise self._failure("a name is expected")
        token, self.at = self._token, self.at + 1
        return token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()

    def end(self) -> None:
        if not self.is_done:
            if self.word == "WITH":
                raise self.piece.unsupported("WITH GRANT OPTION is not supported", "make an admin", self.at)
            if self.word == "*":
                raise self._failure("a pattern is in double quotes")
            raise self._failure(f'syntax error at or near "{self._token.text}"')

    def _qualified(self) -> str:
        begin, name = self.at, self.name()
        if self.skip("."):
            if name not in DEFAULT_SCHEMAS:
                raise self.piece.unsupported(f"there are no schemas: {name}", "leave it out", begin)
            return self.name()
        if self.word == "*":
            raise self._failure("a pattern is in double quotes")
        return name

    @property
    def _token(self) -> Token:
        return self.piece.tokens[self.at]

    def _failure(self, message: str) -> PlannerError:
        return self.piece.failure(message, self._form, min(self.at, len(self.piece.tokens) - 1))


def _is_name(token: Token) -> bool:
    return token.token_type == TokenType.IDENTIFIER or token.text.replace("_", "a").isalnum()
