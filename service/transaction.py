"""A transaction: work on the writer's thread that reads the newest state and changes tables.

What it applies becomes one epoch, or nothing does if the work raises. While it runs no
other change can come between, so what it read is still so when its changes take place:
no update is lost. It reads tables with its own changes in them; views stay as they
were before it, until its epoch is there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.runtime import Snapshot
from service.changes import TableChanges
from service.definitions import Definition, Definitions
from service.resolve import Rows, TableBatch, conflict_of, sum_rows

_ALIVE = np.ones(1, np.bool_)


class Transaction:
    """Lives for one call of the work that it was made for, on the writer's thread.

    `snapshot` is the newest published state, without the transaction's own changes;
    `changes` counts what was applied.
    """

    def __init__(self, snapshot: Snapshot, definitions: Definitions) -> None:
        self.snapshot = snapshot
        self.changes = 0
        self._definitions = definitions
        self._pending: dict[str, Rows] = {}

    @property
    def definitions(self) -> Mapping[str, Definition]:
        return self._definitions.all

    @property
    def pending(self) -> Mapping[str, Rows]:
        """By table, the rows that the transaction adds and, with negative counts, takes away."""
        return self._pending

    def rows(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The newest rows of a table or view: distinct words [W, n], sorted, and counts int64[n] > 0."""
        words, counts = self.snapshot.rows(name)
        if name not in self._pending:
            return words, counts
        more_words, more_counts = self._pending[name]
        return sum_rows(np.concatenate((words, more_words), axis=1), np.concatenate((counts, more_counts)))

    def apply(self, changes: Mapping[str, TableChanges]) -> int:
        """Makes the changes part of the transaction; their number. Conflict or Invalid: none was made."""
        pending = dict(self._pending)
        for table, part in changes.items():
            definition = self._definitions.get(table, view=False)
            key = definition.relation.key
            part.check(table, definition.schema, key)
            if not len(part):
                continue
            batch = TableBatch(part, np.zeros(len(part), np.int64), key, self._lookup(definition))
            conflict = batch.conflict(_ALIVE)
            if conflict is not None:
                _, place, op = conflict
                raise conflict_of(table, op, place)
            net = batch.net(_ALIVE)
            words, counts = pending.get(table, (net.words[:, :0], net.diffs[:0]))
            pending[table] = sum_rows(
                np.concatenate((words, net.words), axis=1), np.concatenate((counts, net.diffs))
            )
        self._pending = pending
        count = sum(len(part) for part in changes.values())
        self.changes += count
        return count

    def _lookup(self, definition: Definition):
        """Lookup over the newest state and the transaction's own changes."""
        name, key = definition.name, definition.relation.key
        columns = list(range(len(definition.schema)) if key is None else key)

        def lookup(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            words, counts, positions = self.snapshot.lookup(name, keys)
            if name not in self._pending:
                return words, counts, positions
            more_words, more_counts = self._pending[name]
            mine, places = _matches(more_words[columns], keys)
            positioned = np.concatenate(
                (np.vstack((positions, words)), np.vstack((places, more_words[:, mine]))), axis=1
            )
            summed, counts = sum_rows(positioned, np.concatenate((counts, more_counts[mine])))
            return np.ascontiguousarray(summed[1:]), counts, summed[0]

        return lookup


def _matches(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in rows [K, n] that equal one of the distinct keys [K, m], and the place of that key."""
    number = np.unique(np.concatenate((keys, rows), axis=1), axis=1, return_inverse=True)[1].ravel()
    of_key = np.full(number.max(initial=-1) + 1, -1, np.int64)
    of_key[number[: keys.shape[1]]] = np.arange(keys.shape[1])
    place = of_key[number[keys.shape[1] :]]
    mine = np.flatnonzero(place >= 0)
    return mine, place[mine]
