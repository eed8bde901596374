"""Tasks: statements that read or change rows, prepared to run.

A task is prepared from a statement and the current definitions, without reading anything, and runs over a
`Sight`: the newest snapshot, or a transaction. CREATE and DROP are not tasks, because they change
definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa
from sqlglot import exp

from engine.state.dictionary import Dictionary
from planner import PlannedQuery
from planner.adhoc.adhoc_query import AdhocQuery, adhoc_query
from planner.adhoc.dml_queries import row_column
from planner.adhoc.returning import returning_query
from planner.catalog_queries import is_system, take_signals, with_catalog
from planner.errors import PlannerError, Unsupported
from planner.explain import analyze, explain
from planner.explain.cost_report import cost_text
from planner.long_texts import long_query, plan_text
from planner.statements.alter_statements import AlterTable, RenameView
from planner.statements.assertion_statements import CreateAssertion, ShowAssertions
from planner.statements.branch_statements import (
    CreateBranch,
    MergeBranch,
    SetBranch,
    ShowBranch,
    ShowBranches,
)
from planner.statements.comment_statements import Comment, CommentOnSchema
from planner.statements.drop_statements import (
    DropAssertion,
    DropBranch,
    DropIndex,
    DropReplacement,
    DropRole,
    DropSchema,
    DropSequence,
    DropStream,
    DropTable,
    DropType,
    DropView,
)
from planner.statements.function_statements import CreateFunction, DropFunction
from planner.statements.index_statements import CreateIndex
from planner.statements.outside import CopyFiles, CreateSink, CreateSource, ShowStreams
from planner.statements.owner_statements import SetOwner
from planner.statements.refresh_statements import RefreshView
from planner.statements.replacement_statements import (
    ApplyReplacement,
    CreateReplacement,
    PreviewReplacement,
    ShowReplacements,
)
from planner.statements.role_statements import CreateRole, Grant, Revoke
from planner.statements.schema_statements import (
    CreateSchema,
    RenameSchema,
    SetSearchPath,
    ShowSchemas,
    ShowSearchPath,
)
from planner.statements.sequence_statements import AlterSequence, CreateSequence
from planner.statements.show_create import assertion_text, table_text, view_text
from planner.statements.show_statements import (
    ANALYZE,
    ANSWER,
    COST,
    STAGES,
    WHY,
    Explain,
    ShowColumns,
    ShowCreate,
    ShowTables,
    ShowViews,
)
from planner.statements.statements import (
    Begin,
    Commit,
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Delete,
    Insert,
    LongQuery,
    Merge,
    Rollback,
    Select,
    Statement,
    Truncate,
    Update,
)
from planner.statements.type_statements import AddLabel, CreateType
from planner.suggestions import did_you_mean
from service.changes.table_changes import TableChanges
from service.definitions.assertions import must_assert
from service.definitions.definition import Definition
from service.definitions.seeing import sized, text_now
from service.errors import Conflict, NotFound
from service.pgcatalog.system_tables import SystemTables
from service.reading.duck import Answer
from service.reading.given_tables import arrow_table
from service.reading.reads import check_health
from service.reading.results import answer_document, is_written
from service.sql.catalog_reading import (
    check_no_catalogs,
    insert_over_catalogs,
    inserts_catalogs,
    is_about_catalogs,
)
from service.sql.dml import Change, delete_all_rows, prepare, table_of
from service.sql.explaining import answer_lines
from service.sql.merging import prepare_merge
from service.sql.sight import Sight
from service.sql.signalling import signalled
from service.sql.system_catalogs import failures_logged
from service.sql.why_lines import why_lines

_NAMES: dict[type[Statement], str] = {
    Begin: "BEGIN",
    Commit: "COMMIT",
    CreateTable: "CREATE TABLE",
    CreateView: "CREATE VIEW",
    CreateAssertion: "CREATE ASSERTION",
    DropAssertion: "DROP ASSERTION",
    ShowAssertions: "SHOW ASSERTIONS",
    Delete: "DELETE",
    DropTable: "DROP TABLE",
    DropView: "DROP VIEW",
    CreateSchema: "CREATE SCHEMA",
    DropSchema: "DROP SCHEMA",
    RenameSchema: "ALTER SCHEMA",
    ShowSchemas: "SHOW SCHEMAS",
    SetSearchPath: "SET",
    SetBranch: "SET",
    ShowBranch: "SHOW",
    ShowBranches: "SHOW BRANCHES",
    CreateBranch: "CREATE BRANCH",
    DropBranch: "DROP BRANCH",
    MergeBranch: "MERGE BRANCH",
    CreateReplacement: "CREATE REPLACEMENT",
    ApplyReplacement: "APPLY REPLACEMENT",
    DropReplacement: "DROP REPLACEMENT",
    PreviewReplacement: "PREVIEW REPLACEMENT",
    ShowReplacements: "SHOW REPLACEMENTS",
    ShowSearchPath: "SHOW",
    CreateType: "CREATE TYPE",
    AddLabel: "ALTER TYPE",
    CreateFunction: "CREATE FUNCTION",
    CreateSequence: "CREATE SEQUENCE",
    AlterSequence: "ALTER SEQUENCE",
    DropSequence: "DROP SEQUENCE",
    DropFunction: "DROP FUNCTION",
    DropType: "DROP TYPE",
    Explain: "EXPLAIN",
    Insert: "INSERT",
    LongQuery: "SELECT",
    Select: "SELECT",
    ShowTables: "SHOW TABLES",
    ShowViews: "SHOW VIEWS",
    Update: "UPDATE",
    AlterTable: "ALTER TABLE",
    Comment: "COMMENT",
    CommentOnSchema: "COMMENT",
    CreateTableAs: "CREATE TABLE",
    CreateTableLike: "CREATE TABLE",
    Merge: "MERGE",
    RefreshView: "REFRESH MATERIALIZED VIEW",
    RenameView: "ALTER VIEW",
    Rollback: "ROLLBACK",
    ShowColumns: "SHOW COLUMNS",
    ShowCreate: "SHOW CREATE",
    Truncate: "TRUNCATE",
    CreateRole: "CREATE ROLE",
    CreateIndex: "CREATE INDEX",
    DropIndex: "DROP INDEX",
    DropRole: "DROP ROLE",
    Grant: "GRANT",
    Revoke: "REVOKE",
    CreateSource: "CREATE SOURCE",
    CreateSink: "CREATE SINK",
    CopyFiles: "COPY",
}

_NO_ANSWER = ("only as a view",)


@dataclass(frozen=True)
class Result:
    """The result of a statement: an answer if it returns rows, a count if it counts rows. `notices` say what
    its author should know although it has succeeded."""

    statement: str
    epoch: int
    count: int | None = None
    answer: Answer | None = None
    notices: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows of the answer."""
        return 0 if self.answer is None else self.answer.size

    @property
    def nbytes(self) -> int:
        """The bytes of the answer."""
        return 0 if self.answer is None else self.answer.nbytes

    def document(self, start: int = 0, stop: int | None = None) -> dict[str, Any]:
        """The result as a JSON object, with the rows from `start` to `stop`."""
        members: dict[str, Any] = {"statement": self.statement, "epoch": self.epoch}
        if self.count is not None:
            members["count"] = self.count
        if self.notices:
            members["notices"] = self.notices
        if self.answer is not None:
            members["columns"], members["rows"] = answer_document(self.answer, start, stop)
        return members


