"""Snapshots: every source and view at every kept epoch, immutable.

Publishing an advance replaces the whole snapshot. Any thread may read one, for as long as it holds it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.errors import EpochError, JoinTooLarge, UnknownName
from engine.kernels.arrange import arrange
from engine.kernels.collapse import few_rows
from engine.kernels.join import MOST_PAIRS, join
from engine.kernels.layers import COLUMNS
from engine.kernels.lookup import find_ranges
from engine.kernels.narrow.narrow_rows import Batch, table_of
from engine.schema import Schema
from engine.state.batch_deltas import delta_of
from engine.state.dictionary import Dictionary
from engine.state.error_history import ErrorHistory
from engine.state.layer import Layer
from engine.state.packed_times import BEGINNING, Frontier
from engine.state.patched_map import PatchedMap
from engine.state.reading import Rows, accumulate, first_rows, rows_in
from engine.state.shown_layers import ShownLayers

_NO_ROUNDS = np.empty(0, np.int64)
_NO_MASKS = np.empty(0, np.int64)
_CACHED_EPOCHS = 2
_INSERTED = 256
"""The most differences that are sorted by insertion."""


@dataclass(eq=False)  # frozen, it would take three times as long to make, in every epoch
class RelationSnapshot:
    """A relation's history, which nobody changes. `order` names the columns in the order of the batches'
    words.

    It can be read from epoch `since` on or, if times have several coordinates, at or after an element of
    `kept`. A view that failed, for the reason `failure`, can be read before epoch `lost`; it is `aside` if it
    only needed more than an advance could give.
    """

    schema: Schema
    order: tuple[int, ...]
    shown: ShownLayers = field(default_factory=ShownLayers)
    since: int = 0
    errors: ErrorHistory = field(default_factory=ErrorHistory)
    failure: str | None = None
    lost: int | None = None
    aside: bool = False
    kept: Frontier = BEGINNING
    origin: object = field(default_factory=object)
    """Stays the same as long as only changes at new epochs tell one snapshot of the relation from another."""
    _cache: dict[int, Rows] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The batches whose sum is the history, each with its indexes."""
        return self.shown.layers

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The same batches alone."""
        return tuple(layer.rows for layer in self.layers)

    @cached_property
    def size(self) -> int:
        """The number of rows, copies included, at the newest epoch. No layer is read twice for it."""
        return sum(layer.total for layer in self.layers)

    @cached_property
    def positions(self) -> np.ndarray:
        """The word position of each column."""
        return np.argsort(np.array(self.order, np.int64))

    def rows(self, epoch: int) -> Rows:
        """The rows at an epoch: words [W, n] in the schema's order, and counts [n]."""
        found = self._cache.get(epoch)
        if found is None:
            found = self._as_rows(self._accumulated(epoch))
            if len(self._cache) >= _CACHED_EPOCHS:
                self._cache.clear()
            self._cache[epoch] = found
        return found

    def balance(self, epoch: int) -> Rows:
        """As `rows`, but with negative counts too, which a sound history does not have."""
        return self._in_order(self._accumulated(epoch))

    def rows_from(self, first: tuple[int, ...] | None, epoch: int, most: int) -> Rows:
        """As `rows`, but only from row `first` on, and only until there are `most` rows, copies included.

        `first` has the row's words in the schema's order; the beginning if it is None. Costs what it returns,
        and the changes of these rows.
        """
        key = None if first is None else np.array(first, np.int64)[list(self.order)]
        batch = first_rows(self.batches, len(self.order), key, epoch, self.kept.order.masks, most)
        return self._as_rows(batch)

    def few_rows_between(self, low: np.ndarray, high: np.ndarray, epoch: int, most: int) -> Rows | None:
        """As `rows`, but only the rows whose first P words, in the batches' order, are between a line of
        `low` [m, P] and that line of `high`, or are one of these; None if there are more than `most`
        differences to look at. The lines ascend, and their ranges do not overlap."""
        masks = self.kept.order.masks
        if not masks.size:
            found = few_rows(self._table, low, high, self.positions, epoch, min(most, _INSERTED))
            if len(found):
                return found[:-1], found[-1]
        lows, _ = find_ranges(self._table, low)
        _, highs = find_ranges(self._table, high)
        highs = np.maximum(lows, highs)
        if int((highs - lows).sum()) > most:
            return None
        batches = [batch for batch in self.batches if len(batch)]
        return self._as_rows(rows_in(batches, len(self.order), lows, highs, epoch, masks))

    @cached_property
    def _table(self) -> np.ndarray:
        """The layers as kernels take them."""
        layers = [layer for layer in self.layers if len(layer)]
        table = np.empty((len(layers), COLUMNS), np.int64)
        for line, layer in enumerate(layers):
            layer.register(table, line, 0)
        return table

    def _as_rows(self, batch: np.ndarray) -> Rows:
        """The words and counts of a batch that is accumulated."""
        return self._in_order(batch[batch[:, -1] > 0])

    def _in_order(self, batch: np.ndarray) -> Rows:
        """The words, in the schema's order, and counts of a batch."""
        return np.ascontiguousarray(batch[:, self.positions].T), np.ascontiguousarray(batch[:, -1])

    def _accumulated(self, epoch: int) -> np.ndarray:
        """The distinct rows at an epoch, as a batch."""
        return accumulate(self.batches, len(self.order), epoch, self.kept.order.masks)

    def changes(self, since: int, until: int) -> np.ndarray:
        """The differences at the epochs after `since` up to `until`; see `Snapshot.changes`.

        Costs these differences and a look at each layer, whatever else the layers hold.
        """
        width = len(self.order)
        delta = self._between(since, until)
        by_epoch = arrange(delta, np.array([width, *range(width)], np.int64), _NO_ROUNDS)
        columns = [1 + position for position in self.positions]
        return np.ascontiguousarray(by_epoch[:, [*columns, 0, width + 1]].T)

    def stretch(self, since: int, until: int, most: int) -> int:
        """The greatest epoch after `since`, up to `until`, with at most `most` differences in between.

        It is the next epoch if that one has more.
        """

        def count(epoch: int) -> int:
            return sum(layer.epochs.count(since, epoch) for layer in self.layers if len(layer))

        if count(until) <= most:
            return until
        return since + max(1, bisect_right(range(since + 1, until), most, key=count))

    def epoch_counts(self, since: int, until: int) -> dict[int, int]:
        """How many differences each epoch after `since` up to `until` has, for those that have some.

        Costs these differences and a look at each layer.
        """
        parts = [layer.rows[layer.epochs.places(since, until), -2] for layer in self.layers if len(layer)]
        epochs, counts = np.unique(np.concatenate([np.empty(0, np.int64), *parts]), return_counts=True)
        return dict(zip(epochs.tolist(), counts.tolist(), strict=True))

    def net_changes(self, since: int, until: int) -> Rows:
        """What `changes` adds up to: distinct words [W, n] in the order of rows, and diffs [n], none 0."""
        width = len(self.order)
        delta = self._between(since, until)
        delta[width] = 0
        batch = arrange(delta, np.arange(width + 1), _NO_ROUNDS)
        return np.ascontiguousarray(batch[:, self.positions].T), np.ascontiguousarray(batch[:, -1])

    def _between(self, since: int, until: int) -> np.ndarray:
        """The differences at the epochs after `since` up to `until`, as a new delta in the batches' order."""
        nothing = np.empty((0, len(self.order) + 2), np.int64)
        parts = [layer.rows[layer.epochs.places(since, until)] for layer in self.layers if len(layer)]
        return np.ascontiguousarray(np.concatenate([nothing, *parts]).T)

    def delta(self, since: int = 0, wanted: frozenset[int] | None = None) -> np.ndarray:
        """All kept differences, as a new delta [W + 2, n]; epochs before `since` are read as `since`. Words
        that are not `wanted` may have any value."""
        width = len(self.order)
        columns = [*self.positions.tolist(), width, width + 1]
        delta = delta_of([(batch, 0, len(batch)) for batch in self.batches], columns, wanted)
        np.maximum(delta[width], since, out=delta[width])
        return delta

    def with_rows(
        self, shown: ShownLayers, since: int, errors: ErrorHistory | None = None
    ) -> RelationSnapshot:
        """The relation with other layers and, if they are given, other errors."""
        return RelationSnapshot(
            self.schema,
            self.order,
            shown,
            since,
            self.errors if errors is None else errors,
            self.failure,
            self.lost,
            self.aside,
            self.kept,
            self.origin,
        )


