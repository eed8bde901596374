"""CREATE, MERGE and SHOW BRANCH, and SET and RESET branch, which no dialect knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlglot.tokens import TokenType

from planner.parsing.script import Piece
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_CREATE = "write CREATE BRANCH [IF NOT EXISTS] name [LIVE] [FROM branch] [AS OF epoch]"
_MERGE = "write MERGE BRANCH name [INTO branch] [ON CONFLICT FAIL | OURS | THEIRS]"
_SET = "write SET branch = name"
_CHOICES = ("FAIL", "OURS", "THEIRS")


@dataclass(frozen=True)
class CreateBranch(Statement):
    """A branch of `parent`, by default of the session's, as of an epoch or a time, by default now. It follows
    its parent if it is `live`."""

    name: str
    parent: str | None
    as_of: int | datetime | None
    live: bool
    if_not_exists: bool


@dataclass(frozen=True)
class MergeBranch(Statement):
    """`into` is the parent, where the statement names it; `on_conflict` is fail, ours or theirs."""

    name: str
    into: str | None
    on_conflict: str


@dataclass(frozen=True)
class SetBranch(Statement):
    """SET branch, for the statements after it; None is the default."""

    branch: str | None


class ShowBranch(Statement):
    pass


class ShowBranches(Statement):
    pass


def create_branch(piece: Piece) -> CreateBranch:
    reader = WordReader(piece, 2, _CREATE)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.name()
    live = reader.skip("LIVE")
    parent = reader.name() if reader.skip("FROM") else None
    as_of = None
    if not reader.is_done:
        reader.expect("AS", "OF")
        reader.skip("EPOCH")
        as_of = _moment(reader)
    reader.end()
    return CreateBranch(piece, name, parent, as_of, live, if_not_exists)


def _moment(reader: WordReader) -> int | datetime:
    """An epoch, or a time as a text."""
    if reader.is_done:
        raise reader.failure("an epoch or a time is expected")
    token = reader.piece.tokens[reader.at]
    if token.token_type == TokenType.NUMBER and token.text.isdecimal():
        reader.at += 1
        return int(token.text)
    try:
        moment = datetime.fromisoformat(token.text if token.token_type == TokenType.STRING else "")
    except ValueError:
        raise reader.failure("an epoch, or a time like '2026-01-01T00:00:00Z', is expected") from None
    reader.at += 1
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def merge_branch(piece: Piece) -> MergeBranch:
    reader = WordReader(piece, 2, _MERGE)
    name = reader.name()
    into = reader.name() if reader.skip("INTO") else None
    choice = "FAIL"
    if reader.skip("ON", "CONFLICT"):
        choice = reader.word
        if choice not in _CHOICES:
            raise reader.failure(f"one of {', '.join(_CHOICES)} is expected")
        reader.at += 1
    reader.end()
    return MergeBranch(piece, name, into, choice.lower())


def set_branch(piece: Piece) -> SetBranch:
    """SET [SESSION] branch {TO | =} name or DEFAULT."""
    reader = WordReader(piece, 1, _SET)
    reader.skip("SESSION")
    reader.expect("BRANCH")
    if not (reader.skip("TO") or reader.skip("=")) or reader.is_done:
        raise reader.failure("the name of a branch is expected")
    if reader.skip("DEFAULT"):
        name = None
    elif piece.tokens[reader.at].token_type == TokenType.STRING:
        name, reader.at = piece.tokens[reader.at].text, reader.at + 1
    else:
        name = reader.name()
    reader.end()
    return SetBranch(piece, name)


def reset_branch(piece: Piece) -> SetBranch:
    WordReader(piece, 2, "write RESET branch").end()
    return SetBranch(piece, None)
