"""The statements of a script, with their places: what all have, and those about tables, views and rows. Each
other kind stands with its reader, in `type_statements` and the like.

A statement is frozen and knows nothing of the catalog: it does not check whether a name exists. A query that
may hold syntax that sqlglot does not parse (WITH MUTUALLY RECURSIVE), or that is kept as the user wrote it,
is an `Excerpt`; other queries are syntax trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from engine.schema import Schema
from planner.dialects.standing import standing_of
from planner.parsing.script import Excerpt, Piece
from planner.relation_names import own_name
from planner.statements.table_rules import NO_RULES, TableRules
from planner.statements.view_budgets import ANY, ViewBudget


@dataclass(frozen=True)
class Statement:
    piece: Piece

    @property
    def notices(self) -> tuple[str, ...]:
        """What its author should know of it, although it runs."""
        return self.piece.notices

    @property
    def index(self) -> int:
        """The statement's number in its script, from 0."""
        return self.piece.index

    @property
    def line(self) -> int:
        return self.piece.place()[0]

    @property
    def column(self) -> int:
        return self.piece.place()[1]

    @property
    def source(self) -> str:
        """The statement as it was written."""
        return self.piece.source


@dataclass(frozen=True)
class CreateTable(Statement):
    """`comments` are by column. With `or_replace` it takes the place of a table of its name."""

    name: str
    columns: Schema
    primary_key: tuple[str, ...] | None
    if_not_exists: bool
    rules: TableRules = NO_RULES
    comments: Mapping[str, str] = field(default_factory=dict)
    or_replace: bool = False


@dataclass(frozen=True)
class CreateTableAs(Statement):
    """A table with a query's columns, and its rows if `with_data`; `column_names` is empty without a list.
    With `or_replace` it takes the place of a table of its name."""

    name: str
    column_names: tuple[str, ...]
    query: exp.Expression
    with_data: bool
    if_not_exists: bool
    or_replace: bool = False


@dataclass(frozen=True)
class CreateTableLike(Statement):
    """A table with the columns of another and, with `rules`, its constraints, defaults and generated
    columns."""

    name: str
    like: str
    rules: bool
    if_not_exists: bool


@dataclass(frozen=True)
class CreateView(Statement):
    """`column_names` is empty if no list follows the view's name."""

    name: str
    query: Excerpt
    column_names: tuple[str, ...]
    or_replace: bool
    if_not_exists: bool
    materialized: bool

    @property
    def notices(self) -> tuple[str, ...]:
        notice = standing_of(self.piece.dialect).notice
        return self.piece.notices if notice is None else (*self.piece.notices, notice)

    recursive: bool = False
    budget: ViewBudget = ANY

    @property
    def definition(self) -> Excerpt:
        """The query, with its columns renamed by the list after the view's name. That of a recursive view is
        one of its own name, from which the view reads."""
        if not self.column_names:
            return self.query
        own = own_name(self.name)
        names = [exp.to_identifier(name, quoted=True) for name in (own, *self.column_names)]
        view, *columns = (name.sql(self.piece.dialect) for name in names)
        if self.recursive:
            listed = ", ".join(columns)
            after = f")\nSELECT {listed} FROM {view}"
            return self.query.around(f"WITH RECURSIVE {view} ({listed}) AS (", after)
        return self.query.around("SELECT * FROM (", f") AS {view}({', '.join(columns)})")


@dataclass(frozen=True)
class Truncate(Statement):
    names: tuple[str, ...]


@dataclass(frozen=True)
class Insert(Statement):
    """`query` gives the rows, `tree` is the whole statement; `columns` is empty without a list.

    Without a query every column takes its default. `replace` says that a row replaces another with its key.
    """

    table: str
    columns: tuple[str, ...]
    query: exp.Expression | None
    tree: exp.Insert
    replace: bool = False


@dataclass(frozen=True)
class Update(Statement):
    table: str
    tree: exp.Update


@dataclass(frozen=True)
class Delete(Statement):
    table: str
    tree: exp.Delete


@dataclass(frozen=True)
class Merge(Statement):
    table: str
    tree: exp.Merge


@dataclass(frozen=True)
class Select(Statement):
    query: exp.Expression


class LongQuery(Statement):
    """A query whose text is too long to be parsed in the process that it was sent to."""


class Begin(Statement):
    pass


class Commit(Statement):
    pass


class Rollback(Statement):
    """Ends a block without applying it."""
