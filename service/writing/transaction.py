"""A transaction: work that reads a state and changes tables.

Its changes become one epoch, or none if the work raises. They take effect only if what the work has read is
still so: no update is lost. The transaction reads tables with its own
changes; views do not have them until its epoch is published.

UNIQUE is checked after each `apply`, foreign keys when the work is done (`check_references`). Rows that
follow others by ON DELETE or ON UPDATE are changed at once.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from types import UnionType

import numpy as np

from engine.kernels.words import NULL
from engine.runtime.engine import Snapshot
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.distinct import distinct, numbered
from planner.statements.table_rules import Action
from service.changes.constraints import Bonds, KeyReference, KeySide, Single
from service.changes.lateness import Lateness
from service.changes.periods_apart import PeriodsApart
from service.changes.resolve import Net, Rows, TableBatch, conflict_of, named_key, sum_rows
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.definitions.known_relations import KnownRelations

Found = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Words int64[W, j], counts [j], and for each row the position [j] of its key among those asked for."""
Mark = tuple[dict[str, Rows], int, dict[str, np.ndarray]]
"""The changes of a transaction at one moment, their number, and the rows that came too late for them."""
_ALIVE = np.ones(1, np.bool_)


class Meaning(enum.Enum):
    """What changes mean for the rows that refer to theirs."""

    CHANGES = enum.auto()
    """Rows are deleted, and upserts replace them."""
    UPDATE = enum.auto()
    """The first half are DELETEs of rows, the second INSERTs of those that take their places."""
    TRUNCATION = enum.auto()
    """Rows that refer to deleted ones stay."""


