"""A checker for strict serialisability: is there one order of all transactions that explains every read?

Each list shows the order in which values came into it: the longest ordered read, of which all other reads
must be beginnings. From it follow what must come before what:

- of two neighbours in a list, the transaction of the first (write-write);
- the transaction of the last value that a read found (write-read);
- a read, before the transaction of the first value that it did not find (read-write), and before that of
  every value that no read ever finds;
- a transaction that had ended, before one that began later (real time);
- an earlier epoch before a later one, as far as the service has named them.

If these contradict each other, they form a cycle. Times are put in through a chain of moments, so that there
are as many edges as transactions and not as many as pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from tests.consistency.history import History, Key, Transaction, Value

Edge = tuple[Hashable, Hashable]
"""What comes before, and what after."""


def anomaly(history: History) -> str:
    """The first contradiction, in a sentence; nothing if the history is strictly serialisable."""
    writers = {
        (key, value): transaction
        for transaction in history
        for key, value in transaction.appends.items()
        if transaction.is_committed is not False
    }
    orders = _orders(history)
    for found in (*_unexplained(history, writers), *_departures(history, orders)):
        return found
    edges = [
        *_of_lists(orders, writers),
        *_of_reads(history, orders, writers),
        *_of_times(history),
        *_of_epochs(history),
    ]
    return _cycle(edges)


def _orders(history: History) -> dict[Key, tuple[Value, ...]]:
    """The longest ordered read of each list."""
    orders: dict[Key, tuple[Value, ...]] = defaultdict(tuple)
    for transaction in history:
        for key, read in transaction.reads.items():
            if read.is_ordered and len(read.values) > len(orders[key]):
                orders[key] = read.values
    return orders


def _unexplained(history: History, writers: dict[tuple[Key, Value], Transaction]) -> Iterator[str]:
    """Values that are read twice, or that nobody has committed."""
    for transaction in history:
        for key, read in transaction.reads.items():
            if len(set(read.values)) < len(read.values):
                yield f"transaction {transaction.number} reads a value of list {key} twice: {read.values}"
            for value in read.values:
                if (key, value) not in writers:
                    yield f"transaction {transaction.number} reads {value} in list {key}: nobody put it there"


def _departures(history: History, orders: dict[Key, tuple[Value, ...]]) -> Iterator[str]:
    """Reads that are no beginning of their list."""
    for transaction in history:
        for key, read in transaction.reads.items():
            beginning = orders[key][: len(read.values)]
            same = read.values == beginning if read.is_ordered else set(read.values) == set(beginning)
            if not same:
                yield f"transaction {transaction.number} reads {read.values} in list {key}: {orders[key]}"


def _of_lists(
    orders: dict[Key, tuple[Value, ...]], writers: dict[tuple[Key, Value], Transaction]
) -> Iterator[Edge]:
    for key, values in orders.items():
        for first, second in pairwise(values):
            yield writers[key, first].number, writers[key, second].number


def _of_reads(
    history: History, orders: dict[Key, tuple[Value, ...]], writers: dict[tuple[Key, Value], Transaction]
) -> Iterator[Edge]:
    unseen = defaultdict(list)
    for (key, value), writer in writers.items():
        if value not in set(orders[key]) and writer.is_committed:
            unseen[key].append(writer.number)
    for transaction in history:
        for key, read in transaction.reads.items():
            found = len(read.values)
            if found:
                yield writers[key, orders[key][found - 1]].number, transaction.number
            following = [writers[key, value].number for value in orders[key][found : found + 1]]
            for later in following + unseen[key]:
                if later != transaction.number:
                    yield transaction.number, later


def _of_times(history: History) -> Iterator[Edge]:
    """Edges from an end to its moment, from moment to moment, from the last moment to a beginning."""
    events = [(t.ended, 1, t) for t in history if t.is_committed]
    events += [(t.began, 0, t) for t in history if not t.is_of_the_past]
    last = None
    for moment, is_end, transaction in sorted(events, key=lambda event: event[:2]):
        if not is_end:
            if last is not None:
                yield last, transaction.number
            continue
        here = ("moment", moment, transaction.number)
        yield transaction.number, here
        if last is not None:
            yield last, here
        last = here


def _of_epochs(history: History) -> Iterator[Edge]:
    """Edges through epochs: the one that appends at an epoch, then those that read at it."""
    for transaction in history:
        if transaction.epoch is None:
            continue
        if transaction.appends:
            yield ("epoch", transaction.epoch - 1), transaction.number
            yield transaction.number, ("epoch", transaction.epoch)
        else:
            yield ("epoch", transaction.epoch), transaction.number
            yield transaction.number, ("after", transaction.epoch)
    known = sorted({t.epoch for t in history if t.epoch is not None})
    every = sorted({*known, *(epoch - 1 for epoch in known)})
    for first, second in pairwise(every):
        yield ("epoch", first), ("epoch", second)
        yield ("after", first), ("epoch", second)


def _cycle(edges: list[Edge]) -> str:
    sorter: TopologicalSorter[Hashable] = TopologicalSorter()
    for before, after in edges:
        sorter.add(after, before)
    try:
        sorter.prepare()
    except CycleError as error:
        return f"each of these comes before the next: {error.args[1]}"
    return ""
