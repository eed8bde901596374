"""Merging: what a branch has changed in the tables becomes one epoch of its parent.

The unit of a conflict is a key: the branch and its parent have changed the row of a key since they parted,
and not to the same row. With valid time, it is all rows of the key: they are taken from one side. In a table
without a primary key, what was inserted is inserted, and what was deleted is deleted; there is a conflict
where the parent does not have a row any more that the branch has deleted.

The branch goes on. What was merged of it is no change of the parent's own, nor one of the branch's that would
have to be merged again. Of a live branch, what it has changed itself is merged, and what its parent had
before the branch first changed a key is no conflict.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from sqlalchemy import Connection

from engine.state.distinct import distinct, numbered
from engine.state.reading import Rows
from engine.state.snapshot import Snapshot
from service.catalog.branch_records import MergedEpochs, add_merge
from service.changes.resolve import named_key, sum_rows
from service.changes.table_changes import Applied, ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict
from service.reading.lanes import Lane
from service.running.branches.branch_diff import shown
from service.running.branches.branch_timeline import BranchTimeline
from service.running.branches.own_changes import own_changes, own_delta
from service.writing.transaction import Meaning, Transaction

_DRAFTS = 5
"""Times that a merge is drafted beside the parent's writer, before it runs in its turn."""
_NAMED = 10
"""The most keys that the error of a conflict names."""


class ConflictChoice(StrEnum):
    """FAIL merges nothing if there is a conflict; OURS leaves the parent's row, THEIRS takes the branch's."""

    FAIL = "fail"
    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Merged:
    """A merge: `applied` has its epoch; `conflicts` keys were decided as the caller has chosen."""

    applied: Applied
    conflicts: int


async def merge(branch: BranchTimeline, on_conflict: ConflictChoice, lane: Lane) -> Merged:
    """Merges a branch into its parent. Raises Conflict `merge_conflict`, and what changes of the tables may
    raise: then nothing is merged."""
    with nullcontext() if branch.following is None else branch.following.merging():
        return await _merged(branch, on_conflict, lane)


async def _merged(branch: BranchTimeline, on_conflict: ConflictChoice, lane: Lane) -> Merged:
    parent = branch.parent
    for _ in range(_DRAFTS):
        merging = _Merging(branch, on_conflict)
        draft = await lane.run(parent.draft, merging.apply)
        applied = await parent.settle(draft, merging.receipt)
        if applied is not None:
            return merging.done(applied)
    merging = _Merging(branch, on_conflict)
    applied, _ = await parent.transact(merging.apply, merging.receipt)
    return merging.done(applied)


