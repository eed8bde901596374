"""A snapshot that notes what is read of it, so that a reader can ask later whether that is still so."""

from __future__ import annotations

import numpy as np

from engine.state.snapshot import RelationSnapshot, Snapshot

_FEW = 1_000
"""A lookup of more keys counts as a reading of the whole relation."""

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


class WatchedSnapshot(Snapshot):
    """The same relations as a snapshot. One thread at a time reads it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.__dict__.update(snapshot.__dict__)
        self._plain = snapshot
        self._read: dict[str, RelationSnapshot | None] = {}
        self._looked_up: list[tuple[str, np.ndarray, Found]] = []

    def lookup(self, name: str, keys: np.ndarray) -> Found:
        if keys.shape[1] > _FEW or name not in self.relations:
            return super().lookup(name, keys)
        found = self._plain.lookup(name, keys)
        self._looked_up.append((name, keys.copy(), found))
        return found

    def _relation(self, name: str) -> RelationSnapshot:
        self._read[name] = self.relations.get(name)
        return super()._relation(name)

    def is_still_so(self, now: Snapshot) -> bool:
        """Whether all that was read is the same in a newer snapshot. Costs the keys that were looked up."""
        if any(now.relations.get(name) is not relation for name, relation in self._read.items()):
            return False
        return all(
            now.relations.get(name) is self.relations[name] or _is_equal(found, now, name, keys)
            for name, keys, found in self._looked_up
        )


def _is_equal(found: Found, now: Snapshot, name: str, keys: np.ndarray) -> bool:
    return name in now.relations and all(map(np.array_equal, found, now.lookup(name, keys)))
