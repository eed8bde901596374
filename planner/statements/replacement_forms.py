"""What statements about replacements of views say."""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.script import Excerpt
from planner.statements.drop_statements import DropReplacement
from planner.statements.statements import Statement


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
