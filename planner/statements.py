"""The statements of a script: what each one says, and where it stands.

A statement is frozen and knows nothing of the catalog: whether a name exists is not its
concern. A query that may hold what sqlglot does not parse (WITH MUTUALLY RECURSIVE), or
that is kept as the user wrote it, is an `Excerpt`; the others are syntax trees.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from engine.schema import Schema
from planner.script import Excerpt, Piece

STAGES = ("logical", "optimized", "dataflow")
"""What EXPLAIN shows."""
ANALYZE = "analyze"
NAMED_STAGES = (*STAGES, "supersteps", ANALYZE)
"""What it shows if it is asked to."""


@dataclass(frozen=True)
class Statement:
    piece: Piece

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
    name: str
    columns: Schema
    primary_key: tuple[str, ...] | None
    if_not_exists: bool


@dataclass(frozen=True)
class DropTable(Statement):
    name: str
    if_exists: bool


@dataclass(frozen=True)
class CreateView(Statement):
    """`column_names` is empty without a list of them behind the name."""

    name: str
    query: Excerpt
    column_names: tuple[str, ...]
    or_replace: bool
    if_not_exists: bool
    materialized: bool

    @property
    def definition(self) -> Excerpt:
        """The query with the column names of the list behind the name."""
        if not self.column_names:
            return self.query
        names = [exp.to_identifier(name, quoted=True) for name in (self.name, *self.column_names)]
        view, *columns = (name.sql(self.piece.dialect) for name in names)
        before = "SELECT * FROM ("
        text = f"{before}{self.query.text}) AS {view}({', '.join(columns)})"
        return Excerpt(text, self.query.line, self.query.column - len(before))


@dataclass(frozen=True)
class DropView(Statement):
    name: str
    if_exists: bool


@dataclass(frozen=True)
class Insert(Statement):
    """`query` gives the rows, `tree` is all of it; `columns` is empty without a list of them."""

    table: str
    columns: tuple[str, ...]
    query: exp.Expression
    tree: exp.Insert


@dataclass(frozen=True)
class Update(Statement):
    table: str
    tree: exp.Update


@dataclass(frozen=True)
class Delete(Statement):
    table: str
    tree: exp.Delete


@dataclass(frozen=True)
class Select(Statement):
    query: exp.Expression


@dataclass(frozen=True)
class Explain(Statement):
    """Of `query`, or of the view called `view`; `stage` is one of NAMED_STAGES, None for all of STAGES."""

    stage: str | None
    query: Excerpt | None
    view: str | None


@dataclass(frozen=True)
class ShowTables(Statement):
    pass


@dataclass(frozen=True)
class ShowViews(Statement):
    pass


@dataclass(frozen=True)
class Begin(Statement):
    pass


@dataclass(frozen=True)
class Commit(Statement):
    pass