@dataclass(frozen=True, eq=False)
class StatementTask:
    """`queries` are all that the task asks. `plain` has its changes by table if no run is needed. `shown`
    makes what the client gets of a query's answer."""

    statement: Statement
    queries: tuple[AdhocQuery, ...]
    run: Callable[[Sight], Result]
    plain: Mapping[str, TableChanges] | None = None
    shown: Callable[[Answer], Answer] = lambda answer: answer
    of_catalogs: bool = False
    """Whether it reads nothing but the catalogs, which are no part of a block's state."""
    is_repeatable: bool = True
    """Whether a block may compute it again."""


def name_of(statement: Statement) -> str:
    """The name of a statement in its result."""
    match statement:
        case SetOwner(kind=kind):
            return f"ALTER {kind}"
        case DropStream(kind=kind):
            return f"DROP {kind}"
        case ShowStreams(kind=kind):
            return f"SHOW {kind}S"
    return _NAMES[type(statement)]


def task_of(
    statement: Statement,
    definitions: Mapping[str, Definition],
    dictionary: Dictionary,
    system: Callable[[], SystemTables],
) -> StatementTask:
    """The task of a statement. Raises a PlannerError if it is wrong, Unsupported if it cannot be a task.

    `system` gives the system catalogs to a query that reads them.
    """
    if isinstance(statement, Update | Delete | Merge):
        check_no_catalogs(statement)
    match statement:
        case Insert() if inserts_catalogs(statement):
            return _insert_of_catalogs(statement, definitions, dictionary, system())
        case Insert() | Update() | Delete():
            return _change_task(statement, definitions, dictionary)
        case Merge():
            change = prepare_merge(statement, definitions)
            returning = returning_query(statement.tree, change.definition.schema, definitions)
            queries = change.queries if returning is None else (*change.queries, returning)
            return StatementTask(statement, queries, partial(_change, statement, change, returning))
        case Truncate():
            tables = [table_of(name, exp.Table(), definitions) for name in statement.names]
            return StatementTask(statement, (), partial(_truncate, statement, tables))
        case Select(query=tree) if is_about_catalogs(tree, statement.piece.dialect):
            return _catalog_task(statement, definitions, system())
        case Select():
            query = adhoc_query(statement.query.copy(), definitions)
            return StatementTask(statement, (query,), partial(_select, statement, query))
        case LongQuery():
            query = long_query(statement.piece, definitions)
            return StatementTask(statement, (query,), partial(_select, statement, query))
        case Explain():
            return StatementTask(statement, (), partial(_explain, statement, system))
        case ShowTables():
            return StatementTask(statement, (), partial(_show_tables, statement))
        case ShowViews():
            return StatementTask(statement, (), partial(_show_views, statement))
        case ShowAssertions():
            return StatementTask(statement, (), partial(_show_assertions, statement))
        case ShowSchemas():
            return StatementTask(statement, (), partial(_show_schemas, statement))
        case ShowColumns():
            return StatementTask(statement, (), partial(_show_columns, statement))
        case ShowCreate():
            return StatementTask(statement, (), partial(_show_create, statement))
        case RefreshView():
            return StatementTask(statement, (), partial(_refresh, statement))
    raise Unsupported(
        f"{name_of(statement)} between BEGIN and COMMIT is not supported",
        "a block may have INSERT, UPDATE, DELETE, MERGE, TRUNCATE and SELECT; definitions take effect at "
        "once, so put them before BEGIN",
    )


