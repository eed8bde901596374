"""Resolving: whether changes conflict with existing rows, and their net effect, for many requests at once.

Changes of one table, from several requests in order, are resolved over a base state. The changes of a key
form a chain: each meets the row that the change before it left, or the base's row. So one stable sort by
key is enough, with no loop over rows. By key, the net effect of a request retracts the row before it and
adds the row after it; if the two are equal, there is none.

A conflicting request is left out, which may change what later requests meet. So only the first conflict is
certain: `TableBatch.conflict` returns it, and is called again without that request.

Rows are words [W, n]. This module knows nothing of epochs, the log, or the engine beyond `Lookup`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.codec.json import decode_rows
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.distinct import differs, grouped
from service.changes.lateness import Lateness
from service.changes.table_changes import ChangeOp, TableChanges, differences
from service.errors import Conflict

Rows = tuple[np.ndarray, np.ndarray]
"""Words int64[W, n] and counts int64[n]."""
Lookup = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Keys [K, m] → words [W, j], counts [j] and the position [j] in keys that each answers."""

_LONGEST, _LONGEST_VALUE = 300, 80
"""The most characters of a row, and of a value, that a message shows."""

_INSERT, _DELETE = int(ChangeOp.INSERT), int(ChangeOp.DELETE)


@dataclass(frozen=True, eq=False)
class Net:
    """The net effect of requests: rows `words` [W, m], the request [m] of each, and diffs [m], none 0.

    `room` is that of `TableChanges`.
    """

    words: np.ndarray
    request: np.ndarray
    diffs: np.ndarray
    room: np.ndarray | None = None

    def delta(self, epochs: np.ndarray | int) -> np.ndarray:
        """The differences int64[W + 2, m] at epochs."""
        return differences(self.words, epochs, self.diffs, self.room)


