"""INSERT, UPDATE and DELETE: what a statement changes in its table.

A `Change` is prepared before the writer's turn and evaluated in it, over the newest state, so no update is
lost. An INSERT of plain values needs no evaluation: `Change.plain` has its rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import AdhocQuery, unknown_table
from planner.adhoc.conflict import on_conflict
from planner.adhoc.dml_queries import delete_query, update_query
from planner.errors import InvalidQuery
from planner.positions import fail
from planner.statements.statements import Delete, Insert, Update
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict
from service.sql.inserting import new_rows
from service.sql.sight import Sight
from service.sql.updating import assigned, change_portions, check_assigned, delete_rows, update_rows
from service.sql.upserting import Upsert, arbiters_of, inserted
from service.writing.transaction import Meaning


@dataclass(frozen=True, eq=False)
class Change:
    """A statement's effect on the table of `definition`. `queries` are all that it asks.

    `plain` has the changes if they need no evaluation. `act` makes them in a sight's transaction, and returns
    the rows int64[W, n] that the statement counts and returns.
    """

    definition: Definition
    queries: tuple[AdhocQuery, ...]
    act: Callable[[Sight], np.ndarray]
    plain: TableChanges | None = None

    def apply(self, sight: Sight) -> np.ndarray:
        """Makes the change in the sight's transaction. Returns the rows that the statement counts."""
        name = self.definition.name
        found = sight.definitions.get(name)
        if found is None or found.id != self.definition.id:
            raise Conflict(f"table {name} was dropped meanwhile", code="table_dropped")
        if found.schema != self.definition.schema:
            raise Conflict(f"table {name} was altered meanwhile", code="table_changed")
        return self.act(sight)


def prepare(
    statement: Insert | Update | Delete, definitions: Mapping[str, Definition], dictionary: Dictionary
) -> Change:
    """The change that a statement makes. Raises a PlannerError or InvalidValue for errors found so far."""
    definition = table_of(statement.table, statement.tree.this, definitions)
    match statement:
        case Insert():
            return _insert(statement, definition, definitions, dictionary)
        case Update():
            return _update(statement, definition, definitions)
        case Delete():
            return _delete(statement, definition, definitions)


def table_of(name: str, node: exp.Expression, definitions: Mapping[str, Definition]) -> Definition:
    """The table that a statement changes. Raises UnknownTable or InvalidQuery, with the place."""
    found = definitions.get(name)
    if found is None:
        fail(unknown_table(name, definitions), node)
    if found.is_view:
        fail(InvalidQuery(f"{found.name} is a view: its rows cannot be changed", "change its tables"), node)
    return found


def _insert(
    statement: Insert,
    definition: Definition,
    definitions: Mapping[str, Definition],
    dictionary: Dictionary,
) -> Change:
    conflict = on_conflict(statement, definition.schema, definitions)
    arbiters = arbiters_of(statement, conflict, definition)
    new = new_rows(statement, definition, definitions, dictionary)

    def act(sight: Sight) -> np.ndarray:
        words = new.words(sight)
        if arbiters is None:
            changes = TableChanges.of(ChangeOp.INSERT, definition.schema, words)
            return sight.changing().apply({definition.name: changes})[definition.name].words
        return inserted(Upsert(definition, conflict, arbiters), words, sight)

    queries = (*new.queries, *(conflict.queries if conflict is not None else ()))
    plain = None
    if arbiters is None and new.plain is not None and statement.tree.args.get("returning") is None:
        plain = TableChanges.of(ChangeOp.INSERT, definition.schema, new.plain)
    return Change(definition, queries, act, plain)


def _update(statement: Update, definition: Definition, definitions: Mapping[str, Definition]) -> Change:
    assignments = update_query(statement, definition.schema, definitions)
    check_assigned(assignments, definition, statement.tree)

    def act(sight: Sight) -> np.ndarray:
        rows, values = assigned(assignments, definition, sight)
        if len(np.unique(rows)) < len(rows):
            raise InvalidQuery(
                f"the update gives a row of table {definition.name} several new values",
                "a row may match several rows of FROM only if they give it the same values",
            )
        words, counts = sight.target(assignments.query)
        before, counts = words[:, rows], counts[rows]
        after = before.copy()
        after[list(assignments.columns)] = values
        before, after = np.repeat(before, counts, axis=1), np.repeat(after, counts, axis=1)
        if assignments.in_portion:
            return change_portions(definition, before, after, after, sight)
        return update_rows(definition, before, after, sight)

    return Change(definition, (assignments.query,), act)


def _delete(statement: Delete, definition: Definition, definitions: Mapping[str, Definition]) -> Change:
    found = delete_query(statement, definition.schema, definitions)

    def act(sight: Sight) -> np.ndarray:
        if not found.in_portion:
            gone, _ = _targets(np.unique(sight.ask(found.query).table.column(0).to_numpy()), sight)
            delete_rows(definition, gone, sight)
            return gone
        rows, ends = assigned(found, definition, sight)
        rows, firsts = np.unique(rows, return_index=True)
        gone, counts = _targets(rows, sight)
        within = gone.copy()
        within[list(found.columns)] = np.repeat(ends[:, firsts], counts, axis=1)
        change_portions(definition, gone, within, within[:, :0], sight)
        return within

    def _targets(rows: np.ndarray, sight: Sight) -> tuple[np.ndarray, np.ndarray]:
        words, counts = sight.target(found.query)
        return np.repeat(words[:, rows], counts[rows], axis=1), counts[rows]

    return Change(definition, (found.query,), act)


def delete_all_rows(definition: Definition, sight: Sight) -> int:
    """Deletes every row of a table. Returns their number. Rows that refer to them stay."""
    words, counts = sight.rows(definition.name)
    gone = TableChanges.of(ChangeOp.DELETE, definition.schema, np.repeat(words, counts, axis=1))
    sight.changing().apply({definition.name: gone}, Meaning.TRUNCATION)
    return len(gone)