def _change(statement: Statement, change: Change, returning: AdhocQuery | None, sight: Sight) -> Result:
    transaction = sight.changing()
    before = transaction.late_rows
    rows = change.apply(sight)
    count, notices = rows.shape[1], late_notices(transaction.late_rows - before)
    if returning is None:
        return Result(name_of(statement), sight.epoch, count, notices=notices)
    schema = change.definition.schema
    given = arrow_table((rows, np.ones(count, np.int64)), schema, sight.dictionary, None, row_column(schema))
    return Result(name_of(statement), sight.epoch, count, sight.ask(returning, is_written, given), notices)


def late_notices(late: int) -> tuple[str, ...]:
    """What the author of rows should know of those that were left out."""
    rows, are = ("1 row", "is") if late == 1 else (f"{late} rows", "are")
    return (f"{rows} came too late for the watermark of the table, and {are} left out",) if late else ()


def _truncate(statement: Statement, tables: Sequence[Definition], sight: Sight) -> Result:
    return Result(
        name_of(statement), sight.epoch, count=sum(delete_all_rows(table, sight) for table in tables)
    )


def _select(statement: Statement, query: AdhocQuery, sight: Sight) -> Result:
    return Result(name_of(statement), sight.epoch, answer=sight.ask(query, is_written))


def _catalog_task(
    statement: Select, definitions: Mapping[str, Definition], system: SystemTables
) -> StatementTask:
    """The task of a query that reads the system catalogs, or calls a function over them."""
    with failures_logged(statement.piece.source):
        tree = statement.query.copy()
        signals = take_signals(tree)
        tree, types = with_catalog(tree, system)
        query = adhoc_query(tree, {**definitions, **system.relations})

    def shown(answer: Answer) -> tuple[Answer, list[str]]:
        return signalled(replace(answer, named=types), signals, system.signal)

    def run(sight: Sight) -> Result:
        with failures_logged(statement.piece.source):
            answer, told = shown(replace(sight, system=system).ask(query, is_written))
        return Result(name_of(statement), sight.epoch, answer=answer, notices=tuple(told))

    return StatementTask(
        statement,
        (query,),
        run,
        shown=lambda answer: shown(answer)[0],
        of_catalogs=all(is_system(reference.relation) for reference in query.references),
        is_repeatable=not signals,
    )


