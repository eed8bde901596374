"""Reads CREATE, APPLY and PREVIEW REPLACEMENT, which no dialect knows, also in Materialize's words."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokens import TokenType

from planner.errors import InvalidQuery
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt, Piece
from planner.statements.drop_statements import DropReplacement
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_CREATE = "write CREATE REPLACEMENT [IF NOT EXISTS] name FOR VIEW view AS query [, VIEW view AS query ...]"
_APPLY = "write APPLY REPLACEMENT name"
_PREVIEW = "write PREVIEW REPLACEMENT name [VIEW view] [LIMIT rows] [OFFSET rows]"


@dataclass(frozen=True)
class CreateReplacement(Statement):
    """`queries` has the new query of each view, by its full name."""

    name: str
    queries: tuple[tuple[str, Excerpt], ...]
    if_not_exists: bool


@dataclass(frozen=True)
class ApplyReplacement(Statement):
    """`view` is a view that the replacement must be for, where the statement names one."""

    name: str
    view: str | None = None


@dataclass(frozen=True)
class PreviewReplacement(Statement):
    """The rows by which `view` differs, or the only view of the replacement: at most `limit`, after the first
    `offset` ones."""

    name: str
    view: str | None
    limit: int | None
    offset: int


@dataclass(frozen=True)
class ShowReplacements(Statement):
    """SHOW REPLACEMENTS."""


REPLACING = CreateReplacement | ApplyReplacement | DropReplacement | PreviewReplacement | ShowReplacements
"""Statements about replacements."""


def create_replacement(piece: Piece) -> CreateReplacement:
    reader = WordReader(piece, 2, _CREATE)
    _skip_view(reader)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.name()
    reader.expect("FOR")
    queries = [_view_query(reader)]
    while reader.skip(","):
        queries.append(_view_query(reader))
    reader.end()
    views = [view for view, _ in queries]
    for view in views:
        if views.count(view) > 1:
            raise InvalidQuery(f"replacement {name} gives view {view} two queries", "leave one out")
    return CreateReplacement(piece, name, tuple(queries), if_not_exists)


def _view_query(reader: WordReader) -> tuple[str, Excerpt]:
    _skip_view(reader)
    view = reader.relation()
    reader.expect("AS")
    first, piece = reader.at, reader.piece
    if reader.is_done:
        raise reader.failure("the view has no query")
    reader.at = _end(piece, first)
    query = piece.from_token(first, reader.at)
    return view, qualified_text(query.excerpt(0), piece.dialect, piece.names)


def _end(piece: Piece, first: int) -> int:
    """The token behind the query that begins with the first one: the comma before another view's, or the end.

    A column or a table may be called view, but AS cannot follow the word behind it."""
    depth = 0
    for at in range(first, len(piece.tokens)):
        token = piece.tokens[at]
        if token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER):
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth == 0 and token.text == "," and _begins_another(piece, at + 1):
                return at
    return len(piece.tokens)


def _begins_another(piece: Piece, at: int) -> bool:
    words = [token.text.upper() for token in piece.tokens[at : at + 9]]
    if words[:1] == ["MATERIALIZED"]:
        words = words[1:]
    if words[:1] != ["VIEW"]:
        return False
    place = 2
    while words[place : place + 1] == ["."]:
        place += 2
    return words[place : place + 1] == ["AS"] and words[1:2] != ["AS"]


def _skip_view(reader: WordReader) -> None:
    if not reader.skip("MATERIALIZED", "VIEW"):
        reader.skip("VIEW")


def apply_replacement(piece: Piece) -> ApplyReplacement:
    reader = WordReader(piece, 2, _APPLY)
    name = reader.name()
    reader.end()
    return ApplyReplacement(piece, name)


def applied_to_view(piece: Piece) -> ApplyReplacement | None:
    """ALTER [MATERIALIZED] VIEW view APPLY REPLACEMENT name; None for another ALTER."""
    words = [token.text.upper() for token in piece.tokens]
    if words[-3:-1] != ["APPLY", "REPLACEMENT"]:
        return None
    reader = WordReader(piece, 1, "write ALTER VIEW view APPLY REPLACEMENT name")
    reader.skip("MATERIALIZED")
    reader.expect("VIEW")
    view = reader.relation()
    reader.expect("APPLY", "REPLACEMENT")
    name = reader.name()
    reader.end()
    return ApplyReplacement(piece, name, view)


def preview_replacement(piece: Piece) -> PreviewReplacement:
    reader = WordReader(piece, 2, _PREVIEW)
    name = reader.name()
    reader.skip("FOR")
    view = reader.relation() if reader.skip("VIEW") else None
    limit = _number(reader) if reader.skip("LIMIT") else None
    offset = _number(reader) if reader.skip("OFFSET") else 0
    reader.end()
    return PreviewReplacement(piece, name, view, limit, offset)


def _number(reader: WordReader) -> int:
    if reader.is_done or not reader.word.isdecimal():
        raise reader.failure("a number of rows is expected")
    number = int(reader.word)
    reader.at += 1
    return number