class _Merging:
    """One attempt to merge a branch as it is now."""

    def __init__(self, branch: BranchTimeline, on_conflict: ConflictChoice) -> None:
        self._branch = branch
        self._snapshot = branch.snapshot
        self._since = branch.merges[-1].epoch if branch.merges else branch.record.beginning
        self._on_conflict = on_conflict
        self._conflicts: list[str] = []
        self._made: MergedEpochs | None = None

    def receipt(self, connection: Connection, applied: Applied) -> None:
        """Records the merge in the transaction of its epoch."""
        self._made = MergedEpochs(applied.epoch, self._snapshot.upper - 1)
        add_merge(connection, self._branch.record.id, self._made)

    def done(self, applied: Applied) -> Merged:
        """Notes on the branch that it was merged."""
        if self._made is not None:
            self._branch.merges = (*self._branch.merges, self._made)
        return Merged(applied, len(self._conflicts))

    def apply(self, transaction: Transaction) -> None:
        """Makes the branch's changes in a transaction of its parent. Raises Conflict."""
        changes: dict[str, TableChanges] = {}
        for name, definition in self._branch.definitions().items():
            if not definition.is_view:
                found = self._of_table(definition, transaction)
                if found is not None and len(found):
                    changes[name] = found
        if self._conflicts and self._on_conflict is ConflictChoice.FAIL:
            raise self._refusal()
        if changes:
            transaction.apply(changes, Meaning.TRUNCATION)  # what follows a deletion is among the changes

    def _refusal(self) -> Conflict:
        branch, number = self._branch, len(self._conflicts)
        named = ", ".join(self._conflicts[:_NAMED])
        more = f", and {number - _NAMED} more" if number > _NAMED else ""
        return Conflict(
            f"branch {branch.name} and {shown(branch.parent)} have both changed {named}{more}",
            "merge with ON CONFLICT OURS to keep the parent's rows there, or THEIRS to take the branch's",
            code="merge_conflict",
        )

    def _of_table(self, definition: Definition, transaction: Transaction) -> TableChanges | None:
        """The changes of a table; None if there are none. Notes its conflicts."""
        words, diffs = self._own_changes(definition.name, self._since, self._snapshot.upper - 1)
        if not len(diffs):
            return None
        key = definition.relation.declared_key
        if key is None:
            return self._of_bag(definition, transaction, words, diffs)
        keys = distinct(words[list(key)])
        mine, theirs = (
            _RowsOfKeys.of(snapshot, definition.name, keys)
            for snapshot in (self._snapshot, transaction.snapshot)
        )
        steps = mine.steps_from(theirs, list(definition.relation.key or ()))
        differ = np.zeros(keys.shape[1], np.bool_)
        for step in steps.values():
            differ[step.places] = True
        clash = differ & _inside(keys, self._changed_meanwhile(definition, transaction.snapshot))
        if definition.details.rules.append_only:  # the branch may have left the parent's row out as late
            clash[theirs.places] |= differ[theirs.places]
        self._note(definition, keys[:, clash])
        taken = differ & ~clash if self._on_conflict is ConflictChoice.OURS else differ
        return TableChanges.concat(
            [
                TableChanges.of(op, definition.schema, step.where(taken[step.places]).rows)
                for op, step in steps.items()
            ]
        )

    def _changed_meanwhile(self, definition: Definition, parent: Snapshot) -> np.ndarray:
        """The keys that the parent has changed by itself since the branch last agreed with it about them."""
        name, key = definition.name, list(definition.relation.declared_key or ())
        delta = parent.changes(name, self._branch.record.epoch, parent.upper - 1)
        since = self._branch.record.beginning
        if not self._branch.followed.is_empty:
            delta = delta[:, delta[-2] > self._taken(name, key, delta[key])]
        for merged in self._branch.merges:
            judged = self._own_changes(name, since, merged.epoch)[0][key]
            gone = (delta[-2] <= merged.into) & _inside(delta[key], distinct(judged))
            delta, since = delta[:, ~gone], merged.epoch
        words, _ = sum_rows(np.ascontiguousarray(delta[:-2]), delta[-1])
        return distinct(words[key])

    def _own_changes(self, name: str, since: int, until: int) -> Rows:
        return own_changes(self._snapshot, self._branch.followed, name, since, until)

    def _taken(self, name: str, key: list[int], keys: np.ndarray) -> np.ndarray:
        """The parent's epoch that the branch had when it first changed each of the keys itself, int64[n]; the
        newest one for a key that it has not."""
        branch, snapshot = self._branch, self._snapshot
        own = own_delta(snapshot, branch.followed, name, branch.record.beginning, snapshot.upper - 1)
        _, number = numbered(np.concatenate((own[key], keys), axis=1))
        first = np.full(len(number), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(first, number[: own.shape[1]], branch.followed.parents_at(own[-2]))
        return first[number[own.shape[1] :]]

    def _of_bag(
        self, definition: Definition, transaction: Transaction, words: np.ndarray, diffs: np.ndarray
    ) -> TableChanges:
        """The changes of a table without a key. A row that is gone cannot be deleted."""
        gone = np.flatnonzero(diffs < 0)
        _, counts, places = transaction.snapshot.lookup(definition.name, words[:, gone])
        there = np.zeros(len(gone), np.int64)
        there[places] = counts
        missing = -diffs[gone] > there
        self._note(definition, words[:, gone[missing]])
        possible = diffs.copy()
        possible[gone] = -np.minimum(-diffs[gone], there)
        if self._on_conflict is ConflictChoice.OURS:
            possible[gone[missing]] = 0
        parts = []
        for op, number in ((ChangeOp.DELETE, -possible), (ChangeOp.INSERT, possible)):
            rows = np.repeat(words, np.maximum(number, 0), axis=1)
            parts.append(TableChanges.of(op, definition.schema, rows))
        return TableChanges.concat(parts)

    def _note(self, definition: Definition, keys: np.ndarray) -> None:
        """Notes rows or keys of a table that are in conflict."""
        key = definition.relation.declared_key
        row = np.zeros(len(definition.schema), np.int64)
        for place, one in enumerate(keys.T):
            if place >= _NAMED:
                self._conflicts += [""] * (keys.shape[1] - place)
                break
            row[list(range(len(row)) if key is None else key)] = one
            named = named_key(definition.schema, key, row, self._branch.dictionary)
            self._conflicts.append(f"{definition.name} {named}")


@dataclass(frozen=True, eq=False)
class _RowsOfKeys:
    """The rows int64[W, n] that a table has of some keys, and the place int64[n] of each one's key."""

    rows: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, snapshot: Snapshot, table: str, keys: np.ndarray) -> _RowsOfKeys:
        """All rows of distinct keys [K, m], the first columns of the table's stored key."""
        rows, _, places = snapshot.lookup(table, keys)
        return cls(rows, places)

    def where(self, which: np.ndarray) -> _RowsOfKeys:
        """Some of the rows."""
        return _RowsOfKeys(np.ascontiguousarray(self.rows[:, which]), self.places[which])

    def steps_from(self, before: _RowsOfKeys, stored: list[int]) -> dict[ChangeOp, _RowsOfKeys]:
        """What makes of the rows `before` these, of which each has its own `stored` key."""
        _, number = numbered(np.concatenate((before.rows[stored], self.rows[stored]), axis=1))
        old, new = np.split(number, [len(before.places)])
        at = np.full(number.max(initial=-1) + 1, -1)
        at[old] = np.arange(len(old))
        had = at[new] >= 0
        other = had.copy()
        other[had] = (self.rows[:, had] != before.rows[:, at[new[had]]]).any(axis=0)
        return {
            ChangeOp.DELETE: before.where(~np.isin(old, new)),
            ChangeOp.UPSERT: self.where(other),
            ChangeOp.INSERT: self.where(~had),
        }


def _inside(keys: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Whether each of the keys [K, n] is one of `among` [K, m], bool[n]."""
    _, number = numbered(np.concatenate((among, keys), axis=1))
    return np.isin(number[among.shape[1] :], number[: among.shape[1]])
