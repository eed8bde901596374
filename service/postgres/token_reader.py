"""Reads the tokens of a statement one after another, word by word."""

from __future__ import annotations

from dataclasses import replace

from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidSyntax
from planner.parsing.script import Piece
from planner.relation_names import schema_named


class TokenReader:
    """Reads the tokens of a statement one after another, from the second one on."""

    def __init__(self, piece: Piece, at: int = 1) -> None:
        self.piece = piece
        # A token may have several words: sqlglot reads some pairs of words as one.
        self._words = [(word, token, i) for i, token in enumerate(piece.tokens) for word in _parts(token)]
        self._at = at

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._words)

    @property
    def word(self) -> str:
        """The next word in upper case; empty at the end."""
        return "" if self.is_done else self._words[self._at][0].upper()

    @property
    def place(self) -> int:
        """The token at which the next word stands."""
        return self._words[self._at][2] if not self.is_done else len(self.piece.tokens) - 1

    def took(self, *words: str) -> bool:
        """Whether the next words are these; then they are behind."""
        at = self._at
        for word in words:
            if at >= len(self._words) or self._words[at][0].upper() != word or _is_quoted(self._words[at][1]):
                return False
            at += 1
        self._at = at
        return True

    def took_any(self, *words: str) -> str | None:
        return next((word for word in words if self.took(word)), None)

    def take(self) -> Token:
        """The next token. Raises InvalidSyntax at the end."""
        if self.is_done:
            raise self.failure()
        self._at += 1
        return self._words[self._at - 1][1]

    def name(self) -> str:
        """The next token as a name, folded unless it is quoted."""
        if self.is_done:
            raise self.failure()
        word, token, _ = self._words[self._at]
        is_name = word[:1].isalpha() or word[:1] == "_" or _is_quoted(token)
        if token.token_type is TokenType.STRING or not is_name:
            raise self.failure()
        self._at += 1
        return token.text if _is_quoted(token) else word.lower()

    def last_name(self) -> str:
        """The rest, which has to be a name."""
        name = self.name()
        self.end()
        return name

    def integer(self) -> int:
        sign = -1 if self.took("-") else 1
        token = self.take()
        if not token.text.isdigit() or len(token.text) > 18:
            self._at -= 1
            raise self.failure()
        return sign * int(token.text)

    def value(self) -> str:
        """The next token as a value: text, number or word."""
        sign = "-" if self.took("-") else ""
        if self.is_done:
            raise self.failure()
        word, token, _ = self._words[self._at]
        self._at += 1
        return sign + (token.text if token.token_type is TokenType.STRING or _is_quoted(token) else word)

    def text(self) -> str:
        """The next token, which has to be a text between quotes."""
        if self.is_done or self._words[self._at][1].token_type is not TokenType.STRING:
            raise self.failure()
        return self.value()

    def rest(self) -> Piece:
        """The statement that begins at the next word. Raises InvalidSyntax if there is none."""
        if self.is_done:
            raise self.failure()
        return self.piece.from_token(self.place)

    def relation(self) -> tuple[str | None, str]:
        """The schema that is written before a relation's name, if one is, and the name."""
        parts = [self.name()]
        while self.took("."):
            parts.append(self.name())
        if len(parts) > 3:
            raise self.failure("write schema.name")
        *before, name = parts
        return schema_named(before), name

    def inside(self, form: str) -> Piece:
        """The statement between the parentheses, which are left behind. Raises InvalidSyntax with the
        `form` to write."""
        self.take()
        start, depth = self.place, 0
        while True:
            place, token = self.place, self.take()
            if token.token_type is TokenType.R_PAREN and depth == 0:
                break
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if place == start:
            raise self.failure(form)
        return replace(self.piece, tokens=self.piece.tokens[start:place])

    def end(self) -> None:
        """Raises InvalidSyntax unless all has been read."""
        if not self.is_done:
            raise self.failure()

    def failure(self, hint: str = "") -> InvalidSyntax:
        if self.is_done:
            return self.piece.failure("syntax error at the end of the statement", hint)
        return self.piece.failure(f'syntax error at or near "{self._words[self._at][0]}"', hint, self.place)


def _parts(token: Token) -> list[str]:
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return [token.text]
    return token.text.split() or [token.text]


def _is_quoted(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER
