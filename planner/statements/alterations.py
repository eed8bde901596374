"""The actions of ALTER TABLE; `planner.statements.alter_statements` reads them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.schema import Column, Type
from planner.statements.table_rules import NO_RULES, TableRules, Text


@dataclass(frozen=True)
class AddColumn:
    """ADD COLUMN, with the rules that the column declares."""

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
class AddKey:
    """ADD PRIMARY KEY."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class SetSequence:
    """SET DEFAULT nextval: the column takes the numbers of a sequence, by its full name."""

    name: str
    sequence: str


@dataclass(frozen=True)
class DropConstraint:
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class SetDefault:
    """SET or DROP DEFAULT: without a `text`, the column loses its default."""

    name: str
    text: Text | None


@dataclass(frozen=True)
class SetNullable:
    name: str
    nullable: bool


@dataclass(frozen=True)
class SetType:
    """ALTER COLUMN ... TYPE, with the constraint that a length of the type is."""

    name: str
    type: Type
    rules: TableRules = NO_RULES


Action = (
    AddColumn
    | DropColumn
    | RenameColumn
    | RenameTable
    | AddConstraint
    | AddKey
    | SetSequence
    | DropConstraint
    | SetDefault
    | SetNullable
    | SetType
)