def _change_task(
    statement: Insert | Update | Delete, definitions: Mapping[str, Definition], dictionary: Dictionary
) -> StatementTask:
    change = prepare(statement, definitions, dictionary)
    plain = None if change.plain is None else {change.definition.name: change.plain}
    returning = returning_query(statement.tree, change.definition.schema, definitions)
    queries = change.queries if returning is None else (*change.queries, returning)
    return StatementTask(statement, queries, partial(_change, statement, change, returning), plain)


def _insert_of_catalogs(
    statement: Insert, definitions: Mapping[str, Definition], dictionary: Dictionary, system: SystemTables
) -> StatementTask:
    """The task of an INSERT of rows of the catalogs."""
    with failures_logged(statement.piece.source):
        statement = insert_over_catalogs(statement, system)
        relations = cast(Mapping[str, Definition], {**definitions, **system.relations})  # only read
        task = _change_task(statement, relations, dictionary)
    return replace(task, run=lambda sight: task.run(replace(sight, system=system)))


def _explain(statement: Explain, system: Callable[[], SystemTables], sight: Sight) -> Result:
    answer, is_catalogs = answer_lines(statement, sight, system)
    if is_catalogs and statement.stage not in (None, ANSWER):
        raise Unsupported(
            "a query of the catalogs has no plan, because it cannot be a view", "leave the stage out"
        )
    if is_catalogs:
        return _texts(statement, sight, ("plan",), [[line] for line in answer])
    if statement.stage == WHY:
        told = why_lines(statement, _planned(statement, sight), sight)
        return _texts(statement, sight, ("why",), [[line] for line in told])
    if statement.stage == ANSWER:
        return _texts(statement, sight, ("plan",), [[line] for line in answer or _NO_ANSWER])
    planned = _planned(statement, sight)
    if statement.stage == COST:
        text = _cost(statement, planned, sight)
        return _texts(statement, sight, ("plan",), [[line] for line in text.rstrip("\n").split("\n")])
    if statement.stage == ANALYZE:
        view, planned = _running(statement, planned, sight)
        text = analyze(planned, sight.observe(view))
        return _texts(statement, sight, ("plan",), [[line] for line in text.rstrip("\n").split("\n")])
    lines: list[str] = [f"-- {ANSWER}", *answer] if answer and statement.stage is None else []
    for stage in STAGES if statement.stage is None else (statement.stage,):
        if statement.stage is None:
            lines.append(f"-- {stage}")
        lines += explain(planned, stage, "text").rstrip("\n").split("\n")
    return _texts(statement, sight, ("plan",), [[line] for line in lines])


def _cost(statement: Explain, planned: PlannedQuery, sight: Sight) -> str:
    if sight.transaction is not None:
        raise Unsupported("EXPLAIN COST in a block is not supported", "COMMIT first")
    view = statement.view
    sql = sight.definitions[view or ""].sql if statement.query is None else statement.query.text
    return cost_text(planned, sight.cost(planned.plan, view), sql)


def _running(statement: Explain, planned: PlannedQuery, sight: Sight) -> tuple[str, PlannedQuery]:
    """The view to observe and its plan: the named one, or a view with this query, which may have been planned
    when tables had other sizes."""
    views = (
        (definition.name, of)
        for definition in sight.definitions.values()
        if (of := definition.planned) is not None and (of.plan == planned.plan or of.sql == planned.sql)
    )
    name, planned = (statement.view, planned) if statement.view else next(views, (None, planned))
    if name is None:
        raise NotFound(
            "no view has this query",
            "EXPLAIN ANALYZE measures views: use CREATE VIEW first, or leave out ANALYZE",
        )
    reason = sight.snapshot.failure(name)
    if reason is not None:
        raise Conflict(f"view {name} does not run: {reason}", code="view_failed")
    return name, planned


def _planned(statement: Explain, sight: Sight) -> PlannedQuery:
    """The planned query to explain; for a view, the view's."""
    if statement.query is not None:
        relations = {name: definition.relation for name, definition in sight.definitions.items()}
        catalog = sized(relations, sight.size)
        try:
            return plan_text(statement.query.text, catalog, statement.piece.dialect, sight.limits, named=True)
        except PlannerError as error:
            statement.query.relocate(error)
            raise
    view = sight.definitions.get(statement.view or "")
    if view is None or not view.is_view:
        names = (name for name, definition in sight.definitions.items() if definition.is_view)
        hint = did_you_mean(statement.view or "", names)
        raise NotFound(f"there is no view called {statement.view}", hint)
    if view.planned is None:
        raise Conflict(f"view {view.name} has no plan: {view.failure}", code="view_failed")
    return view.planned


