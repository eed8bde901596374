"""Whether changes can be made, and what they come to: existence, judged for many requests at once.

Changes of one table, from several requests in order, are resolved over a base state.
A key's changes form a chain: what a change meets is what the change before it in the
chain has left, or the base. So one stable sort by key answers for all of them, with no
loop over rows. What a request comes to is, by key, the row before it withdrawn and the
row after it added; where both are the same, nothing.

A request that conflicts is to be left out, and that may change what later requests
meet. So only the first conflict is certain: `TableBatch.conflict` gives that one, and
is asked again with the request left out.

Rows are words [W, n]. Nothing here knows epochs, the log or the engine beyond `Lookup`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.codec import decode_rows
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ChangeOp, TableChanges
from service.errors import Conflict

Rows = tuple[np.ndarray, np.ndarray]
"""Words int64[W, n] and counts int64[n]."""
Lookup = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Keys [K, m] → words [W, j], counts [j] and the position [j] in keys that each answers."""

_LONGEST, _LONGEST_VALUE = 300, 80
"""Characters of a row, and of a value, that a message shows."""

_INSERT, _DELETE = int(ChangeOp.INSERT), int(ChangeOp.DELETE)


@dataclass(frozen=True, eq=False)
class Net:
    """What requests come to: rows `words` [W, m], the request [m] that each is of, and diffs [m], none 0."""

    words: np.ndarray
    request: np.ndarray
    diffs: np.ndarray


class TableBatch:
    """Changes of one table by requests 0, 1, ...; `request` int64[n], ascending, says which change is whose.

    `alive` bool[R], where it is an argument, says which requests still count.
    """

    def __init__(
        self, changes: TableChanges, request: np.ndarray, key: tuple[int, ...] | None, lookup: Lookup
    ) -> None:
        self._changes = changes
        self._request = request
        self._keyed = key is not None
        self._inserts_only = not changes.ops.any()
        if not self._keyed and self._inserts_only:
            return
        keys = changes.words if key is None else np.ascontiguousarray(changes.words[list(key)])
        order, group, firsts = _chains(keys)
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
        if not bad.any():
            return None
        first = int(chain.order[bad].min())
        return int(self._request[first]), first, ChangeOp(self._changes.ops[first])

    def row(self, place: int) -> np.ndarray:
        """The words int64[W] of a change."""
        return self._changes.words[:, place]

    def net(self, alive: np.ndarray) -> Net:
        """What the requests come to; there must be no conflict."""
        if self._keyed:
            return self._net_rows(alive)
        return self._net_counts(alive)

    def _chain(self, alive: np.ndarray) -> _Chain:
        whole = self._whole
        if alive.all():
            return whole
        kept = alive[whole.request]
        return _Chain(whole.order[kept], whole.group[kept], whole.request[kept])

    def _exists(self, chain: _Chain, ops: np.ndarray) -> np.ndarray:
        """Whether the key of each change has a row just before it."""
        exists = np.empty(len(ops), np.bool_)
        exists[1:] = _leaves(ops[:-1])
        exists[chain.starts] = self._base_count[chain.group[chain.starts]] > 0
        return exists

    def _counts(self, chain: _Chain, ops: np.ndarray) -> np.ndarray:
        """How often the row of each change is there just before it."""
        signs = _signs(ops)
        before = np.cumsum(signs) - signs
        starts = chain.starts
        lengths = np.diff(starts, append=len(ops))
        return before + np.repeat(self._base_count[chain.group[starts]] - before[starts], lengths)

    def _net_rows(self, alive: np.ndarray) -> Net:
        chain = self._chain(alive)
        ops, words = self._changes.ops[chain.order], self._changes.words
        first, last = chain.spans()
        # Where a span begins its chain, the row before it is the base's; elsewhere the change's before it.
        begins = chain.begins[first]
        groups = chain.group[first]
        had = np.where(begins, self._base_count[groups] > 0, _leaves(ops[first - 1]))
        has = _leaves(ops[last])
        before = words[:, chain.order[first - 1]]
        from_base = begins & had
        if from_base.any():
            before[:, from_base] = self._base_words[:, self._base_row[groups[from_base]]]
        after = words[:, chain.order[last]]
        same = had & has & (before == after).all(axis=0)
        had &= ~same
        has &= ~same
        requests = chain.request[first]
        return Net(
            np.concatenate((before[:, had], after[:, has]), axis=1),
            np.concatenate((requests[had], requests[has])),
            np.repeat(np.array([-1, 1], np.int64), [had.sum(), has.sum()]),
        )

    def _net_counts(self, alive: np.ndarray) -> Net:
        if self._inserts_only:
            kept = slice(None) if alive.all() else alive[self._request]
            request = self._request[kept]
            return Net(self._changes.words[:, kept], request, np.ones(len(request), np.int64))
        chain = self._chain(alive)
        if not len(chain.order):
            return Net(self._changes.words[:, :0], self._request[:0], np.zeros(0, np.int64))
        first, _ = chain.spans()
        diffs = np.add.reduceat(_signs(self._changes.ops[chain.order]), first)
        some = diffs != 0
        return Net(self._changes.words[:, chain.order[first[some]]], chain.request[first[some]], diffs[some])


