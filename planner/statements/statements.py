"""The statements of a script, with their places.

A statement is frozen and knows nothing of the catalog: it does not check whether a name exists. A query that
may hold syntax that sqlglot does not parse (WITH MUTUALLY RECURSIVE), or that is kept as the user wrote it,
is an `Excerpt`; other queries are syntax trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlglot import exp

from engine.schema import Schema, Type
from planner.dialects.standing import standing_of
from planner.parsing.namespace import SearchPath
from planner.parsing.script import Excerpt, Piece
from planner.parsing.sql_functions import SqlFunction
from planner.relation_names import own_name
from planner.statements.alterations import Action
from planner.statements.breach import Breach
from planner.statements.sequences import Counting
from planner.statements.table_rules import NO_RULES, TableRules
from planner.statements.view_budgets import ANY, ViewBudget

STAGES = ("logical", "optimized", "dataflow")
"""The stages of EXPLAIN."""
ANALYZE = "analyze"
ANSWER = "answer"
WHY = "why"
COST = "cost"
NAMED_STAGES = (ANSWER, *STAGES, "supersteps", ANALYZE, COST, WHY)
"""The stages that EXPLAIN shows if the statement names them. `answer` is of an ad-hoc query alone: how it
would be answered; so is `why`: what its first row follows from."""


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
class DropTable(Statement):
    names: tuple[str, ...]
    if_exists: bool
    cascade: bool = False


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
        if self.recursive:
            return self._recursion
        if not self.column_names:
            return self.query
        own = own_name(self.name)
        names = [exp.to_identifier(name, quoted=True) for name in (own, *self.column_names)]
        view, *columns = (name.sql(self.piece.dialect) for name in names)
        before = "SELECT * FROM ("
        text = f"{before}{self.query.text}) AS {view}({', '.join(columns)})"
        inserted = tuple((at, c + len(before) * (at == 1), n) for at, c, n in self.query.inserted)
        return Excerpt(text, self.query.line, self.query.column - len(before), inserted)

    @property
    def _recursion(self) -> Excerpt:
        names = [exp.to_identifier(name, quoted=True) for name in (own_name(self.name), *self.column_names)]
        own, *columns = (name.sql(self.piece.dialect) for name in names)
        listed = ", ".join(columns)
        before = f"WITH RECURSIVE {own} ({listed}) AS ("
        text = f"{before}{self.query.text})\nSELECT {listed} FROM {own}"
        inserted = tuple((at, c + len(before) * (at == 1), n) for at, c, n in self.query.inserted)
        return Excerpt(text, self.query.line, self.query.column - len(before), inserted)


@dataclass(frozen=True)
class DropView(Statement):
    names: tuple[str, ...]
    if_exists: bool
    cascade: bool = False


@dataclass(frozen=True)
class CreateAssertion(Statement):
    """`query` has the rows that break the assertion."""

    name: str
    query: Excerpt
    breach: Breach
    if_not_exists: bool


@dataclass(frozen=True)
class DropAssertion(Statement):
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class CreateType(Statement):
    name: str
    type: Type
    if_not_exists: bool


@dataclass(frozen=True)
class AddLabel(Statement):
    """ALTER TYPE ... ADD VALUE: a label behind the others, or `before` or after a `neighbour`."""

    name: str
    label: str
    neighbour: str | None
    before: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropType(Statement):
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class CreateFunction(Statement):
    """CREATE FUNCTION or MACRO: overloads of one name."""

    name: str
    functions: tuple[SqlFunction, ...]
    or_replace: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropFunction(Statement):
    """`dropped` has names, each with the number of parameters, or None for the one function or, of macros,
    for all of the name."""

    dropped: tuple[tuple[str, int | None], ...]
    if_exists: bool
    is_macro: bool


@dataclass(frozen=True)
class CreateSequence(Statement):
    name: str
    counting: Counting
    if_not_exists: bool


@dataclass(frozen=True)
class AlterSequence(Statement):
    """With `restarts`, the sequence goes on with `number`, by default with its first; without, nothing
    changes."""

    name: str
    restarts: bool
    number: int | None
    if_exists: bool


@dataclass(frozen=True)
class DropSequence(Statement):
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class CreateSchema(Statement):
    name: str
    if_not_exists: bool


@dataclass(frozen=True)
class RenameSchema(Statement):
    name: str
    to: str


@dataclass(frozen=True)
class SetOwner(Statement):
    """ALTER ... OWNER TO, which changes nothing: nothing has an owner. `kind` is TABLE for tables and views,
    SCHEMA or TYPE."""

    kind: str
    name: str
    if_exists: bool

    @property
    def notices(self) -> tuple[str, ...]:
        return (*self.piece.notices, "there are no owners: GRANT and roles say who may do what")


@dataclass(frozen=True)
class CreateIndex(Statement):
    """Without a `name`, the index gets one of its relation and columns."""

    name: str | None
    relation: str
    columns: tuple[str, ...]
    included: tuple[str, ...]
    unique: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropSchema(Statement):
    """With `cascade`, all that is in the schemas goes too, with what reads it."""

    names: tuple[str, ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class DropIndex(Statement):
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class AlterTable(Statement):
    name: str
    if_exists: bool
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class RenameView(Statement):
    name: str
    to: str
    if_exists: bool


@dataclass(frozen=True)
class Comment(Statement):
    """COMMENT ON a table or view, or on its column `of_column`; without a `text`, the comment is removed."""

    name: str
    of_column: str | None
    text: str | None
    view: bool | None


@dataclass(frozen=True)
class CommentOnSchema(Statement):
    """Without a `text`, the comment is removed."""

    name: str
    text: str | None


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


@dataclass(frozen=True)
class LongQuery(Statement):
    """A query whose text is too long to be parsed in the process that it was sent to."""


@dataclass(frozen=True)
class Explain(Statement):
    """EXPLAIN of `query`, or of the view called `view`; `stage` is one of NAMED_STAGES, None for all of
    STAGES."""

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
class ShowAssertions(Statement):
    pass


@dataclass(frozen=True)
class ShowSchemas(Statement):
    pass


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
class DropBranch(Statement):
    names: tuple[str, ...]
    if_exists: bool


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


@dataclass(frozen=True)
class ShowBranch(Statement):
    pass


@dataclass(frozen=True)
class ShowBranches(Statement):
    pass


@dataclass(frozen=True)
class SetSearchPath(Statement):
    """SET search_path, for the statements after it."""

    path: SearchPath


@dataclass(frozen=True)
class ShowSearchPath(Statement):
    pass


@dataclass(frozen=True)
class ShowColumns(Statement):
    """SHOW COLUMNS and DESCRIBE of a table or view."""

    name: str


@dataclass(frozen=True)
class ShowCreate(Statement):
    """SHOW CREATE of a table or view; `view` is None if it may be either. With `assertion`, the view has to
    be one."""

    name: str
    view: bool | None
    assertion: bool = False


@dataclass(frozen=True)
class RefreshView(Statement):
    """REFRESH MATERIALIZED VIEW, which finds the view up to date."""

    name: str


@dataclass(frozen=True)
class CreateRole(Statement):
    name: str


@dataclass(frozen=True)
class DropRole(Statement):
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class Grant(Statement):
    """Gives `roles` privileges on relations, which are names and patterns, or all that the roles `member_of`
    have. The `schemas` that it names have to exist."""

    privileges: tuple[str, ...]
    relations: tuple[str, ...]
    member_of: tuple[str, ...]
    roles: tuple[str, ...]
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Revoke(Statement):
    """Takes from `roles` what Grant gives."""

    privileges: tuple[str, ...]
    relations: tuple[str, ...]
    member_of: tuple[str, ...]
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Begin(Statement):
    pass


@dataclass(frozen=True)
class Commit(Statement):
    pass


@dataclass(frozen=True)
class Rollback(Statement):
    """Ends a block without applying it."""
