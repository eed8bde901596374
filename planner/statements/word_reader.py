"""Reads a statement word by word, where dialects parse it differently or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, NamedTuple, TypeVar

from sqlglot.tokens import Token, TokenType

from planner.errors import PlannerError
from planner.parsing.script import Piece
from planner.relation_names import PUBLIC, full_name, schema_named

T = TypeVar("T")
_DROP_OPTIONS = ("CONSTRAINTS", "PURGE", "SYNC")


class DroppedNames(NamedTuple, Generic[T]):
    """What a DROP says: the `names`, and whether they may be missing, or take what needs them along."""

    names: tuple[T, ...]
    if_exists: bool
    cascade: bool


class WordReader:
    """Reads a statement's words one by one, from token `at` on; `form` is the hint of its errors."""

    def __init__(self, piece: Piece, at: int, form: str) -> None:
        self.piece = piece
        self.at = at
        self.form = form

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.piece.tokens)

    @property
    def word(self) -> str:
        """The token in upper case; empty for a quoted name, and at the end."""
        if self.is_done or self._token.token_type in (TokenType.IDENTIFIER, TokenType.STRING):
            return ""
        return self._token.text.upper()

    def skip(self, *words: str) -> bool:
        """Passes the words if they are next."""
        is_next = tuple(t.text.upper() for t in self.piece.tokens[self.at : self.at + len(words)]) == words
        is_next = is_next and self.word == words[0]
        self.at += len(words) * is_next
        return is_next

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.skip(word):
                raise self.failure(f"{word} is expected")

    def names(self) -> tuple[str, ...]:
        """Names without schemas, separated by commas."""
        return self.listed(self.name)

    def name(self) -> str:
        if self.is_done or self._token.token_type == TokenType.STRING or not _is_name(self._token):
            raise self.failure("a name is expected")
        token, self.at = self._token, self.at + 1
        return token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()

    def text(self) -> str:
        """A text in quotes."""
        if self.is_done or self._token.token_type != TokenType.STRING:
            raise self.failure("a text is expected")
        token, self.at = self._token, self.at + 1
        return token.text

    def value(self) -> str:
        """A text in quotes, a word or a number, as it is written."""
        if self.is_done or self.word in ("(", ")", ",", "="):
            raise self.failure("a value is expected")
        sign = self._token.text if self.skip("-") else ""
        token, self.at = self._token, self.at + 1
        return sign + token.text

    def closed(self) -> int:
        """The token that closes the parenthesis which is next."""
        depth = 0
        for at, token in enumerate(self.piece.tokens[self.at :], self.at):
            depth += {"(": 1, ")": -1}.get(token.text, 0) * (token.token_type != TokenType.STRING)
            if depth == 0:
                return at
        raise self.failure("a parenthesis is not closed")

    def schema(self) -> str:
        """The name of a schema, which may have a database before it."""
        before = [self.name()]
        if self.skip("."):
            before.append(self.name())
        return schema_named(before) or PUBLIC

    def qualified(self) -> tuple[str | None, str]:
        """A name, with the schema before it if there is one."""
        parts = [self.name()]
        while self.skip("."):
            parts.append(self.name())
        if len(parts) > 3:
            raise self.failure("a name has at most a database and a schema before it")
        *before, name = parts
        return schema_named(before), name

    def made(self) -> str:
        """The full name of what is created."""
        schema, name = self.qualified()
        return self.piece.names.made(name) if schema is None else full_name(schema, name)

    def existing(self, among: Collection[str] = ()) -> str:
        """The full name of what exists, as far as it is `among` these."""
        schema, name = self.qualified()
        return self.piece.names.meant(name, among) if schema is None else full_name(schema, name)

    def relation(self) -> str:
        """The full name of a table or view that exists, as far as one does."""
        return self.existing(self.piece.names.relations)

    def type(self) -> str:
        """The same of a type."""
        return self.existing(self.piece.names.types)

    def dropped(self, read: Callable[[], T], *, cascades: bool = False) -> DroppedNames[T]:
        """The rest of a DROP, [IF EXISTS] name, ... [CASCADE | RESTRICT]; CASCADE only if it `cascades`."""
        if_exists = self.skip("IF", "EXISTS")
        names = self.listed(read)
        cascade = cascades and self.skip("CASCADE")
        if not cascade:
            self.skip("RESTRICT")
        if self.word in _DROP_OPTIONS:
            raise self.piece.unsupported(f"DROP ... {self.word} is not supported", "", self.at)
        self.end()
        return DroppedNames(names, if_exists, cascade)

    def listed(self, read: Callable[[], T]) -> tuple[T, ...]:
        """What `read` reads between commas, at least once."""
        found = [read()]
        while self.skip(","):
            found.append(read())
        return tuple(found)

    def end(self) -> None:
        if not self.is_done:
            raise self.failure(f'syntax error at or near "{self._token.text}"')

    def failure(self, message: str) -> PlannerError:
        return self.piece.failure(message, self.form, min(self.at, len(self.piece.tokens) - 1))

    @property
    def _token(self) -> Token:
        return self.piece.tokens[self.at]


def _is_name(token: Token) -> bool:
    return token.token_type == TokenType.IDENTIFIER or token.text.replace("_", "a").isalnum()