class TableBatch:
    """Changes of one table by requests 0, 1, ...; `request` int64[n], ascending, has each change's number.

    The argument `alive` bool[R] marks the requests that are not left out.
    """

    def __init__(
        self,
        changes: TableChanges,
        request: np.ndarray,
        key: tuple[int, ...] | None,
        lookup: Lookup,
        append_only: bool = False,
        lateness: Lateness | None = None,
    ) -> None:
        """In a table that is `append_only`, a change that takes a row away conflicts with it. Rows that are
        late are left out."""
        self._append_only = append_only
        self._lateness = lateness
        self._changes = changes
        self._request = request
        self._keyed = key is not None
        self._inserts_only = not changes.ops.any()
        if not self._keyed and self._inserts_only:
            return
        keys = changes.words if key is None else np.ascontiguousarray(changes.words[list(key)])
        order, group, firsts = grouped(keys)
        self._whole = _Chain(order, group, request[order])
        found, counts, positions = lookup(np.ascontiguousarray(keys[:, firsts]))
        self._base_words = found
        self._base_count = np.zeros(len(firsts), np.int64)
        self._base_count[positions] = counts
        self._base_row = np.zeros(len(firsts), np.int64)
        self._base_row[positions] = np.arange(len(positions))

    def conflict(self, alive: np.ndarray) -> tuple[int, int, ChangeOp] | None:
        """The first change that cannot be made: its request, its place among all changes, its operation."""
        if not self._keyed and self._inserts_only:
            return None
        chain = self._chain(alive)
        ops = self._changes.ops[chain.order]
        exists = self._exists(chain, ops) if self._keyed else self._counts(chain, ops) > 0
        bad = (ops == _DELETE) & ~exists
        if self._keyed:
            bad |= (ops == _INSERT) & exists
        if self._append_only:
            bad |= (ops != _INSERT) & exists
        if not bad.any():
            return None
        first = int(chain.order[bad].min())
        return int(self._request[first]), first, ChangeOp(self._changes.ops[first])

    def late(self, alive: np.ndarray) -> np.ndarray:
        """The places of the changes that are left out, because their rows are late."""
        if self._lateness is None:
            return np.zeros(0, np.int64)
        brings = alive[self._request] & _leaves(self._changes.ops)
        return np.flatnonzero(self._lateness.late(self._changes.words, self._request, brings))

    def of(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words int64[W, m] and the requests int64[m] of changes."""
        return self._changes.words[:, places], self._request[places]

    def _taken(self, alive: np.ndarray) -> np.ndarray | None:
        """Which changes are taken, bool[n]; None for all."""
        late = self.late(alive)
        if alive.all() and not len(late):
            return None
        taken = alive[self._request]
        taken[late] = False
        return taken

    def row(self, place: int) -> np.ndarray:
        """The words int64[W] of a change."""
        return self._changes.words[:, place]

    def net(self, alive: np.ndarray) -> Net:
        """The net effect of the requests. They must have no conflict."""
        if self._inserts_only:
            return self._net_inserts(alive)
        return self._net_rows(alive) if self._keyed else self._net_counts(alive)

    def _chain(self, alive: np.ndarray) -> _Chain:
        whole, taken = self._whole, self._taken(alive)
        if taken is None:
            return whole
        kept = taken[whole.order]
        return _Chain(whole.order[kept], whole.group[kept], whole.request[kept])

    def _exists(self, chain: _Chain, ops: np.ndarray) -> np.ndarray:
        """Whether the key of each change has a row just before it."""
        exists = np.empty(len(ops), np.bool_)
        exists[1:] = _leaves(ops[:-1])
        exists[chain.starts] = self._base_count[chain.group[chain.starts]] > 0
        return exists

    def _counts(self, chain: _Chain, ops: np.ndarray) -> np.ndarray:
        """How many copies of each change's row exist just before it."""
        signs = _signs(ops)
        before = np.cumsum(signs) - signs
        starts = chain.starts
        lengths = np.diff(starts, append=len(ops))
        return before + np.repeat(self._base_count[chain.group[starts]] - before[starts], lengths)

    def _net_rows(self, alive: np.ndarray) -> Net:
        chain = self._chain(alive)
        ops, words = self._changes.ops[chain.order], self._changes.words
        first, last = chain.spans()
        # The row before a span is the base's if the span begins its chain, otherwise the previous change's.
        begins = chain.begins[first]
        groups = chain.group[first]
        had = np.where(begins, self._base_count[groups] > 0, _leaves(ops[first - 1]))
        has = _leaves(ops[last])
        before = words[:, chain.order[first[had] - 1]]
        from_base = begins[had]
        before[:, from_base] = self._base_words[:, self._base_row[groups[had & begins]]]
        after = words[:, chain.order[last[has]]]
        differ = np.ones(len(first), np.bool_)
        both = had & has
        differ[both] = (before[:, both[had]] != after[:, both[has]]).any(axis=0)
        requests = chain.request[first]
        old, new = differ[had], differ[has]
        return Net(
            np.concatenate((before[:, old], after[:, new]), axis=1),
            np.concatenate((requests[had & differ], requests[has & differ])),
            np.repeat(np.array([-1, 1], np.int64), [old.sum(), new.sum()]),
        )

    def _net_inserts(self, alive: np.ndarray) -> Net:
        """No row has the key of another, or there is no key: each one is new."""
        taken = self._taken(alive)
        changes, request = self._changes, self._request
        if taken is None:
            return Net(changes.words, request, np.ones(len(request), np.int64), changes.room)
        request = request[taken]
        return Net(changes.words[:, taken], request, np.ones(len(request), np.int64))

    def _net_counts(self, alive: np.ndarray) -> Net:
        chain = self._chain(alive)
        if not len(chain.order):
            return Net(self._changes.words[:, :0], self._request[:0], np.zeros(0, np.int64))
        first, _ = chain.spans()
        diffs = np.add.reduceat(_signs(self._changes.ops[chain.order]), first)
        some = diffs != 0
        return Net(self._changes.words[:, chain.order[first[some]]], chain.request[first[some]], diffs[some])


@dataclass(frozen=True, eq=False)
class _Chain:
    """Places of changes, sorted by key, then time; `group` numbers the keys, `request` the requests."""

    order: np.ndarray
    group: np.ndarray
    request: np.ndarray

    @cached_property
    def begins(self) -> np.ndarray:
        """Whether each place begins the chain of a key."""
        return differs(self.group)

    @cached_property
    def starts(self) -> np.ndarray:
        """The places at which the chains of the keys begin."""
        return np.flatnonzero(self.begins)

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last place of each span of one key and one request."""
        new = self.begins | differs(self.request)
        first = np.flatnonzero(new)
        last = np.empty_like(first)
        last[:-1] = first[1:]
        last[-1:] = len(self.order)
        return first, last - 1


def _leaves(ops: np.ndarray) -> np.ndarray:
    """Whether each operation leaves a row under its key."""
    return ops & 1 == 0


def _signs(ops: np.ndarray) -> np.ndarray:
    return np.where(ops == _DELETE, -1, 1)


def sum_rows(words: np.ndarray, counts: np.ndarray) -> Rows:
    """Rows with equal ones merged and their counts added, without those whose sum is 0. Sorted."""
    if not words.shape[1]:
        return words, counts
    order, group, firsts = grouped(words)
    sums = np.add.reduceat(counts[order], np.flatnonzero(differs(group)))
    some = sums != 0
    return np.ascontiguousarray(words[:, firsts[some]]), sums[some]


class RowConflict(Conflict):
    """A change that cannot be made. `place` is its number among the request's changes of the table."""

    def __init__(self, place: int, message: str, hint: str = "", *, code: str) -> None:
        super().__init__(message, hint, code=code)
        self.place = place


def conflict_of(table: str, op: ChangeOp, place: int, row: str, append_only: bool = False) -> RowConflict:
    """The error for a change that conflicts; `row` is its key or the whole row, as `named_row` returns it."""
    if append_only and op is not ChangeOp.INSERT:
        return RowConflict(
            place,
            f"change {place} would take a row from table {table}, which is append only: {row}",
            "insert new rows only, or make a table without APPEND ONLY",
            code="append_only",
        )
    if op is ChangeOp.DELETE:
        return RowConflict(
            place,
            f"change {place} deletes a row that table {table} does not have: {row}",
            code="row_not_found",
        )
    return RowConflict(
        place,
        f"change {place} inserts a key that table {table} has already: {row}",
        "use upsert, or in SQL INSERT ... ON CONFLICT, to replace the row",
        code="key_exists",
    )


def named_row(schema: Schema, words: np.ndarray, dictionary: Dictionary) -> str:
    """Words int64[W] of the schema's columns as a message shows them, long ones cut.

    A text that the dictionary never held is shown as dots.
    """
    try:
        (values,) = decode_rows(np.ascontiguousarray(words[:, None]), schema, dictionary)
    except KeyError:
        values = ("...",) * len(schema)
    text = ", ".join(f"{name} = {_shown(value)}" for name, value in zip(schema.names, values, strict=True))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def named_key(schema: Schema, key: tuple[int, ...] | None, words: np.ndarray, dictionary: Dictionary) -> str:
    """The key of a row int64[W] of the schema, or the whole row without a key, as `named_row` returns it."""
    columns = tuple(range(len(schema))) if key is None else key
    return named_row(Schema(tuple(schema.columns[i] for i in columns)), words[list(columns)], dictionary)


def _shown(value: object) -> str:
    text = "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def key_conflict(table: str, schema: Schema, key: np.ndarray, dictionary: Dictionary) -> Conflict:
    """The error for a load with a duplicate key int64[K]; `schema` has the key's columns."""
    return Conflict(
        f"table {table} has a row of key {named_row(schema, key, dictionary)} already, or the load has two",
        "nothing was loaded",
        code="key_exists",
    )
