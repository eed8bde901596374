"""A snapshot that notes what is read of it, so that a reader can ask later whether that is still so."""

from __future__ import annotations

import numpy as np

from engine.state.reading import SLACK, Rows
from engine.state.snapshot import RelationSnapshot, Snapshot

_FEW = 1_000
"""A lookup of more keys counts as a reading of the whole relation."""

Found = tuple[np.ndarray, ...]


class WatchedSnapshot(Snapshot):
    """The same relations as a snapshot, which notes the newest rows that are read. What is read of an epoch
    that is named, and what a relation is, stay as they are. One thread at a time reads it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.__dict__.update(snapshot.__dict__)
        self._plain = snapshot
        self._read: dict[str, RelationSnapshot | None] = {}
        self._looked_up: list[tuple[str, str, tuple, Found]] = []

    def rows(self, name: str, epoch: int | None = None) -> Rows:
        if epoch is None:
            self._read[name] = self.relations.get(name)
        return self._plain.rows(name, epoch)

    def lookup(self, name: str, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self._plain.lookup(name, keys)
        self._note("lookup", name, (keys.copy(),), keys.shape[1], found)
        return found

    def few_rows_between(
        self, name: str, low: np.ndarray, high: np.ndarray, epoch: int | None, most: int
    ) -> Rows | None:
        found = self._plain.few_rows_between(name, low, high, epoch, most)
        if epoch is None and found is not None:
            again = (low.copy(), high.copy(), None, 2 * most + SLACK)
            self._note("few_rows_between", name, again, len(low), found)
        return found

    def _note(self, how: str, name: str, asked: tuple, count: int, found: Found) -> None:
        """Note what a method has found under keys, if these are few."""
        if count > _FEW:
            self._read[name] = self.relations[name]
        else:
            self._looked_up.append((how, name, asked, found))

    def is_still_so(self, now: Snapshot) -> bool:
        """Whether all that was read is the same in a newer snapshot. Costs the keys that were looked up, and
        what has changed since in relations that were read whole."""
        if not all(self._is_unchanged(name, now) for name in self._read):
            return False
        return all(
            now.relations.get(name) is self.relations[name]
            or (name in now.relations and _are_equal(found, getattr(now, how)(name, *asked)))
            for how, name, asked, found in self._looked_up
        )

    def _is_unchanged(self, name: str, now: Snapshot) -> bool:
        old, new = self._read[name], now.relations.get(name)
        if old is None or new is None or new.origin is not old.origin or new.failure != old.failure:
            return new is old
        return new is old or not now.changes(name, self.upper - 1, now.upper - 1).shape[1]


def _are_equal(one: Found, other: Found | None) -> bool:
    return other is not None and all(map(np.array_equal, one, other))
