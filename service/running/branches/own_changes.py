"""What a branch has changed itself, apart from what it has followed of its parent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.runtime.engine import Snapshot
from engine.state.distinct import distinct
from engine.state.reading import Rows
from service.changes.resolve import sum_rows
from service.definitions.definition import Definition
from service.running.branches.followed_epochs import FollowedEpochs


def own_delta(snapshot: Snapshot, followed: FollowedEpochs, name: str, since: int, until: int) -> np.ndarray:
    """What the branch itself has changed in a table after epoch `since` up to `until`, int64[W + 2, n]."""
    delta = snapshot.changes(name, since, until)
    return delta if followed.is_empty else delta[:, followed.are_own(delta[-2])]


def own_changes(snapshot: Snapshot, followed: FollowedEpochs, name: str, since: int, until: int) -> Rows:
    """What `own_delta` adds up to: words int64[W, n] and diffs int64[n], none 0."""
    if followed.is_empty:
        return snapshot.net_changes(name, since, until)
    delta = own_delta(snapshot, followed, name, since, until)
    return sum_rows(np.ascontiguousarray(delta[:-2]), delta[-1])


class OwnKeys:
    """The keys of tables that the branch has changed itself, at whatever valid time.

    Its writer's thread alone uses it.
    """

    def __init__(self, tables: Mapping[str, Definition], followed: FollowedEpochs, beginning: int) -> None:
        self._key = {name: list(table.relation.declared_key or ()) for name, table in tables.items()}
        self._followed = followed
        self._looked = beginning
        self._keys: dict[str, np.ndarray] = {}

    def look(self, snapshot: Snapshot) -> None:
        """Notes what has been changed since the last look."""
        newest = snapshot.upper - 1
        for name, key in self._key.items():
            if key and newest > self._looked:
                delta = own_delta(snapshot, self._followed, name, self._looked, newest)
                self._add(name, distinct(delta[key]))
        self._looked = newest

    def passed(self, epoch: int) -> None:
        """Says that the epochs up to one, which are the parent's, need no look."""
        self._looked = epoch

    def without(self, name: str, delta: np.ndarray) -> np.ndarray:
        """The rows of a delta of a table with a key whose keys the branch has not changed."""
        own = self._keys.get(name)
        if own is None:
            return delta
        keys = _records(delta[self._key[name]])
        places = np.minimum(np.searchsorted(own, keys), len(own) - 1)
        return delta[:, own[places] != keys]

    def _add(self, name: str, keys: np.ndarray) -> None:
        new, own = _records(keys), self._keys.get(name)
        if not len(new):
            return
        if own is None:
            self._keys[name] = new
            return
        places = np.searchsorted(own, new)
        is_new = own[np.minimum(places, len(own) - 1)] != new
        self._keys[name] = np.insert(own, places[is_new], new[is_new])


def _records(words: np.ndarray) -> np.ndarray:
    """The columns of int64[K, n] as records, which compare as tuples do."""
    kind = [(f"w{place}", np.int64) for place in range(len(words))]
    return np.ascontiguousarray(words.T).view(kind).reshape(words.shape[1])


def possible(delta: np.ndarray, start: np.ndarray, number: np.ndarray) -> np.ndarray:
    """A delta int64[W + 2, n] of a table without a key, without deletions of rows that are not there.

    `number` [n] tells rows apart, and `start` has how often each is there before. Where a row would be there
    less than never, a deletion takes away as many as there are.
    """
    order = np.lexsort((delta[-2], number))
    found, number = delta[:, order], number[order]
    least = start + np.bincount(number, np.minimum(found[-1], 0), len(start)).astype(np.int64)
    for row in np.flatnonzero(least < 0):
        there = int(start[row])
        for place in range(*np.searchsorted(number, (row, row + 1))):
            found[-1, place] = max(int(found[-1, place]), -there)
            there += int(found[-1, place])
    return found[:, found[-1] != 0]