class Snapshot:
    """The relations, readable at every time that is complete by `frontier`."""

    def __init__(
        self, frontier: Frontier, relations: Mapping[str, RelationSnapshot], dictionary: Dictionary
    ) -> None:
        self.frontier = frontier
        self.relations = relations if isinstance(relations, PatchedMap) else PatchedMap(relations)
        self._dictionary = dictionary
        self.texts = dictionary.hold()
        """As long as somebody has this object, the texts of all rows can be read."""

    def replaced(
        self, relations: Mapping[str, RelationSnapshot | None], frontier: Frontier | None = None
    ) -> Snapshot:
        """The snapshot with the given relations replaced, and removed where they are None; at another
        frontier if one is given."""
        patched = self.relations.patched(relations) if relations else self.relations
        return Snapshot(self.frontier if frontier is None else frontier, patched, self._dictionary)

    @cached_property
    def upper(self) -> int:
        """The first epoch that is not complete; EpochError if times have several coordinates."""
        if not self.frontier.order.is_total:
            raise EpochError(
                f"a read needs a time with the coordinates {', '.join(self.frontier.order.names)}"
            )
        return self.frontier.words[0]

    def relation(self, name: str) -> RelationSnapshot:
        """The relation of this name. Raises UnknownName."""
        try:
            return self.relations[name]
        except KeyError:
            raise UnknownName(f"there is no relation {name}") from None

    def _epoch(self, relation: RelationSnapshot, name: str, epoch: int | None) -> int:
        if epoch is None:
            return self.upper - 1
        if not self.frontier.order.is_total:
            return self._time(relation, name, epoch)
        if not relation.since <= epoch < self.upper:
            raise EpochError(
                f"{name} cannot be read at epoch {epoch}: its history goes from epoch "
                f"{relation.since} to {self.upper - 1}"
            )
        if relation.lost is not None and epoch >= relation.lost:
            last = relation.lost - 1
            raise EpochError(f"{name} cannot be read at epoch {epoch}: it failed after epoch {last}")
        return epoch

    def _time(self, relation: RelationSnapshot, name: str, time: int) -> int:
        order = self.frontier.order
        if not self.frontier.is_complete(time):
            raise EpochError(f"{name} cannot be read at {order.unpack(time)}, which is not complete")
        if relation.kept.is_complete(time):
            raise EpochError(
                f"{name} cannot be read at {order.unpack(time)}: its history begins with {relation.kept}"
            )
        return time

    def schema(self, name: str) -> Schema:
        """The schema of a relation. Raises UnknownName."""
        return self.relation(name).schema

    def since(self, name: str) -> int:
        """The least epoch at which the relation can be read."""
        return self.relation(name).since

    def kept(self, names: Iterable[str]) -> Frontier:
        """The times at or after which all of these relations can be read, as far as they exist."""
        order = self.frontier.order
        words: tuple[int, ...] = (0,)
        for name in names:
            if name in self.relations:
                others = self.relations[name].kept.words
                words = order.frontier(order.join(a, b) for a in words for b in others)
        return Frontier(order, words)

    def failure(self, name: str) -> str | None:
        """Why the view is no longer maintained; None if it is."""
        return self.relation(name).failure

    def rows(self, name: str, epoch: int | None = None) -> Rows:
        """The distinct rows at an epoch, the newest by default: words [W, n] and counts [n].

        Rows are sorted by their words, a source's primary key first. Raises EpochError.
        """
        relation = self.relation(name)
        return relation.rows(self._epoch(relation, name, epoch))

    def changes(self, name: str, since: int, until: int) -> np.ndarray:
        """The differences at the epochs after `since` up to `until`, as a delta [W + 2, n].

        It is consolidated, and sorted by epoch, then by words. Raises EpochError if `since` is before the
        kept history.
        """
        relation = self.relation(name)
        self._epoch(relation, name, max(since, 0))
        return relation.changes(since, min(until, self.upper - 1))

    def rows_from(self, name: str, first: tuple[int, ...] | None, epoch: int, most: int) -> Rows:
        """As `rows`, but from row `first` on, until there are `most`; see `RelationSnapshot.rows_from`."""
        relation = self.relation(name)
        return relation.rows_from(first, self._epoch(relation, name, epoch), most)

    def few_rows_between(
        self, name: str, low: np.ndarray, high: np.ndarray, epoch: int | None, most: int
    ) -> Rows | None:
        """As `rows`, only those in some ranges, unless there are many; see
        `RelationSnapshot.few_rows_between`."""
        relation = self.relation(name)
        return relation.few_rows_between(low, high, self._epoch(relation, name, epoch), most)

    def net_changes(self, name: str, since: int, until: int) -> Rows:
        """What the changes after `since` up to `until` add up to; see `RelationSnapshot.net_changes`."""
        relation = self.relation(name)
        self._epoch(relation, name, since)
        return relation.net_changes(since, self._epoch(relation, name, until))

    def differences(self, name: str) -> np.ndarray:
        """All kept differences of the relation, as a consolidated delta [W + 2, n]."""
        relation = self.relation(name)
        order = np.arange(len(relation.order) + 1)
        return np.ascontiguousarray(arrange(relation.delta(), order, _NO_ROUNDS).T)

    def lookup(self, name: str, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The newest rows of a source under the given keys.

        `keys` [K, m] holds the columns of the primary key, or whole rows of a bag, in the key's order.
        Returns words [W, j], counts [j], and int64[j]: the position in `keys` that each row answers.
        """
        relation = self.relation(name)
        width = len(relation.order)
        key, asked = keys.shape
        probe = np.empty((key + 3, asked), np.int64)
        probe[:key] = keys
        probe[key] = np.arange(asked)
        probe[key + 1] = 0
        probe[key + 2] = 1
        batch = arrange(probe, np.arange(key + 2), _NO_ROUNDS)
        columns = np.array([*(~w for w in range(width)), key], np.int64)
        found, _, excess = join(
            batch, key + 1, table_of(relation.batches), key, width, 0, _NO_ROUNDS, columns, _NO_MASKS
        )
        if excess:
            raise JoinTooLarge.of(excess, MOST_PAIRS)
        found[width + 1] = 0
        rows = arrange(found, np.arange(width + 2), _NO_ROUNDS)
        rows = rows[rows[:, -1] > 0]
        return (
            np.ascontiguousarray(rows[:, relation.positions].T),
            np.ascontiguousarray(rows[:, -1]),
            np.ascontiguousarray(rows[:, width]),
        )

    def errors(self, name: str, epoch: int | None = None, most: int | None = None) -> list[tuple[str, int]]:
        """The messages of rows that fail in this view or in what it reads, with their counts; the `most`
        frequent ones if there are more."""
        relation = self.relation(name)
        if not relation.errors:
            return []
        time = self._epoch(relation, name, epoch)
        return relation.errors.at(time, self.frontier.order.masks, self._dictionary, most)
