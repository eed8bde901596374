"""Reading a table or a view at an epoch: its rows, filtered and ordered, or a part of them.

A reading comes from one snapshot and does not change. Rows are in the order of their words, unless `order_by`
gives another, and a row of a bag repeats by its count. The last few readings are kept, so the pages of one
client, equal reads of several, and reads of the epochs that follow share the work. A page of all rows, in the
order of their words, needs no reading of the others.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np

from engine.runtime.engine import Snapshot
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows, patched
from service.definitions.access_paths import ways
from service.definitions.definition import Definition
from service.definitions.maintained_queries import is_query_name
from service.errors import Conflict, HistoryGone, Invalid
from service.reading.demanded_words import equated_words
from service.reading.duck import QueryEvaluator
from service.reading.filters import chosen_rows
from service.reading.finding import MANY, find_rows
from service.reading.point_reads import AT_ONCE
from service.reading.predicates import Clause, predicate, sort_keys
from service.reading.query_errors import NeedsQuery
from service.reading.row_queries import RowQueries
from service.reading.row_readings import Reading

_WORTH, _FEW = 16, 64
"""A reading is brought up to date by at most one change for each `_WORTH` of its rows, and `_FEW` more."""


@dataclass(frozen=True)
class Query:
    """The SQL texts of a read, or None."""

    where: str | None = None
    order_by: str | None = None


_SHOWN = 10
"""The most errors of a view that a message shows."""
_TRY_AGAIN = "POST to its /rebuild tries again"


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


def check_planned(view: Definition, epoch: int) -> None:
    """Raises HistoryGone if the rows of a view were not those of its plan yet at the epoch."""
    if epoch < view.planned_since:
        raise HistoryGone(
            f"view {view.name}, or one that it reads, had another query before epoch {view.planned_since}",
            "ask for an epoch from that one on; the rows of before can be read as long as they are kept",
        )


def check_health(definition: Definition, snapshot: Snapshot, epoch: int, skip_errors: bool = False) -> None:
    """Raises unless the relation can be read at the epoch: the errors of `check_epoch`, and Conflict for a
    view that had failed by then, or has errors that are not to be skipped."""
    name = definition.name
    view = "the query that is followed" if is_query_name(name) else f"view {name}"
    if definition.failure is not None:
        raise Conflict(f"{view} has failed: {definition.failure}", _TRY_AGAIN, code="view_failed")
    lost = snapshot.relation(name).lost
    if lost is not None and lost <= epoch < snapshot.upper:
        if snapshot.relation(name).aside:
            raise Conflict(
                f"{view} is being built again after epoch {lost - 1}, because the next took it too "
                f"long: {snapshot.failure(name)}",
                f"read it as of epoch {lost - 1} or before, or wait until its state is ready",
                code="view_building",
            )
        raise Conflict(
            f"{view} has failed after epoch {lost - 1}: {snapshot.failure(name)}",
            f"read it as of epoch {lost - 1} or before; {_TRY_AGAIN}",
            code="view_failed",
        )
    check_epoch(snapshot, name, epoch)
    errors = [] if skip_errors or not definition.is_view else snapshot.errors(name, epoch, _SHOWN)
    if errors:
        messages = "; ".join(f"{message} ({count})" if count > 1 else message for message, count in errors)
        raise Conflict(
            f"{view} has errors at epoch {epoch}: {messages}",
            "use errors=skip to read the other rows; the view heals when the failing rows are gone",
            code="view_has_errors",
        )


class Reader:
    """Makes readings and keeps the newest, up to `capacity` bytes. Any thread may use it.

    A reading costs what it returns. A kept one of an earlier epoch is brought up to date by what has changed,
    and a predicate on the first columns is looked up.
    """

    def __init__(self, dictionary: Dictionary, capacity: int) -> None:
        self._dictionary = dictionary
        self._capacity = capacity
        self._point_reads = RowQueries(dictionary)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, Query, int], Reading] = OrderedDict()
        self._newest: dict[tuple[int, Query], int] = {}
        self._version = dictionary.version
        self._size = 0

    def page(
        self, definition: Definition, snapshot: Snapshot, epoch: int, first: tuple[int, ...] | None, most: int
    ) -> Reading:
        """The relation's rows from row `first` on, given by its words, or from the beginning: at least `most`
        rows, copies included, if there are as many, and not many more."""
        words, counts = snapshot.rows_from(definition.name, first, epoch, most)
        origin = snapshot.relations[definition.name].origin
        return Reading(definition.schema, epoch, words, counts, origin, snapshot.texts)

    def read(
        self,
        definition: Definition,
        snapshot: Snapshot,
        epoch: int,
        query: Query,
        duck: QueryEvaluator | None = None,
    ) -> Reading:
        """The relation's rows at an epoch that `check_health` accepts. Raises Invalid or a PlannerError.

        What has to be computed, `duck` computes, and it may raise what it raises. Without it NeedsQuery is
        raised for such rows.
        """
        version, held = self._dictionary.version, self._dictionary.hold()
        texts = held if held is snapshot.texts else (held, snapshot.texts)
        origin = snapshot.relations[definition.name].origin
        kept = self._find(definition, origin, query, epoch)
        if kept is not None:
            return replace(kept, texts=texts)
        rows = self._found(definition, snapshot, epoch, query)
        if rows is not None:
            pass
        elif query.order_by:
            keys = sort_keys(query.order_by, definition.schema)
            chosen = self.read(definition, snapshot, epoch, replace(query, order_by=None), duck)
            found = (chosen.words, chosen.counts)
            rows = chosen_rows(duck, found, definition.schema, self._dictionary, None, keys)
        else:
            rows = self._rows(definition, snapshot, epoch, query, duck)
        reading = Reading(definition.schema, epoch, *rows, origin)
        if snapshot.texts is held:  # the rows of an older snapshot may have texts that are gone
            self._keep(definition, query, reading, version)
        return replace(reading, texts=texts)

    def at_once(self, definition: Definition, snapshot: Snapshot, epoch: int, query: Query) -> Reading | None:
        """The reading of a point read that is planned already and finds few rows: it takes less time than a
        change of threads. None for any other, which `read` has."""
        asked = query.where and self._point_reads.ready(definition, query.where, query.order_by)
        if not asked or not asked[0].is_light:
            return None
        held, origin = self._dictionary.hold(), snapshot.relations[definition.name].origin
        read, given = asked
        found = read.run(snapshot, epoch, given, AT_ONCE)
        if found is None:
            return None
        counts = np.ones(found.size, np.int64)
        return Reading(definition.schema, epoch, found.words, counts, origin, (held, snapshot.texts))

    def _found(self, definition: Definition, snapshot: Snapshot, epoch: int, query: Query) -> Rows | None:
        """The rows of a point read, each copy a row; None if the query is none, or it has no answer."""
        if query.where is None:
            return None
        asked = self._point_reads.read(definition, query.where, query.order_by)
        if asked is None:
            return None
        read, given = asked
        found = read.run(snapshot, epoch, given)
        return None if found is None else (found.words, np.ones(found.size, np.int64))

    @property
    def bytes(self) -> int:
        """The size of the readings that are kept."""
        return self._size

    def _forget_gone(self) -> None:
        """Drop all readings if texts were collected since; what is kept holds no texts. The caller holds the
        lock."""
        if self._version != self._dictionary.version:
            self._version = self._dictionary.version
            self._kept.clear()
            self._newest.clear()
            self._size = 0

    def _rows(
        self,
        definition: Definition,
        snapshot: Snapshot,
        epoch: int,
        query: Query,
        duck: QueryEvaluator | None,
    ) -> Rows:
        """The rows that the query's predicate accepts, in the order of their words."""
        name, schema = definition.name, definition.schema
        if query.where is None:
            return self._updated(definition, snapshot, epoch, query, None, duck) or snapshot.rows(name, epoch)
        where = predicate(query.where, schema)
        words = equated_words(where.equations, schema.types, self._dictionary)
        rows = find_rows(snapshot, name, ways(definition.paths, words), words, epoch, MANY)
        if rows is not None:
            compared = {equation.column for equation in where.equations}
            is_sure = words.keys() == compared and all(schema.types[c].is_integer for c in words)
            if where.is_equation and is_sure:
                return rows
            return chosen_rows(duck, rows, schema, self._dictionary, where)
        updated = self._updated(definition, snapshot, epoch, query, where, duck)
        if updated is None and duck is None:
            raise NeedsQuery  # before all rows are put together for it
        return updated or chosen_rows(duck, snapshot.rows(name, epoch), schema, self._dictionary, where)

    def _updated(
        self,
        definition: Definition,
        snapshot: Snapshot,
        epoch: int,
        query: Query,
        where: Clause | None,
        duck: QueryEvaluator | None,
    ) -> Rows | None:
        """The rows, made from the newest kept reading of the query and what has changed since; None if there
        is none, or so much has changed that it does not pay."""
        name, schema = definition.name, definition.schema
        at = self._newest.get((definition.id, query), epoch)
        if not snapshot.since(name) <= at < epoch:
            return None
        kept = self._find(definition, snapshot.relations[name].origin, query, at)
        if kept is None:
            return None
        changes = snapshot.net_changes(name, at, epoch)
        if len(changes[1]) > len(kept.counts) // _WORTH + _FEW:
            return None
        if where is not None and len(changes[1]):
            changes = chosen_rows(duck, changes, schema, self._dictionary, where)
        return patched((kept.words, kept.counts), changes, snapshot.relation(name).order)

    # Kept readings

    def _find(self, definition: Definition, origin: object, query: Query, epoch: int) -> Reading | None:
        key = (definition.id, query, epoch)
        with self._lock:
            self._forget_gone()
            kept = self._kept.get(key)
            # A relation that was altered or replaced has another schema or origin, even at the same epoch.
            if kept is None or kept.schema is not definition.schema or kept.origin is not origin:
                return None
            self._kept.move_to_end(key)
            return kept

    def _keep(self, definition: Definition, query: Query, reading: Reading, version: int) -> None:
        """Keep a reading that was made at this version of the dictionary, or later."""
        if _bytes(reading) > self._capacity:
            return
        key = (definition.id, query, reading.epoch)
        with self._lock:
            self._forget_gone()
            if version != self._version:
                return
            self._drop(key)
            self._kept[key] = reading
            self._size += _bytes(reading)
            about = key[:2]
            self._newest[about] = max(reading.epoch, self._newest.get(about, 0))
            while self._size > self._capacity:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[int, Query, int]) -> None:
        """Forgets a reading, if it is kept. The caller holds the lock."""
        reading = self._kept.pop(key, None)
        if reading is None:
            return
        self._size -= _bytes(reading)
        if self._newest.get(key[:2]) == reading.epoch:
            del self._newest[key[:2]]


def _bytes(reading: Reading) -> int:
    return reading.words.nbytes + 2 * reading.counts.nbytes
