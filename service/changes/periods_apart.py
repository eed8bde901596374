"""The primary key of a table with valid time: at each valid time, one row a key.

The rows of a key are looked at in the order in which their periods begin: each has to end before the next one
begins. They are those that the table has of the keys that requests change, with what the requests up to one
add and remove. So the cost depends on these keys and on how many periods they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.kernels.words import NULL
from engine.runtime.engine import Snapshot
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.distinct import distinct, numbered
from service.changes.resolve import Net, Rows, named_row, sum_rows
from service.errors import Conflict, ShowingConflict


@dataclass(frozen=True)
class PeriodsApart:
    """The periods of rows of a table that agree in `columns`, the first ones of its key, do not overlap. They
    begin and end with the columns `since` and `until`."""

    name: str
    table: str
    columns: tuple[int, ...]
    since: int
    until: int
    schema: Schema


def overlap(
    apart: PeriodsApart, net: Net, snapshot: Snapshot | None, dictionary: Dictionary
) -> tuple[int, Conflict] | None:
    """The first request after which two periods overlap, and the error to report."""
    key = list(apart.columns)
    keys = distinct(net.words[key])
    words, counts = net.words[:, :0], net.diffs[:0]
    if snapshot is not None and keys.shape[1]:
        words, counts, _ = snapshot.lookup(apart.table, keys)
    for request, rows in _after_each(key, net, words, counts):
        place = _first_overlap(apart, rows)
        if place is not None:
            return request, _error(apart, rows[0][:, place], rows[0][:, place + 1], dictionary)
    return None


def _after_each(
    key: list[int], net: Net, words: np.ndarray, counts: np.ndarray
) -> Iterator[tuple[int, Rows]]:
    """Each request, and the rows that the keys which it changes have after it, in order."""
    requests = np.unique(net.request)
    if len(requests) == 1:
        yield int(requests[0]), _sum((words, counts), (net.words, net.diffs))
        return
    every = np.concatenate((words, net.words), axis=1)
    diffs = np.concatenate((counts, net.diffs))
    at = np.concatenate((np.full(len(counts), -1), net.request))
    _, number = numbered(every[key])
    order = np.lexsort((at, number))
    starts = np.searchsorted(number[order], np.arange(number.max(initial=-1) + 2))
    touched = number[len(counts) :]
    for request in requests.tolist():
        places = [order[starts[n] : starts[n + 1]] for n in np.unique(touched[net.request == request])]
        mine = np.concatenate(places)
        mine = mine[at[mine] <= request]
        yield request, sum_rows(np.ascontiguousarray(every[:, mine]), diffs[mine])


def _sum(*parts: Rows) -> Rows:
    words, counts = zip(*parts, strict=True)
    return sum_rows(np.concatenate(words, axis=1), np.concatenate(counts))


def _first_overlap(apart: PeriodsApart, rows: Rows) -> int | None:
    """The place of a row whose period overlaps that of the next one; `rows` are put into order for that."""
    words = rows[0]
    words[:] = words[:, np.lexsort((words[apart.since], *words[list(apart.columns)][::-1]))]
    same = (words[list(apart.columns), 1:] == words[list(apart.columns), :-1]).all(axis=0)
    until = words[apart.until, :-1]
    late = (until == NULL) | (until > words[apart.since, 1:])
    found = np.flatnonzero(same & late)
    return int(found[0]) if len(found) else None


def _error(apart: PeriodsApart, first: np.ndarray, second: np.ndarray, dictionary: Dictionary) -> Conflict:
    def named(columns: tuple[int, ...], row: np.ndarray) -> str:
        schema = Schema(tuple(apart.schema.columns[i] for i in columns))
        return named_row(schema, np.ascontiguousarray(row[list(columns)]), dictionary)

    period = (apart.since, apart.until)
    fact = f"two rows of table {apart.table} have {named(apart.columns, first)} at the same valid time"
    hint = "let the first one end where the second begins: UPDATE ... FOR PORTION OF VALID_TIME does it"
    return ShowingConflict(
        f"{fact}: ({named(period, first)}) and ({named(period, second)})",
        hint,
        apart.table,
        Conflict(fact, hint, code="periods_overlap"),
    )
