"""Reading a table or a view at an epoch: its rows, filtered and ordered, or a part of them.

A reading comes from one snapshot and does not change. Rows are in the order of their words, unless `order_by`
gives another, and a row of a bag repeats by its count. The last few readings are kept, so the pages of one
client, and equal reads of several, share the work.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_column
from engine.runtime.engine import Snapshot
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.definitions.definition import Definition
from service.errors import Conflict, HistoryGone, Invalid
from service.reading.filters import wanted_places
from service.reading.given_tables import typed
from service.reading.predicates import predicate, sort_keys

_MOST_ROWS = 2**62


@dataclass(frozen=True)
class Query:
    """The SQL texts of a read, or None."""

    where: str | None = None
    order_by: str | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """Distinct rows `words` int64[W, n] in order, and the number of copies of each, `counts` int64[n] > 0."""

    schema: Schema
    epoch: int
    words: np.ndarray
    counts: np.ndarray

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the copies of each distinct row end among all rows, int64[n]; at most 2**62: no row
        behind that many can be read."""
        ends = np.cumsum(self.counts)
        if not len(ends) or int(self.counts.max()) <= _MOST_ROWS // len(ends):
            return ends
        return np.where(np.cumsum(self.counts, dtype=np.float64) < _MOST_ROWS, ends, _MOST_ROWS)

    @property
    def size(self) -> int:
        """The number of rows, copies included."""
        return int(self.ends[-1]) if len(self.counts) else 0

    def part(self, start: int, stop: int) -> np.ndarray:
        """The words int64[W, k] of rows `start` to `stop`, copies included."""
        stop = min(stop, self.size)
        if start >= stop:
            return self.words[:, :0]
        first, last = np.searchsorted(self.ends, (start, stop - 1), side="right")
        if self.size == len(self.counts):
            return np.ascontiguousarray(self.words[:, start:stop])
        ends = self.ends[first : last + 1]
        starts = np.append(self.ends[first - 1] if first else 0, ends[:-1])
        counts = np.minimum(ends, stop) - np.maximum(starts, start)
        return np.repeat(self.words[:, first : last + 1], counts, axis=1)


def check_epoch(snapshot: Snapshot, name: str, epoch: int) -> None:
    """Raises Invalid for an epoch that does not exist yet, HistoryGone for one that is no longer kept."""
    newest, since = snapshot.upper - 1, snapshot.since(name)
    if epoch > newest:
        raise Invalid(
            f"epoch {epoch} does not exist yet", f"the newest is {newest}", code="epoch_not_reached"
        )
    if epoch < since:
        hint = f"its history begins at epoch {since}"
        raise HistoryGone(f"{name} is no longer kept at epoch {epoch}", hint)


def check_health(definition: Definition, snapshot: Snapshot, epoch: int, skip_errors: bool = False) -> None:
    """Raises unless the relation can be read at the epoch: the errors of `check_epoch`, and Conflict for a
    view that is quarantined, or has errors that are not to be skipped."""
    name = definition.name
    reason = definition.failure or snapshot.failure(name)
    if reason is not None:
        raise Conflict(f"view {name} is quarantined: {reason}", "drop the view", code="view_quarantined")
    check_epoch(snapshot, name, epoch)
    errors = [] if skip_errors or not definition.is_view else snapshot.errors(name, epoch)
    if errors:
        messages = "; ".join(
            f"{message} ({count})" if count > 1 else message for message, count in errors[:10]
        )
        raise Conflict(
            f"view {name} has errors at epoch {epoch}: {messages}",
            "use errors=skip to read the other rows; the view heals when the failing rows are gone",
            code="view_has_errors",
        )


class Reader:
    """Makes readings and keeps the newest, up to `capacity` bytes. Any thread may use it."""

    def __init__(self, dictionary: Dictionary, capacity: int) -> None:
        self._dictionary = dictionary
        self._capacity = capacity
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, Reading] = OrderedDict()
        self._size = 0

    def read(self, definition: Definition, snapshot: Snapshot, epoch: int, query: Query) -> Reading:
        """The relation's rows at an epoch that `check_health` accepts. Raises Invalid or a PlannerError."""
        key = (definition.id, epoch, query)
        with self._lock:
            kept = self._kept.get(key)
            # A relation that was altered or replaced has another schema, even at the same epoch.
            if kept is not None and kept.schema is definition.schema:
                self._kept.move_to_end(key)
                return kept
        words, counts = snapshot.rows(definition.name, epoch)
        if query.where or query.order_by:
            chosen = self._places(definition.schema, words, query)
            words, counts = np.ascontiguousarray(words[:, chosen]), counts[chosen]
        reading = Reading(definition.schema, epoch, words, counts)
        self._keep(key, reading)
        return reading

    def _places(self, schema: Schema, words: np.ndarray, query: Query) -> np.ndarray:
        where = predicate(query.where, schema) if query.where else None
        order_by = sort_keys(query.order_by, schema) if query.order_by else None
        columns = sorted({*(where.columns if where else ()), *(order_by.columns if order_by else ())})
        arrays = [decode_column(words[i], schema.types[i], self._dictionary) for i in columns]
        if not arrays:
            arrays, names = [pa.nulls(words.shape[1])], [""]
        else:
            names = [schema.names[i] for i in columns]
        table = pa.Table.from_arrays(arrays, names=names)
        return wanted_places(
            typed(table, [schema.types[i] for i in columns]) if columns else table, where, order_by
        )

    def _keep(self, key: tuple, reading: Reading) -> None:
        size = _bytes(reading)
        if size > self._capacity:
            return
        with self._lock:
            stale = self._kept.pop(key, None)
            self._size -= 0 if stale is None else _bytes(stale)
            self._kept[key] = reading
            self._size += size
            while self._size > self._capacity:
                _, dropped = self._kept.popitem(last=False)
                self._size -= _bytes(dropped)


def _bytes(reading: Reading) -> int:
    return reading.words.nbytes + 2 * reading.counts.nbytes