def _show_tables(statement: Statement, sight: Sight) -> Result:
    rows = []
    for name, table in sorted(sight.definitions.items()):
        if not table.is_view:
            key = ", ".join(table.schema.names[i] for i in table.relation.key or ())
            rows.append([name, _columns_text(table), key or None])
    return _texts(statement, sight, ("name", "columns", "primary_key"), rows)


def _show_views(statement: Statement, sight: Sight) -> Result:
    rows = [
        [name, _columns_text(view), sight.readable.state_of(view)[0], text_now(view)]
        for name, view in sorted(sight.definitions.items())
        if view.is_view
    ]
    return _texts(statement, sight, ("name", "columns", "state", "sql"), rows)


def _show_assertions(statement: Statement, sight: Sight) -> Result:
    rows = [
        [name, it.details.breach.value, sight.readable.state_of(it)[0], text_now(it)]
        for name, it in sorted(sight.definitions.items())
        if it.details.breach is not None
    ]
    return _texts(statement, sight, ("name", "breach", "state", "sql"), rows)


def _show_schemas(statement: Statement, sight: Sight) -> Result:
    return texts(name_of(statement), sight.epoch, ("name",), [[name] for name in sorted(sight.schemas)])


def _columns_text(definition: Definition) -> str:
    """The columns in the form of CREATE TABLE."""
    columns = definition.strict.columns
    return ", ".join(f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in columns)


def _show_columns(statement: ShowColumns, sight: Sight) -> Result:
    definition = _relation(statement.name, sight)
    rules, comments = definition.details.rules, definition.details.comments
    key = {definition.schema.names[i] for i in definition.relation.key or ()}
    rows: list[list] = []
    for column in definition.strict.columns:
        name = column.name
        filled = rules.defaults.get(name) or rules.generated.get(name)
        default = None if filled is None else filled.sql
        nullable = "YES" if column.nullable else "NO"
        rows.append(
            [name, str(column.type), nullable, "PRI" if name in key else None, default, comments.get(name)]
        )
    return _texts(statement, sight, ("name", "type", "nullable", "key", "default", "comment"), rows)


def _show_create(statement: ShowCreate, sight: Sight) -> Result:
    definition = _relation(statement.name, sight, statement.view)
    if statement.assertion:
        must_assert(statement.name, sight.definitions)
    name, comments = definition.name, definition.details.comments
    if definition.details.breach is not None:
        text = assertion_text(name, text_now(definition), definition.details.breach, comments)
    elif definition.is_view:
        text = view_text(name, None, text_now(definition), comments)
    else:
        names = definition.schema.names
        key = None if definition.relation.key is None else [names[i] for i in definition.relation.key]
        text = table_text(name, definition.strict, key, definition.details.rules, comments)
    return _texts(statement, sight, ("name", "statement"), [[name, text]])


def _refresh(statement: RefreshView, sight: Sight) -> Result:
    """Raises Conflict if the view has failed or is still being built."""
    check_health(_relation(statement.name, sight, True), sight.snapshot, sight.epoch)
    return Result(name_of(statement), sight.epoch)


def _relation(name: str, sight: Sight, view: bool | None = None) -> Definition:
    found = sight.definitions.get(name)
    if found is None or (view is not None and found.is_view != view):
        hint = did_you_mean(name, sight.definitions)
        if found is not None:
            hint = f"{name} is a {'view' if found.is_view else 'table'}"
        raise NotFound(f"there is no {'view' if view else 'table'} called {name}", hint)
    return found


def _texts(statement: Statement, sight: Sight, names: tuple[str, ...], rows: list[list]) -> Result:
    return texts(name_of(statement), sight.epoch, names, rows)


def texts(statement: str, epoch: int, names: tuple[str, ...], rows: list[list]) -> Result:
    """A result of rows of texts."""
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    answer = Answer(names, ("VARCHAR",) * len(names), pa.Table.from_arrays(columns, list(names)))
    return Result(statement, epoch, answer=answer)
