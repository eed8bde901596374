"""Draws: which rows of the sources a trial of a plan reads.

Small sources are read whole. Of the large ones a share is drawn, of all the same: by the hash of the column
in which most of them meet, so that rows that meet are drawn together; else by the hash of the row. The rows
of a value that very many rows have are drawn one by one, so that it does not matter whether the value is
drawn. A greater share has all rows of a lesser one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.costs.column_origins import ColumnOrigins, columns_by_source
from engine.kernels.narrow.narrow_rows import Batch
from engine.plan.nodes import Node, sources_of
from engine.state.snapshot import RelationSnapshot, Snapshot

_CHUNK = 1 << 18
"""Rows that are looked at together."""
_LOOKED_AT = 20_000
"""Rows of a source from which it is known which values many rows have."""
_HEAVY = 0.01
"""The part of a source's rows that have a heavy value."""
_HASHED = 3
"""Columns of a row, those of its key first, by which it is drawn."""
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15))


@dataclass(frozen=True, eq=False)
class Draw:
    """How a source is drawn: by a `column`, or by its rows without one. The rows of `single` values are drawn
    one by one, and those of other `heavy` values are all taken."""

    relation: RelationSnapshot
    column: int | None = None
    single: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    heavy: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def rows(self, share: float, since: int) -> np.ndarray:
        """The drawn differences, a delta [W + 2, n]; epochs before `since` are read as `since`."""
        relation, width = self.relation, len(self.relation.order)
        columns = [*relation.positions.tolist(), width, width + 1]
        parts = [
            batch[start : start + _CHUNK, columns][self._are_drawn(batch, start, share)]
            for batch in relation.batches
            for start in range(0, len(batch), _CHUNK)
        ]
        found = np.concatenate([np.empty((0, width + 2), np.int64), *parts])
        delta = np.ascontiguousarray(found.T)
        np.maximum(delta[width], since, out=delta[width])
        return delta

    def _are_drawn(self, batch: Batch, start: int, share: float) -> np.ndarray | slice:
        if share >= 1.0:
            return slice(None)
        limit, stretch = np.uint64(share * 2.0**64), slice(start, start + _CHUNK)
        hashed = min(_HASHED, len(self.relation.order))
        if self.column is None:
            return hashes(batch[stretch, list(range(hashed))].T) < limit
        values = batch[stretch, int(self.relation.positions[self.column])]
        drawn: np.ndarray = hashes([values]) < limit
        if self.heavy.size:
            drawn |= np.isin(values, self.heavy)
        if self.single.size:
            (places,) = np.nonzero(np.isin(values, self.single))
            drawn[places] = hashes(batch[start + places][:, :hashed].T) < limit
        return drawn


@dataclass(frozen=True, eq=False)
class Draws:
    """How all sources are drawn: `large` ones by shares, of which `share` is the greatest, others whole."""

    large: Mapping[str, Draw]
    whole: Mapping[str, Draw]
    share: float
    since: int

    def rows(self, share: float) -> dict[str, np.ndarray]:
        """The differences of all sources, with a share of the large ones."""
        drawn = {name: draw.rows(share, self.since) for name, draw in self.large.items()}
        return drawn | {name: draw.rows(1.0, self.since) for name, draw in self.whole.items()}

    def part(self, source: str) -> float:
        """The greatest part of a source's rows that is read."""
        return self.share if source in self.large else 1.0


def draws_of(plan: Node, snapshot: Snapshot, most: int) -> Draws:
    """Draws of about `most` differences of a plan's sources."""
    relations = {
        source.name: snapshot.relations[source.name]
        for source in sorted(sources_of(plan), key=lambda source: source.name)
        if source.name in snapshot.relations
    }
    since = max((relation.since for relation in relations.values()), default=0)
    sizes = {name: sum(map(len, relation.batches)) for name, relation in relations.items()}
    large, left = _large(sizes, most)
    share = min(1.0, left / max(sum(sizes[name] for name in large), 1))
    columns = _columns(plan, {name: sizes[name] for name in large})
    whole = {name: Draw(relation) for name, relation in relations.items() if name not in large}
    drawn = {name: Draw(relations[name]) for name in large - columns.keys()}
    for group in _by_class(columns):
        drawn |= _of_group({name: (relations[name], column) for name, column in group.items()})
    return Draws(drawn, whole, share, since)


def _large(sizes: Mapping[str, int], most: int) -> tuple[set[str], int]:
    """The sources of which a share is drawn, and how many rows they may have together."""
    large, left = set(sizes), most
    for name in sorted(sizes, key=lambda name: (sizes[name], name)):
        if sizes[name] > left / (2 if len(large) > 1 else 1):
            break
        large.discard(name)
        left -= sizes[name]
    return large, left


def _columns(plan: Node, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For each source that meets another, the number of its class and its column of that."""
    found: dict[str, tuple[int, int]] = {}
    waiting = dict(sizes)
    classes = [
        {name: column for name, column in columns_by_source(group).items() if name in sizes}
        for group in ColumnOrigins(plan).classes()
    ]
    while waiting:
        weights = [sum(waiting.get(name, 0) for name in group) for group in classes]
        best = max(range(len(classes)), key=weights.__getitem__, default=None)
        if best is None or not weights[best]:
            break
        for name, column in classes[best].items():
            if waiting.pop(name, None) is not None:
                found[name] = best, column
    return found


def _by_class(columns: Mapping[str, tuple[int, int]]) -> Iterator[dict[str, int]]:
    for number in sorted({number for number, _ in columns.values()}):
        yield {name: column for name, (of, column) in columns.items() if of == number}


def _of_group(group: Mapping[str, tuple[RelationSnapshot, int]]) -> dict[str, Draw]:
    """The draws of sources that are drawn by one class."""
    single = {name: _heavy(relation, column) for name, (relation, column) in group.items()}
    heavy = np.unique(np.concatenate(list(single.values())))
    return {name: Draw(relation, column, single[name], heavy) for name, (relation, column) in group.items()}


def _heavy(relation: RelationSnapshot, column: int) -> np.ndarray:
    """The values of a column that many of a source's rows have."""
    seen = sampled_words(relation, (column,), _LOOKED_AT)[0]
    values, counts = np.unique(seen, return_counts=True)
    return values[counts >= max(_HEAVY * len(seen), 2)]


def sampled_words(relation: RelationSnapshot, columns: Iterable[int], most: int) -> np.ndarray:
    """The words of some columns in about `most` of a source's differences, evenly spread: int64[C, n]."""
    positions = [int(relation.positions[column]) for column in columns]
    step = max(1, -(-sum(map(len, relation.batches)) // max(most, 1)))
    parts = [
        batch[np.arange(0, len(batch), step), :][:, positions] for batch in relation.batches if len(batch)
    ]
    return np.concatenate([np.empty((0, len(positions)), np.int64), *parts]).T


def hashes(columns: Iterable[np.ndarray]) -> np.ndarray:
    """A hash of each row: uint64[n]."""
    mixed: np.ndarray | None = None
    for column in columns:
        words = column.astype(np.uint64) if mixed is None else column.astype(np.uint64) ^ (mixed * _MIX[2])
        words = (words ^ (words >> np.uint64(30))) * _MIX[0]
        words = (words ^ (words >> np.uint64(27))) * _MIX[1]
        mixed = words ^ (words >> np.uint64(31))
    if mixed is None:
        raise ValueError("a row has no column to be drawn by")
    return mixed
