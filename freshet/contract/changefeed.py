"""A changefeed's events, read from the bytes of a stream, and the place that a reader has come to.

One event is one epoch, and its id is the epoch. A stream may end anywhere: an event that is not whole is
dropped, and the next stream begins after the last epoch that was whole. So no epoch comes twice, and none is
left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freshet.contract.api_call import answered_by_freshet
from freshet.contract.descriptions import ColumnDescription
from freshet.errors import error_of
from freshet.values.sql_values import Convert, python_value

Columns = Iterable[ColumnDescription]


@dataclass(frozen=True)
class Change:
    """A row that came `diff` times more; less, if it is negative."""

    epoch: int
    diff: int
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Epoch:
    """All changes of an epoch."""

    number: int
    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)


class ChangeReader:
    """Changes from their JSON, with Python's values of the columns' types."""

    def __init__(self, columns: Columns) -> None:
        found = ((column.name, python_value(column.type)) for column in columns)
        self._converts: dict[str, Convert] = {name: convert for name, convert in found if convert}

    def read(self, change: Mapping[str, Any]) -> Change:
        row = change["row"]
        for name, convert in self._converts.items():
            value = row.get(name)
            if value is not None:
                row[name] = convert(value)
        return Change(change["epoch"], change["diff"], row)


@dataclass(frozen=True)
class FeedEvent:
    """A server-sent event."""

    kind: str
    id: str
    data: str


class EventReader:
    """Events from the pieces of a stream. Comments, which show that the stream is alive, are skipped."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def events(self, piece: bytes) -> Iterator[FeedEvent]:
        """The events that end in this piece."""
        looked = max(0, len(self._waiting) - 1)
        self._waiting += piece
        while (end := self._waiting.find(b"\n\n", looked)) >= 0:
            block = self._waiting[:end].decode()
            del self._waiting[: end + 2]
            looked = 0
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if fields:
                yield FeedEvent(fields.get("event", ""), fields.get("id", ""), fields.get("data", ""))


class FeedPosition:
    """The place of a reader: all epochs up to `since` have been handed out."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.is_closed = False

    def begin(self, columns: Columns) -> None:
        """A new stream begins, of a relation with these columns."""
        self._events = EventReader()
        self._changes = ChangeReader(columns)

    def epochs(self, piece: bytes) -> Iterator[Epoch]:
        """The epochs that are whole with this piece. Raises the Error of a problem that ends the feed."""
        events = self._events.events(piece)
        while True:
            with answered_by_freshet(200):
                epoch = next(self._read(events), None)
            if epoch is None:
                return
            yield epoch

    def _read(self, events: Iterator[FeedEvent]) -> Iterator[Epoch]:
        for event in events:
            if event.kind == "problem":
                problem = json.loads(event.data)
                raise error_of(problem["status"], problem)
            number = int(event.id)
            if number > self.since:
                changes = tuple(map(self._changes.read, json.loads(event.data)))
                self.since = number
                yield Epoch(number, changes)