class Transaction:
    """Used by one call of the work."""

    def __init__(self, snapshot: Snapshot, known: KnownRelations, dictionary: Dictionary) -> None:
        self.snapshot = snapshot
        """The published state, without the transaction's own changes."""
        self.changes = 0
        """The number of applied changes."""
        self.known = known
        """The tables and views as they were when the snapshot was published."""
        self._dictionary = dictionary
        self._pending: dict[str, Rows] = {}
        self.late: dict[str, np.ndarray] = {}
        """By table, the rows int64[W, n] that are left out, because they come too late."""

    @property
    def late_rows(self) -> int:
        return sum(words.shape[1] for words in self.late.values())

    @property
    def definitions(self) -> Mapping[str, Definition]:
        return self.known.all

    @property
    def pending(self) -> Mapping[str, Rows]:
        """By table, the rows that the transaction adds and, with negative counts, removes."""
        return self._pending

    def rows(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The newest rows of a table or view: distinct words int64[W, n], sorted, and counts int64[n] > 0."""
        words, counts = self.snapshot.rows(name)
        if name not in self._pending:
            return words, counts
        more_words, more_counts = self._pending[name]
        return sum_rows(np.concatenate((words, more_words), axis=1), np.concatenate((counts, more_counts)))

    def apply(
        self, changes: Mapping[str, TableChanges], meaning: Meaning = Meaning.CHANGES
    ) -> dict[str, TableChanges]:
        """Adds changes to the transaction; none if it raises Conflict or Invalid. Returns them completed."""
        before, late = dict(self._pending), dict(self.late)
        try:
            applied = {table: self._apply(table, part, meaning) for table, part in changes.items()}
            broken = self._broken(Single | PeriodsApart)
            if broken is not None:
                raise broken
        except BaseException:
            self._pending, self.late = before, late
            raise
        self.changes += sum(len(part) for part in applied.values())
        return applied

    def forget(self) -> None:
        """Discards all changes."""
        self._pending, self.late = {}, {}
        self.changes = 0

    def mark(self) -> Mark:
        """What has been changed so far, for `return_to`."""
        return dict(self._pending), self.changes, dict(self.late)

    def return_to(self, mark: Mark) -> None:
        """Discards the changes since `mark`."""
        self._pending, self.changes, self.late = dict(mark[0]), mark[1], dict(mark[2])

    def check_references(self) -> None:
        """Raises Conflict if a foreign key is broken."""
        broken = self._broken(KeyReference)
        if broken is not None:
            raise broken

    def find(self, side: KeySide, keys: np.ndarray) -> Found:
        """The newest rows of a table by distinct keys int64[K, m], with the transaction's own changes."""
        definition = self.known.get(side.table, view=False)
        own = definition.relation.key
        if side.index != side.table:
            places, counts, positions = self._find(side, keys)
            if own is None:
                return places, counts, positions
            found, counts, of = self.find(_primary(definition), places[list(own)])
            return found, counts, positions[of]
        return self._find(side, keys)

    def _find(self, side: KeySide, keys: np.ndarray) -> Found:
        """Whole rows of a table; rows from an index have NULL in the columns that it lacks."""
        width = len(side.schema)
        words, counts, positions = self.snapshot.lookup(side.index, np.ascontiguousarray(keys))
        columns = list(range(width))
        if side.index != side.table:
            columns = list(self._index_columns(side))
        whole = np.full((width, words.shape[1]), NULL, np.int64)
        whole[columns] = words
        if side.table not in self._pending:
            return whole, counts, positions
        more_words, more_counts = self._pending[side.table]
        mine, places = _matches(more_words[list(side.columns)], keys)
        more = np.full((width, len(mine)), NULL, np.int64)
        more[columns] = more_words[columns][:, mine]
        positioned = np.concatenate((np.vstack((positions, whole)), np.vstack((places, more))), axis=1)
        summed, counts = sum_rows(positioned, np.concatenate((counts, more_counts[mine])))
        return np.ascontiguousarray(summed[1:]), counts, summed[0]

    def _index_columns(self, side: KeySide) -> Sequence[int]:
        key = self.known.get(side.table).relation.key
        rest = range(len(side.schema)) if key is None else key
        return (*side.columns, *(i for i in rest if i not in side.columns))

    def _apply(self, table: str, part: TableChanges, meaning: Meaning) -> TableChanges:
        definition = self.known.get(table, view=False)
        part = self.in_time(definition, definition.admitted(part))
        if not len(part):
            return part
        key = definition.relation.key
        primary, grows = _primary(definition), definition.details.rules.append_only
        batch = TableBatch(
            part, np.zeros(len(part), np.int64), key, lambda keys: self._find(primary, keys), grows
        )
        conflict = batch.conflict(_ALIVE)
        if conflict is not None:
            _, place, op = conflict
            row = named_key(definition.schema, key, batch.row(place), self._dictionary)
            raise conflict_of(table, op, place, row, grows)
        net = batch.net(_ALIVE)
        words, counts = self._pending.get(table, (net.words[:, :0], net.diffs[:0]))
        self._pending[table] = sum_rows(
            np.concatenate((words, net.words), axis=1), np.concatenate((counts, net.diffs))
        )
        if meaning is Meaning.CHANGES and part.removes.any():
            for reference in self.known.bonds.on_delete(table):
                self._follow_deleted(reference, net)
        for reference in self.known.bonds.on_update(table):
            self._follow_moved(reference, *_replaced(part, net, key, meaning))
        return part

    def in_time(self, definition: Definition, part: TableChanges) -> TableChanges:
        """The changes without rows that come too late. All are judged by what the table had before the
        transaction."""
        lateness = Lateness.of(definition.relation, self.snapshot)
        if lateness is None:
            return part
        late = lateness.late(part.words, np.zeros(len(part), np.int64), ~part.removes)
        if not late.any():
            return part
        rows = [part.words[:, late]]
        if definition.name in self.late:
            rows.insert(0, self.late[definition.name])
        self.late[definition.name] = np.concatenate(rows, axis=1)
        return TableChanges(part.schema, part.ops[~late], np.ascontiguousarray(part.words[:, ~late]))

    def _follow_deleted(self, reference: KeyReference, net: Net) -> None:
        """Applies ON DELETE to the rows that refer to deleted ones."""
        gone = net.words[list(reference.parent.columns)][:, net.diffs < 0]
        gone = distinct(gone[:, (gone != NULL).all(axis=0)])
        if not gone.shape[1]:
            return
        _, _, left = self._find(reference.parent, gone)
        gone = np.delete(gone, left, axis=1)
        rows, counts, _ = self._referring(reference, gone)
        if not rows.shape[1]:
            return
        every = np.repeat(rows, counts, axis=1)
        if reference.on_delete is Action.CASCADE:
            child = self.known.get(reference.child.table, view=False)
            self._apply(child.name, TableChanges.of(ChangeOp.DELETE, child.schema, every), Meaning.CHANGES)
            return
        self._set(reference, every, NULL)

    def _follow_moved(self, reference: KeyReference, before: np.ndarray, after: np.ndarray) -> None:
        """Applies ON UPDATE to the rows that refer to rows int64[W, n] which are replaced, one by one."""
        columns = list(reference.parent.columns)
        old, new = before[columns], after[columns]
        moved = (old != NULL).all(axis=0) & (old != new).any(axis=0)
        old, new = np.ascontiguousarray(old[:, moved]), new[:, moved]
        rows, counts, of = self._referring(reference, old)
        if rows.shape[1]:
            every = np.repeat(rows, counts, axis=1)
            keys = new[:, np.repeat(of, counts)]
            self._set(reference, every, keys if reference.on_update is Action.CASCADE else NULL)

    def _referring(self, reference: KeyReference, keys: np.ndarray) -> Found:
        """The rows that refer to rows of distinct keys int64[K, m]."""
        if keys.shape[1]:
            return self.find(reference.child, keys)
        none = np.zeros(0, np.int64)
        return np.zeros((len(self.known.get(reference.child.table).schema), 0), np.int64), none, none

    def _set(self, reference: KeyReference, rows: np.ndarray, keys: np.ndarray | int) -> None:
        """Lets rows int64[W, n] refer to other keys int64[K, n], or to NULL."""
        child = self.known.get(reference.child.table, view=False)
        changed = rows.copy()
        changed[list(reference.child.columns)] = keys
        self._apply(child.name, replacing(child.schema, rows, changed), Meaning.UPDATE)

    def _broken(self, kind: type | UnionType) -> Exception | None:
        """The error of a bond of this kind that the pending changes break; None if all hold."""
        bonds = Bonds(tuple(b for b in self.known.bonds.of(self._pending) if isinstance(b, kind)))
        if not bonds.all:
            return None
        nets = {t: Net(words, np.zeros(len(n), np.int64), n) for t, (words, n) in self._pending.items()}
        broken = bonds.broken(nets, self.snapshot, self._dictionary)
        return None if broken is None else broken.error


def replacing(schema: Schema, before: np.ndarray, after: np.ndarray) -> TableChanges:
    """The changes of an UPDATE of rows int64[W, n]."""
    deleted = TableChanges.of(ChangeOp.DELETE, schema, before)
    return TableChanges.concat([deleted, TableChanges.of(ChangeOp.INSERT, schema, after)])


def _replaced(
    part: TableChanges, net: Net, key: tuple[int, ...] | None, meaning: Meaning
) -> tuple[np.ndarray, np.ndarray]:
    """The rows int64[W, n] that others replace, and those others: of an UPDATE all, else by upserts."""
    if meaning is Meaning.UPDATE:
        half = len(part) // 2
        return part.words[:, :half], part.words[:, half:]
    upserts = part.ops == ChangeOp.UPSERT
    nothing = part.words[:, :0]
    if key is None or not upserts.any():
        return nothing, nothing
    places = list(key)
    gone, new = net.words[:, net.diffs < 0], net.words[:, net.diffs > 0]
    mine, of = _matches(gone[places], np.ascontiguousarray(new[places]))
    upserted = np.zeros(new.shape[1], np.bool_)
    upserted[_matches(new[places], distinct(part.words[places][:, upserts]))[0]] = True
    kept = upserted[of]
    return gone[:, mine[kept]], new[:, of[kept]]


def _primary(definition: Definition) -> KeySide:
    """A table's rows by its primary key, or as a whole."""
    key, schema = definition.relation.key, definition.schema
    return KeySide(
        definition.name, tuple(range(len(schema))) if key is None else key, definition.name, schema
    )


def _matches(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in rows int64[K, n] that equal one of the distinct keys [K, m], and the places of those keys."""
    _, number = numbered(np.concatenate((keys, rows), axis=1))
    of_key = np.full(number.max(initial=-1) + 1, -1, np.int64)
    of_key[number[: keys.shape[1]]] = np.arange(keys.shape[1])
    place = of_key[number[keys.shape[1] :]]
    mine = np.flatnonzero(place >= 0)
    return mine, place[mine]
