"""Splits a script of SQL into statements that keep their places in the script.

sqlglot's tokenizer for the dialect finds the top-level semicolons, so that the dialect's rules for quotes,
dollar quotes and comments apply. A `Piece` is one statement's tokens; the tokens and everything parsed from
them keep their offsets in the whole script. An `Excerpt` is an unchanged part of the script, for a parser of
its own.

Lines and columns count from 1, in characters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.dialects.as_written import remember_dialect
from planner.errors import InvalidSyntax, PlannerError, Unsupported
from planner.limits import check_text
from planner.parsing.checked_trees import checked_trees
from planner.parsing.column_names import NAMED, POSTGRES, with_named_columns
from planner.parsing.long_names import notices, with_short_names
from planner.parsing.named_dialects import dialect_called
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.parameters import NO_PARAMETERS, Parameters, check_used, with_values
from planner.parsing.qualified_columns import without_schemas
from planner.parsing.rewritten_text import place_of
from planner.parsing.script_tokens import tokens_in

_NAMING = frozenset({"SELECT", "RETURNING", "TABLE"})
"""Words of an INSERT that has more columns to name than the rows of its VALUES."""


@dataclass(frozen=True)
class Excerpt:
    """`text` as it stands in a script, from `line` and `column` on, but for what was `inserted`: line, column
    and length of each insertion in the text."""

    text: str
    line: int = 1
    column: int = 1
    inserted: tuple[tuple[int, int, int], ...] = ()

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The place in the script of a place in the text."""
        before = (min(n, column - c) for at, c, n in self.inserted if at == line and c < column)
        return self.line + line - 1, column - sum(before) + (self.column - 1 if line == 1 else 0)

    def around(self, before: str, after: str) -> Excerpt:
        """The text between two others; the places in it stay as they are."""
        inserted = tuple((at, c + len(before) * (at == 1), n) for at, c, n in self.inserted)
        return Excerpt(f"{before}{self.text}{after}", self.line, self.column - len(before), inserted)

    def relocate(self, error: PlannerError) -> None:
        """Change the place of an error about the text to its place in the script."""
        if error.line is not None and error.column is not None:
            error.line, error.column = self.place(error.line, error.column)


@dataclass(frozen=True)
class Piece:
    """Statement `index` of a script: the tokens between two semicolons, at least one."""

    index: int
    script: str
    dialect: str
    tokens: tuple[Token, ...]
    parameters: Parameters = NO_PARAMETERS
    names: Namespace = DEFAULT
    in_utc: bool = True
    """Whether moments without an offset are those of UTC's clock."""

    @property
    def source(self) -> str:
        return self.script[self.tokens[0].start : self.tokens[-1].end + 1]

    @property
    def length(self) -> int:
        """The number of characters, those of the parameters included."""
        return self.tokens[-1].end + 1 - self.tokens[0].start + self.parameters.length

    @property
    def notices(self) -> tuple[str, ...]:
        """What its author should know of the statement, although it runs."""
        return notices(self.tokens, self.script) if self.dialect == POSTGRES else ()

    def words(self, count: int) -> tuple[str, ...]:
        """The first `count` tokens in upper case; a quoted name is not a word and ends them."""
        words = []
        for token in self.tokens[:count]:
            if token.token_type in (TokenType.IDENTIFIER, TokenType.STRING):
                break
            words += token.text.upper().split()
        return tuple(words[:count])

    def place(self, token: int = 0) -> tuple[int, int]:
        """Line and column of the beginning of a token."""
        return place_of(self.script, self.tokens[token].start)

    def find(self, word: str, near: exp.Expression | None = None) -> int:
        """The first token that begins with `word`, not before the beginning of `near`; 0 if there is none."""
        begin = (
            0 if near is None else min((n.meta["start"] for n in near.walk() if "start" in n.meta), default=0)
        )
        found = (
            i for i, t in enumerate(self.tokens) if t.start >= begin and t.text.upper().split()[:1] == [word]
        )
        return next(found, 0)

    def excerpt(self, first: int) -> Excerpt:
        """The text from token `first` to the end of the statement."""
        text = self.script[self.tokens[first].start : self.tokens[-1].end + 1]
        return Excerpt(text, *self.place(first))

    def from_token(self, first: int, end: int | None = None) -> Piece:
        """The rest of the statement, from token `first` on, or up to the token before `end`."""
        return replace(self, tokens=self.tokens[first:end])

    def parse(self) -> exp.Expression:
        """The statement's syntax tree; its identifiers know their place in the script."""
        tree = self.template()
        bound = with_values(tree, self.parameters, _is_kept(tree))
        return remember_dialect(bound, self.dialect)

    def template(self) -> exp.Expression:
        """The tree without values for its parameters, and without marks of the dialect."""
        trees = checked_trees(self.tokens, self.script, self.dialect, self.names)
        if len(trees) != 1:
            raise self.failure("the statement is empty")
        return self._resolved(trees[0])

    def _resolved(self, tree: exp.Expression) -> exp.Expression:
        """The tree with names for its columns, and schemas for its relations."""
        words = {token.text.upper() for token in self.tokens}
        has_columns = not _is_kept(tree) and not (words.isdisjoint(_NAMING) and "INSERT" in words)
        if self.dialect in NAMED and has_columns:
            tree = with_named_columns(tree, self.script)
        self.names.qualify(tree)
        return without_schemas(tree) if "." in words else tree

    def failure(self, message: str, hint: str = "", token: int = 0) -> InvalidSyntax:
        line, column = self.place(token)
        return InvalidSyntax(message, hint, line=line, column=column)

    def unsupported(self, message: str, hint: str = "", token: int = 0) -> Unsupported:
        line, column = self.place(token)
        return Unsupported(message, hint, line=line, column=column)


def split(
    script: str, dialect: str = "postgres", parameters: Parameters = NO_PARAMETERS, names: Namespace = DEFAULT
) -> tuple[Piece, ...]:
    """The statements of `script` in order, without empty ones. Raises InvalidSyntax if it cannot be
    tokenized, InvalidQuery if it does not have all of the parameters."""
    check_text(script)
    pieces: list[Piece] = []
    current: list[Token] = []
    tokens = tokens_in(script, dialect_called(dialect))
    for token in [*(with_short_names(tokens) if dialect == POSTGRES else tokens), None]:
        if token is not None and token.token_type != TokenType.SEMICOLON:
            current.append(token)
        elif current:
            pieces.append(Piece(len(pieces), script, dialect, tuple(current)))
            current = []
    check_used(parameters, (token for piece in pieces for token in piece.tokens))
    own = replace(parameters, alone=len(pieces) == 1)
    return tuple(replace(piece, parameters=own, names=names) for piece in pieces)


def _is_kept(tree: exp.Expression) -> bool:
    """Whether a statement defines what is kept, so that it has no parameters. Rows that CREATE TABLE AS
    selects are not part of the table's definition."""
    if isinstance(tree, exp.Create):
        return tree.expression is None
    return isinstance(tree, exp.Alter | exp.Comment)
