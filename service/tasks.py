"""Statements that read or change rows, made ready to run: what a script's `Task` is.

A task is prepared from a statement and the definitions of the moment, without reading
anything, and run over a `Sight`: the newest snapshot, or a transaction. CREATE and DROP
are no tasks: they change the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.dictionary import Dictionary
from planner import PlannedQuery, plan_query
from planner.adhoc import AdhocQuery, adhoc_query
from planner.errors import PlannerError, Unsupported
from planner.statements import (
    ANALYZE,
    STAGES,
    Begin,
    Commit,
    CreateTable,
    CreateView,
    Delete,
    DropTable,
    DropView,
    Explain,
    Insert,
    Select,
    ShowTables,
    ShowViews,
    Statement,
    Update,
)
from service.adhoc import Sight
from service.changes import TableChanges
from service.definitions import Definition
from service.dml import Change, prepare
from service.errors import Conflict, NotFound
from service.reads import check_health
from service.results import document, is_written

_NAMES: dict[type[Statement], str] = {
    Begin: "BEGIN",
    Commit: "COMMIT",
    CreateTable: "CREATE TABLE",
    CreateView: "CREATE VIEW",
    Delete: "DELETE",
    DropTable: "DROP TABLE",
    DropView: "DROP VIEW",
    Explain: "EXPLAIN",
    Insert: "INSERT",
    Select: "SELECT",
    ShowTables: "SHOW TABLES",
    ShowViews: "SHOW VIEWS",
    Update: "UPDATE",
}


@dataclass(frozen=True)
class Result:
    """What one statement gives: rows with their columns, or a count where it has a meaning."""

    statement: str
    epoch: int
    count: int | None = None
    columns: list[dict[str, str]] | None = None
    rows: list[list] | None = None

    def document(self) -> dict[str, Any]:
        """The result as JSON has it."""
        members = {"statement": self.statement, "epoch": self.epoch, "count": self.count}
        members |= {"columns": self.columns, "rows": self.rows}
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Task:
    """`queries` are all that it asks; `plain` its changes by table, if it need not run to know them."""

    statement: Statement
    queries: tuple[AdhocQuery, ...]
    run: Callable[[Sight], Result]
    plain: Mapping[str, TableChanges] | None = None


def name_of(statement: Statement) -> str:
    """What a result calls the statement."""
    return _NAMES[type(statement)]


def task_of(statement: Statement, definitions: Mapping[str, Definition], dictionary: Dictionary) -> Task:
    """The task of a statement; a PlannerError if it is wrong, Unsupported if it is none."""
    match statement:
        case Insert() | Update() | Delete():
            change = prepare(statement, definitions, dictionary)
            plain = None if change.plain is None else {change.definition.name: change.plain}
            return Task(statement, change.queries, partial(_change, statement, change), plain)
        case Select():
            query = adhoc_query(statement.query.copy(), definitions)
            return Task(statement, (query,), partial(_select, statement, query))
        case Explain():
            return Task(statement, (), partial(_explain, statement))
        case ShowTables():
            return Task(statement, (), partial(_show_tables, statement))
        case ShowViews():
            return Task(statement, (), partial(_show_views, statement))
    raise Unsupported(
        f"{name_of(statement)} between BEGIN and COMMIT is not supported",
        "INSERT, UPDATE, DELETE and SELECT are; definitions take effect at once, so put them before BEGIN",
    )


def _change(statement: Statement, change: Change, sight: Sight) -> Result:
    return Result(name_of(statement), sight.epoch, count=change.apply(sight))


def _select(statement: Statement, query: AdhocQuery, sight: Sight) -> Result:
    columns, rows = document(sight.ask(query, is_written))
    return Result(name_of(statement), sight.epoch, columns=columns, rows=rows)


def _explain(statement: Explain, sight: Sight) -> Result:
    planned = _planned(statement, sight)
    if statement.stage == ANALYZE:
        text = planned.analyze(sight.observe(_running(statement, planned, sight)))
        return _texts(statement, sight, ("plan",), [[line] for line in text.rstrip("\n").split("\n")])
    lines: list[str] = []
    for stage in STAGES if statement.stage is None else (statement.stage,):
        if statement.stage is None:
            lines.append(f"-- {stage}")
        lines += planned.explain(stage, "text").rstrip("\n").split("\n")
    return _texts(statement, sight, ("plan",), [[line] for line in lines])


def _running(statement: Explain, planned: PlannedQuery, sight: Sight) -> str:
    """The view that is observed: the one that is named, or one of this very query."""
    views = (
        d for d in sight.definitions.values() if d.planned is not None and d.planned.plan == planned.plan
    )
    name = statement.view or next((view.name for view in views), None)
    if name is None:
        raise NotFound(
            "no view is kept of this query", "EXPLAIN ANALYZE measures what runs: CREATE VIEW, or no ANALYZE"
        )
    reason = sight.snapshot.failure(name)
    if reason is not None:
        raise Conflict(f"view {name} does not run: {reason}", code="view_quarantined")
    return name


def _planned(statement: Explain, sight: Sight) -> PlannedQuery:
    """The planned query that is explained: of a view its own."""
    if statement.query is not None:
        catalog = {name: definition.relation for name, definition in sight.definitions.items()}
        try:
            return plan_query(statement.query.text, catalog, statement.piece.dialect)
        except PlannerError as error:
            statement.query.relocate(error)
            raise
    view = sight.definitions.get(statement.view or "")
    if view is None or not view.is_view:
        raise NotFound(f"there is no view called {statement.view}")
    if view.planned is None:
        raise Conflict(f"view {view.name} has no plan: {view.failure}", code="view_quarantined")
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
        [name, _columns_text(view), _state(view, sight), view.sql]
        for name, view in sorted(sight.definitions.items())
        if view.is_view
    ]
    return _texts(statement, sight, ("name", "columns", "state", "sql"), rows)


def _columns_text(definition: Definition) -> str:
    """The columns as CREATE TABLE has them."""
    columns = definition.schema.columns
    return ", ".join(f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in columns)


def _state(view: Definition, sight: Sight) -> str:
    """ready, errors or quarantined."""
    try:
        check_health(view, sight.snapshot, sight.epoch)
    except Conflict as error:
        return "quarantined" if error.code == "view_quarantined" else "errors"
    return "ready"


def _texts(statement: Statement, sight: Sight, names: tuple[str, ...], rows: list[list]) -> Result:
    columns = [{"name": name, "type": "TEXT"} for name in names]
    return Result(name_of(statement), sight.epoch, columns=columns, rows=rows)
