"""Finding rows by the words of some columns, along the access paths of a relation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np

from engine.kernels.words import NULL
from engine.state.reading import Rows
from engine.state.snapshot import Snapshot
from service.definitions.access_paths import AccessPath

MOST_KEYS = 1024
"""The most keys to look for; beyond them all rows are read."""
MANY = 1 << 20
"""The most differences that a lookup reads for a query; beyond them all rows are read."""

Words = Mapping[int, Collection[int]]
"""By column, the words of which a row has one."""
Bounds = Mapping[int, tuple[int, int]]
"""By column, the least and the greatest word that a row can have."""
_UNBOUNDED: Bounds = {}


def find_rows(
    snapshot: Snapshot,
    name: str,
    ways: Sequence[AccessPath],
    words: Words,
    epoch: int | None,
    most: int,
    needed: Collection[int] | None = None,
    bounds: Bounds = _UNBOUNDED,
) -> Rows | None:
    """The relation's rows that have one of the `words` in each column, and a word within its `bounds`, found
    by the first of the `ways` that leads to them.

    None if no way leads to them with at most `most` differences to look at. A column that is not `needed` may
    be NULL in them.
    """
    for path in ways:
        if not is_usable(snapshot, path, epoch):
            continue
        keys = _keys(path, words)
        found = _under(snapshot, path, keys, bounds, epoch, most)
        if found is not None and path.relation != name:
            found = _through(snapshot, name, path, found, epoch, most, needed)
        if found is not None:
            by_all = keys is not None and keys.shape[1] == len(words)
            return _within(found if by_all else _matching(found, words), bounds)
    return None


def _under(
    snapshot: Snapshot,
    path: AccessPath,
    keys: np.ndarray | None,
    bounds: Bounds,
    epoch: int | None,
    most: int,
) -> Rows | None:
    """The rows of the path's relation that begin with one of the keys, and then have a word within bounds."""
    width = 0 if keys is None else keys.shape[1]
    bound = bounds.get(path.columns[width]) if width < len(path.columns) else None
    if bound is None:
        return None if keys is None else snapshot.few_rows_between(path.relation, keys, keys, epoch, most)
    before = np.empty((1, 0), np.int64) if keys is None else keys
    if bound[0] > bound[1]:
        before = before[:0]
    low, high = (np.column_stack([before, np.full(len(before), word, np.int64)]) for word in bound)
    return snapshot.few_rows_between(path.relation, low, high, epoch, most)


def _matching(rows: Rows, words: Words) -> Rows:
    """Those of the rows that have one of the words in every column."""
    found, counts = rows
    if not len(counts):
        return rows
    kept = np.ones(len(counts), np.bool_)
    for column, some in words.items():
        line = found[column]
        kept &= np.isin(line, list(some)) if len(some) != 1 else line == next(iter(some))
    return _kept(rows, kept)


def _within(rows: Rows, bounds: Bounds) -> Rows:
    """Those of the rows that have a word within the bounds in every column."""
    found, counts = rows
    if not bounds:
        return rows
    kept = np.ones(len(counts), np.bool_)
    for column, (low, high) in bounds.items():
        kept &= (found[column] >= low) & (found[column] <= high)
    return _kept(rows, kept)


def _kept(rows: Rows, kept: np.ndarray) -> Rows:
    found, counts = rows
    return rows if kept.all() else (np.ascontiguousarray(found[:, kept]), counts[kept])


def is_usable(snapshot: Snapshot, path: AccessPath, epoch: int | None) -> bool:
    """Whether the path exists, is maintained, and reaches back to the epoch."""
    relation = snapshot.relations.get(path.relation)
    return (
        relation is not None
        and relation.failure is None
        and (epoch is None or relation.since <= epoch < snapshot.upper)
    )


def _keys(path: AccessPath, words: Words) -> np.ndarray | None:
    """The first words int64[m, P] of the rows, distinct and sorted; None if these are too many."""
    choices: list[Collection[int]] = []
    count = 1
    for column in path.columns:
        some = words.get(column)
        if some is None or count * len(some) > MOST_KEYS:
            break
        count *= len(some)
        choices.append(some)
    if not choices:
        return None
    if count == 1:
        return np.array([[word for (word,) in choices]], np.int64)
    choices = [sorted(some) for some in choices]
    return np.array(list(product(*choices)), np.int64).reshape(count, len(choices))


def _through(
    snapshot: Snapshot,
    name: str,
    path: AccessPath,
    found: Rows,
    epoch: int | None,
    most: int,
    needed: Collection[int] | None,
) -> Rows | None:
    """The relation's rows to what was found in an index."""
    words, counts = found
    order = snapshot.relation(name).order
    if set(range(len(order)) if needed is None else needed) <= set(path.stored):
        rows = np.full((len(order), len(counts)), NULL, np.int64)
        rows[list(path.stored)] = words
        if len(counts) > 1:
            places = np.lexsort(rows[list(order)][::-1])
            return np.ascontiguousarray(rows[:, places]), counts[places]
        return rows, counts
    keys = np.unique(words[list(path.key)].T, axis=0)
    return snapshot.few_rows_between(name, keys, keys, epoch, most)
