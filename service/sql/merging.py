"""MERGE: its queries all see the table as it was; then rows are deleted, updated and inserted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.adhoc.merge_queries import DeleteWhen, InsertWhen, UpdateWhen, whens
from planner.statements.statements import Merge
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict
from service.sql.dml import Change, table_of
from service.sql.sight import Sight
from service.sql.updating import assigned, check_assigned, check_writable, delete_rows, encoded, update_rows


def prepare_merge(statement: Merge, definitions: Mapping[str, Definition]) -> Change:
    """The change that a MERGE makes. Raises a PlannerError for errors found so far."""
    definition = table_of(statement.table, statement.tree.this, definitions)
    arms = whens(statement, definition.schema, definitions)
    queries = []
    for arm in arms:
        queries.append(arm.assignments.query if isinstance(arm, UpdateWhen) else arm.query)
        if isinstance(arm, UpdateWhen):
            check_assigned(arm.assignments, definition, statement.tree)
        elif isinstance(arm, InsertWhen):
            check_writable([c for c in arm.columns if c not in arm.defaults], definition, statement.tree)

    def act(sight: Sight) -> np.ndarray:
        words, counts = sight.rows(definition.name)
        nothing = words[:, :0]
        gone, before, after, new = [nothing], [nothing], [nothing], [nothing]
        places = [np.zeros(0, np.int64)]
        for arm in arms:
            match arm:
                case DeleteWhen(query=query):
                    rows = np.unique(sight.ask(query).table.column(0).to_numpy())
                    gone.append(np.repeat(words[:, rows], counts[rows], axis=1))
                    places.append(rows)
                case UpdateWhen(assignments=assignments):
                    rows, values = assigned(assignments, definition, sight)
                    changed = words[:, rows]
                    changed[list(assignments.columns)] = values
                    before.append(np.repeat(words[:, rows], counts[rows], axis=1))
                    after.append(np.repeat(changed, counts[rows], axis=1))
                    places.append(rows)
                case InsertWhen():
                    new.append(_new_rows(arm, definition, sight))
        _check_once(np.concatenate(places), definition)
        deleted = np.concatenate(gone, axis=1)
        delete_rows(definition, deleted, sight)
        updated = update_rows(
            definition, np.concatenate(before, axis=1), np.concatenate(after, axis=1), sight
        )
        inserts = TableChanges.of(ChangeOp.INSERT, definition.schema, np.concatenate(new, axis=1))
        inserted = sight.changing().apply({definition.name: inserts})[definition.name].words
        return np.concatenate((deleted, updated, inserted), axis=1)

    return Change(definition, tuple(queries), act)


def _new_rows(arm: InsertWhen, definition: Definition, sight: Sight) -> np.ndarray:
    answer = sight.ask(arm.query)
    words = encoded(answer, sight, definition, arm.columns)
    rows = np.repeat(definition.defaults()[:, np.newaxis], words.shape[1], axis=1)
    for place, column in enumerate(arm.columns):
        if column not in arm.defaults:
            rows[column] = words[place]
    return rows


def _check_once(places: np.ndarray, definition: Definition) -> None:
    if len(np.unique(places)) < len(places):
        raise Conflict(
            f"MERGE would change a row of table {definition.name} twice",
            "make sure that at most one row of its source matches each row",
            code="changed_twice",
        )
