"""INSERT whose rows may conflict with others in a key: ON CONFLICT, and REPLACE.

Rows are processed in the order of the statement, as in PostgreSQL: a row meets what earlier rows have done.
Rows of different keys cannot meet, so the first rows of all keys are processed together, then the second
rows. A key with a NULL conflicts with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.words import NULL
from engine.state.distinct import numbered
from planner.adhoc.conflict import OnConflict, with_excluded
from planner.adhoc.dml_queries import row_column
from planner.errors import InvalidQuery, Unsupported
from planner.relation_names import own_name
from planner.statements.statements import Insert
from planner.statements.table_rules import Unique
from service.changes.constraints import KeySide, side
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict
from service.reading.given_tables import arrow_table
from service.sql.sight import Sight
from service.sql.updating import assigned, check_assigned, update_rows


@dataclass(frozen=True, eq=False)
class Upsert:
    """`conflict` is None for REPLACE. `arbiters` are the keys in which rows may conflict."""

    definition: Definition
    conflict: OnConflict | None
    arbiters: tuple[KeySide, ...]


def arbiters_of(
    statement: Insert, conflict: OnConflict | None, definition: Definition
) -> tuple[KeySide, ...] | None:
    """The keys in which rows may conflict; None if the statement does not say. Raises a PlannerError."""
    if conflict is None and not statement.replace:
        return None
    known = _keys(definition)
    if conflict is None or not (conflict.target or conflict.constraint):
        found = list(known.values())
    elif conflict.constraint is not None:
        found = [known[conflict.constraint]] if conflict.constraint in known else []
    else:
        asked = set(conflict.target)
        names = definition.schema.names
        found = [s for s in known.values() if {names[i] for i in s.columns} == asked]
    if not found and (conflict is None or conflict.target or conflict.constraint or conflict.update):
        raise InvalidQuery(
            f"table {definition.name} has no such key for ON CONFLICT",
            f"its keys are {', '.join(known)}" if known else "it has neither a primary key nor a UNIQUE",
        )
    if len(found) > 1 and (conflict is None or conflict.update is not None):
        raise Unsupported(
            f"rows can conflict in several keys of table {definition.name}",
            "name one with ON CONFLICT (column, ...)",
        )
    if conflict is not None and conflict.update is not None:
        check_assigned(conflict.update, definition, statement.tree)
    return tuple(found)


def inserted(upsert: Upsert, words: np.ndarray, sight: Sight) -> np.ndarray:
    """Inserts rows int64[W, n], or handles those that conflict. Returns the rows that changed."""
    definition = upsert.definition
    admitted = definition.admitted(TableChanges.of(ChangeOp.INSERT, definition.schema, words))
    words = sight.changing().in_time(definition, admitted).words
    if upsert.conflict is not None and upsert.conflict.update is None:
        kept = words[:, ~_meet(words, upsert.arbiters, sight)]
        sight.changing().apply({definition.name: TableChanges.of(ChangeOp.INSERT, definition.schema, kept)})
        return kept
    (arbiter,) = upsert.arbiters
    again = upsert.conflict is None or upsert.conflict.again
    group, layers = _layers(words[list(arbiter.columns)])
    touched = np.zeros(len(group), np.bool_)
    places = [np.zeros(0, np.int64)]
    rows = [words[:, :0]]
    for layer in layers:
        if touched[group[layer]].any() and not again:
            raise Conflict(
                f"ON CONFLICT DO UPDATE would change a row of table {definition.name} twice",
                "give each key in at most one row of the statement",
                code="changed_twice",
            )
        changed, after = _put(upsert, arbiter, words[:, layer], sight)
        touched[group[layer[changed]]] = True
        places.append(layer[changed])
        rows.append(after)
    return np.concatenate(rows, axis=1)[:, np.argsort(np.concatenate(places), kind="stable")]


def _keys(definition: Definition) -> dict[str, KeySide]:
    """The keys of a table, by the names of their constraints."""
    relation, rules = definition.relation, definition.details.rules
    sides = {unique.name: side(relation, unique.columns) for unique in rules.of(Unique)}
    if relation.key is None:
        return sides
    names = [relation.schema.names[i] for i in relation.key]
    return {f"{own_name(definition.name)}_pkey": side(relation, names), **sides}


def _meet(words: np.ndarray, arbiters: tuple[KeySide, ...], sight: Sight) -> np.ndarray:
    """Which rows conflict with an existing row, or with an earlier one of the statement, bool[n]."""
    count = words.shape[1]
    meet = np.zeros(count, np.bool_)
    groups = []
    for arbiter in arbiters:
        keys = words[list(arbiter.columns)]
        told = (keys != NULL).all(axis=0)
        known, group = numbered(keys)
        there = np.zeros(known.shape[1], np.bool_)
        there[sight.changing().find(arbiter, known)[2]] = True
        meet |= there[group] & told
        groups.append(np.where(told, group, -1))
    taken: list[set[int]] = [set() for _ in groups]
    for row in np.flatnonzero(~meet).tolist():
        own = [int(group[row]) for group in groups]
        if any(key in seen for key, seen in zip(own, taken, strict=True)):
            meet[row] = True
            continue
        for key, seen in zip(own, taken, strict=True):
            seen.update({key} - {-1})
    return meet


def _layers(keys: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The numbers of keys int64[K, n], and the places of each key's first row, of each second row, ..."""
    if not keys.shape[1]:
        return np.zeros(0, np.int64), []
    _, group = numbered(keys)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    rank[(keys == NULL).any(axis=0)] = 0
    return group, [np.flatnonzero(rank == i) for i in range(int(rank.max()) + 1)]


def _put(upsert: Upsert, arbiter: KeySide, words: np.ndarray, sight: Sight) -> tuple[np.ndarray, np.ndarray]:
    """Inserts or updates rows of different keys. Returns the places of changed rows, and the rows."""
    definition, transaction = upsert.definition, sight.changing()
    keys = np.ascontiguousarray(words[list(arbiter.columns)])
    told = np.flatnonzero((keys != NULL).all(axis=0))
    there, _, of = transaction.find(arbiter, np.ascontiguousarray(keys[:, told]))
    met = told[of]
    new = np.setdiff1d(np.arange(words.shape[1]), met)
    if upsert.conflict is None or upsert.conflict.update is None:
        changed, before, after = met, there, words[:, met]
    else:
        both = np.concatenate((there, words[:, met]))
        schema = with_excluded(definition.schema)
        ones = np.ones(both.shape[1], np.int64)
        given = arrow_table((both, ones), schema, sight.dictionary, None, row_column(schema))
        update = upsert.conflict.update
        rows, values = assigned(update, definition, sight, given)
        changed, before = met[rows], there[:, rows]
        after = before.copy()
        after[list(update.columns)] = values
    after = update_rows(definition, before, after, sight)
    fresh = TableChanges.of(ChangeOp.INSERT, definition.schema, words[:, new])
    applied = transaction.apply({definition.name: fresh})[definition.name]
    return np.concatenate((changed, new)), np.concatenate((after, applied.words), axis=1)
