"""Faults to plant into a history that has none: what a service that is not strictly serialisable would do."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.consistency.history import History, Read, Transaction


def lost(history: History, chance: random.Random) -> History:
    """A committed append is in no read."""
    writer = chance.choice([t for t in history if t.appends and t.is_committed])
    key, value = chance.choice(sorted(writer.appends.items()))
    return [_without(t, key, value) for t in history]


def stale(history: History, chance: random.Random) -> History:
    """The last read of a list finds nothing, as if it had been the first."""
    at, key = _last_read(history, is_ordered=False)
    return _changed(history, at, key, Read((), False))


def fractured(history: History, chance: random.Random) -> History:
    """The last read lacks one of the values that a transaction put in together."""
    at, key = _last_read(history, is_ordered=False)
    read = history[at].reads[key]
    together = [t for t in history if len(t.appends) > 1 and t.appends.get(key) in read.values]
    gone = chance.choice(together).appends[key]
    return _changed(history, at, key, Read(tuple(v for v in read.values if v != gone), False))


def swapped(history: History, chance: random.Random) -> History:
    """The last two values of a list have changed places in every read that knows both."""
    at, key = _last_read(history, is_ordered=True)
    *_, first, second = history[at].reads[key].values
    places = {first: second, second: first}
    return [
        replace(t, reads={**t.reads, key: Read(tuple(places.get(v, v) for v in t.reads[key].values))})
        if key in t.reads and t.reads[key].is_ordered and second in t.reads[key].values
        else t
        for t in history
    ]


def twice(history: History, chance: random.Random) -> History:
    """A retry was applied a second time."""
    at, key = _last_read(history, is_ordered=True)
    values = history[at].reads[key].values
    return _changed(history, at, key, Read((*values, chance.choice(values))))


def dirty(history: History, chance: random.Random) -> History:
    """A value was read whose transaction was refused."""
    number = chance.choice([t.number for t in history if t.appends])
    return [replace(t, is_committed=False) if t.number == number else t for t in history]


def late(history: History, chance: random.Random) -> History:
    """A transaction was acknowledged before it could be seen: its end is before the read that lacks it."""
    read = next(
        t for t in history if t.reads and not t.is_of_the_past and any(_unseen(t, w) for w in history)
    )
    writer = next(w for w in history if _unseen(read, w))
    return [replace(t, began=read.began - 2, ended=read.began - 1) if t is writer else t for t in history]


FAULTS: tuple[Callable[[History, random.Random], History], ...] = (
    lost,
    stale,
    fractured,
    swapped,
    twice,
    dirty,
    late,
)


def _unseen(read: Transaction, writer: Transaction) -> bool:
    """Whether a transaction that ended later appended to a list that was read, and the read lacks it."""
    return writer.ended > read.ended and any(
        key in read.reads and value not in read.reads[key].values for key, value in writer.appends.items()
    )


def _last_read(history: History, is_ordered: bool) -> tuple[int, int]:
    """The place of the last transaction that read, and the longest of its lists."""
    at = max(
        (
            i
            for i, t in enumerate(history)
            if t.reads
            and not t.is_of_the_past
            and all(read.is_ordered == is_ordered for read in t.reads.values())
        ),
        key=lambda i: history[i].began,
    )
    reads = history[at].reads
    return at, max(reads, key=lambda key: len(reads[key].values))


def _changed(history: History, at: int, key: int, read: Read) -> History:
    changed = replace(history[at], reads={**history[at].reads, key: read})
    return [*history[:at], changed, *history[at + 1 :]]


def _without(transaction: Transaction, key: int, value: int) -> Transaction:
    if key not in transaction.reads:
        return transaction
    read = transaction.reads[key]
    values = tuple(v for v in read.values if v != value)
    return replace(transaction, reads={**transaction.reads, key: Read(values, read.is_ordered)})