@dataclass(frozen=True, eq=False)
class _Chain:
    """Places of changes, by key and then by time; `group` numbers the keys, `request` says whose it is."""

    order: np.ndarray
    group: np.ndarray
    request: np.ndarray

    @cached_property
    def begins(self) -> np.ndarray:
        """Whether the chain of a key begins at each place."""
        return _differs(self.group)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the chains of the keys begin."""
        return np.flatnonzero(self.begins)

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last place of each span of one key and one request."""
        new = self.begins | _differs(self.request)
        first = np.flatnonzero(new)
        last = np.empty_like(first)
        last[:-1] = first[1:]
        last[-1:] = len(self.order)
        return first, last - 1


def _chains(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A stable order of keys [K, n], the number of each in that order, and a place of each distinct key."""
    if len(keys) == 1:
        order = keys[0].argsort(kind="stable")
        new = _differs(keys[0][order])
    else:
        order = np.lexsort(keys[::-1])
        ordered = keys[:, order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return order, np.cumsum(new) - 1, order[new]


def _differs(values: np.ndarray) -> np.ndarray:
    """Whether each value is another than the one before it; the first is."""
    differs = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def _leaves(ops: np.ndarray) -> np.ndarray:
    """Whether there is a row after each operation on a key."""
    return ops & 1 == 0


def _signs(ops: np.ndarray) -> np.ndarray:
    return np.where(ops == _DELETE, -1, 1)


def sum_rows(words: np.ndarray, counts: np.ndarray) -> Rows:
    """Equal rows as one, with their counts' sum; rows whose sum is 0 left out. Sorted."""
    if not words.shape[1]:
        return words, counts
    order, group, firsts = _chains(words)
    sums = np.add.reduceat(counts[order], np.flatnonzero(_differs(group)))
    some = sums != 0
    return np.ascontiguousarray(words[:, firsts[some]]), sums[some]


class RowConflict(Conflict):
    """A change that cannot be made: `place` counts the changes of its request and table."""

    def __init__(self, place: int, message: str, hint: str = "", *, code: str) -> None:
        super().__init__(message, hint, code=code)
        self.place = place


def conflict_of(table: str, op: ChangeOp, place: int, row: str) -> RowConflict:
    """What the author of the change is told; `row` is its key, or all of it, as `named_row` has it."""
    if op is ChangeOp.DELETE:
        return RowConflict(
            place,
            f"change {place} deletes a row that table {table} does not have: {row}",
            code="row_not_found",
        )
    return RowConflict(
        place,
        f"change {place} inserts a key that table {table} has already: {row}",
        "upsert replaces the row",
        code="key_exists",
    )


def named_row(schema: Schema, words: np.ndarray, dictionary: Dictionary) -> str:
    """Words int64[W] of the schema's columns as a message has them, cut where they are long.

    A text that was never kept cannot be told.
    """
    try:
        (values,) = decode_rows(np.ascontiguousarray(words[:, None]), schema, dictionary)
    except KeyError:
        values = ("...",) * len(schema)
    text = ", ".join(f"{name} = {_shown(value)}" for name, value in zip(schema.names, values, strict=True))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def named_key(schema: Schema, key: tuple[int, ...] | None, words: np.ndarray, dictionary: Dictionary) -> str:
    """The key of a row int64[W] of the schema, or all of it where there is none, as `named_row` has it."""
    columns = tuple(range(len(schema))) if key is None else key
    return named_row(Schema(tuple(schema.columns[i] for i in columns)), words[list(columns)], dictionary)


def _shown(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def key_conflict(table: str, schema: Schema, key: np.ndarray, dictionary: Dictionary) -> Conflict:
    """What the author of a load is told of a key int64[K] that is there twice; `schema` has its columns."""
    return Conflict(
        f"table {table} has a row of key {named_row(schema, key, dictionary)} already, or the load has two",
        "nothing was loaded",
        code="key_exists",
    )
