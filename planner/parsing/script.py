"""Splits a script of SQL into statements that keep their places in the script.

sqlglot's tokenizer for the dialect finds the top-level semicolons, so that the dialect's rules for quotes,
dollar quotes and comments apply. A `Piece` is one statement's tokens; the tokens and everything parsed from
them keep their offsets in the whole script. An `Excerpt` is an unchanged part of the script, for a parser of
its own.

Lines and columns count from 1, in characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, Tokenizer, TokenType

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
from planner.parsing.rewritten_text import RewrittenText, place_of

_NAMING = frozenset({"SELECT", "RETURNING", "TABLE"})
"""Words of an INSERT that has more columns to name than the rows of its VALUES."""
_CANDIDATES = 100
_MARK = "\ue000"
"""A character for private use."""
_NUMBERED = re.compile(r"(?<![\w$])\$(?=[0-9])")
_SEARCHED = 1 << 22
"""Characters that are read at most to find where a quotation begins."""


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
    rewritten: RewrittenText | None = None
    """How the script differs from the one that was sent, whose lines and columns places are."""

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
        start, written = self.tokens[token].start, self.rewritten
        if written is None:
            return place_of(self.script, start)
        return place_of(written.original, written.offset(start))

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
        start = self.tokens[first].start
        text = self.script[start : self.tokens[-1].end + 1]
        grown = () if self.rewritten is None else self.rewritten.grown
        inserted = tuple((*place_of(text, at - start), by) for at, by in grown if at >= start)
        return Excerpt(text, *self.place(first), inserted)

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
    script: str,
    dialect: str = "postgres",
    parameters: Parameters = NO_PARAMETERS,
    names: Namespace = DEFAULT,
) -> tuple[Piece, ...]:
    """The statements of `script` in order, without empty ones. Raises InvalidSyntax if it cannot be
    tokenized, InvalidQuery if it does not have all of the parameters."""
    check_text(script)
    tokenizer = dialect_called(dialect)
    pieces: list[Piece] = []
    current: list[Token] = []
    tokens = _tokens(script, tokenizer)
    for token in [*(with_short_names(tokens) if dialect == POSTGRES else tokens), None]:
        if token is not None and token.token_type != TokenType.SEMICOLON:
            current.append(token)
        elif current:
            pieces.append(Piece(len(pieces), script, dialect, tuple(current)))
            current = []
    check_used(parameters, (token for piece in pieces for token in piece.tokens))
    own = replace(parameters, alone=len(pieces) == 1)
    return tuple(replace(piece, parameters=own, names=names) for piece in pieces)


def _tokens(script: str, dialect: Dialect) -> list[Token]:
    """Every token of the script."""
    try:
        tokens = _tokenizer(dialect.tokenizer_class)(dialect=dialect).tokenize(_marked(script, dialect))
        return [_unmarked(token) if _MARK in token.text else token for token in tokens]
    except TokenError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        line, column = place_of(script, _unclosed(script, dialect))
        raise InvalidSyntax(
            "the quotation or comment that begins here is not closed", line=line, column=column
        ) from None


@cache
def _tokenizer(of_dialect: type[Tokenizer]) -> type[Tokenizer]:
    """The dialect's tokenizer without its commands: what follows EXPLAIN or SHOW is tokens too, not one text
    that ends at the next semicolon, quoted or not."""
    singles = {**of_dialect.SINGLE_TOKENS, _MARK: TokenType.PARAMETER}
    return type(of_dialect.__name__, (of_dialect,), {"COMMANDS": set(), "SINGLE_TOKENS": singles})


def _marked(script: str, dialect: Dialect) -> str:
    """The script with another character for the `$` of numbered parameters where `$` also begins quotations:
    sqlglot would take `$1,$` for the beginning of one."""
    if "$" not in dialect.tokenizer_class.HEREDOC_STRINGS or _MARK in script:
        return script
    return _NUMBERED.sub(_MARK, script)


def _unmarked(token: Token) -> Token:
    text = token.text.replace(_MARK, "$")
    return Token(token.token_type, text, token.line, token.col, token.start, token.end, token.comments)


def _unclosed(script: str, dialect: Dialect) -> int:
    """The offset of the unclosed quotation or comment that ends a script; the first of a hundred candidates,
    of fewer in a long script."""
    offset = 0
    most = min(_CANDIDATES, max(1, _SEARCHED // len(script)))
    for candidate in list(re.finditer(r"['\"`$\[]|/\*", script))[: -most - 1 : -1]:
        offset = candidate.start()
        try:
            dialect.tokenize(script[:offset])
        except TokenError:
            continue
        break
    return offset


def _is_kept(tree: exp.Expression) -> bool:
    """Whether a statement defines what is kept, so that it has no parameters. Rows that CREATE TABLE AS
    selects are not part of the table's definition."""
    if isinstance(tree, exp.Create):
        return tree.expression is None
    return isinstance(tree, exp.Alter | exp.Comment)
