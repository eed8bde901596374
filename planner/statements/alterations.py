"""What ALTER TABLE says, action by action; `planner.statements.alter_statements` reads it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.schema import Column
from planner.statements.table_rules import NO_RULES, TableRules, Text


@dataclass(frozen=True)
class AddColumn:
    """With the rules that stand at the column."""

    column: Column
    rules: TableRules = NO_RULES
    if_not_exists: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class DropColumn:
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class RenameColumn:
    name: str
    to: str


@dataclass(frozen=True)
class RenameTable:
    to: str


@dataclass(frozen=True)
class AddConstraint:
    rules: TableRules


@dataclass(frozen=True)
class DropConstraint:
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class SetDefault:
    """Without a `text` the column has no default any more."""

    name: str
    text: Text | None


@dataclass(frozen=True)
class SetNullable:
    name: str
    nullable: bool


Action = (
    AddColumn
    | DropColumn
    | RenameColumn
    | RenameTable
    | AddConstraint
    | DropConstraint
    | SetDefault
    | SetNullable
)
