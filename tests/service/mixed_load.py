"""Writers of a service that dies: by deltas and by SQL, patient ones and one that gives up.

Each knows what it was acknowledged, and of at most one request it does not know whether it took effect. All
go through the client: it sends a post whose answer was lost again, with the same idempotency key.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from freshet import Connection, Error, Table, UnavailableError, UnreachableError, View
from tests.service.door import PATIENT, Door

NODES = 12
MOST_ITEMS = 40
"""A writer that has more items deletes more than it inserts."""
Effect = Counter
"""The effect of a request: diffs by (table, *row)."""
Row = tuple[int, ...]
_GONE_CODES = frozenset({"not_leader", "not_ready", "log_unavailable", "shutting_down"})


def is_gone(error: Error) -> bool:
    """Whether the service does not take the request any more, or nobody knows whether it has taken it."""
    if isinstance(error, UnavailableError):
        return error.code in _GONE_CODES
    return isinstance(error, UnreachableError)


def rows(relation: Table | View, epoch: int) -> list[Row]:
    """The rows at an epoch, in order, as integers."""
    found = relation.rows(as_of=epoch).tuples()
    return sorted(tuple(0 if value is None else int(value) for value in row) for row in found)


@dataclass(frozen=True)
class Change:
    """Rows that go and rows that come, by table; in one epoch."""

    deleted: tuple[tuple[str, Row], ...]
    inserted: tuple[tuple[str, Row], ...]

    @property
    def effect(self) -> Effect:
        effect: Effect = Counter()
        for table, row in self.inserted:
            effect[table, *row] += 1
        for table, row in self.deleted:
            effect[table, *row] -= 1
        return Counter({change: diff for change, diff in effect.items() if diff})


@dataclass
class Writer:
    """A client that changes tables. Items are its own; edges are a bag that all share."""

    number: int
    clients: int
    chance: random.Random
    retries: int = PATIENT
    pause: float = 0.0
    """Seconds between two requests."""
    applied: dict[int, Effect] = field(default_factory=dict)
    items: dict[int, Row] = field(default_factory=dict)
    edges: Counter[Row] = field(default_factory=Counter)
    open: Change | None = None
    """What was sent and not acknowledged."""
    requests: int = 0
    answered_at: float = 0.0
    """When the last request was acknowledged, by time.monotonic."""
    is_stopped: bool = False

    def work(self, door: Door) -> None:
        """Writes until it is stopped, or a request fails."""
        with door.connect(self.retries) as db:
            while not self.is_stopped:
                self.open = self._change()
                try:
                    epoch = self.send(db, self.open)
                except Error as error:
                    if is_gone(error):
                        return
                    raise
                self.answered_at = time.monotonic()
                self.close(epoch)
                time.sleep(self.pause)

    def send(self, db: Connection, change: Change) -> int:
        """The epoch that the service names for a change."""
        raise NotImplementedError

    def settle(self, unknown: Mapping[int, Effect]) -> None:
        """Finds out what became of the open change; `unknown` are effects that nobody was told of."""
        if self.open is None:
            return
        effect = self.open.effect
        for epoch, found in unknown.items():
            if found == effect:
                self.close(epoch)
                return
        self.open = None

    def close(self, epoch: int) -> None:
        """Records the epoch of the open change."""
        assert self.open is not None
        assert epoch not in self.applied
        self.applied[epoch] = self.open.effect
        for table, row in self.open.deleted:
            if table == "edges":
                self.edges[row] -= 1
            else:
                del self.items[row[0]]
        for table, row in self.open.inserted:
            if table == "edges":
                self.edges[row] += 1
            else:
                self.items[row[0]] = row
        self.edges = +self.edges
        self.open = None

    def _change(self) -> Change:
        """New items, an item replaced, others deleted, an edge added and another removed."""
        self.requests += 1
        chance = self.chance
        inserted, deleted = [], []
        for i in range(chance.randint(1, 3)):
            id = (self.requests * 10 + i) * self.clients + self.number
            inserted.append(("items", (id, self.number, chance.randint(0, 99))))
        leaving = 2 if len(self.items) < MOST_ITEMS else 6
        old = chance.sample(sorted(self.items), min(leaving, len(self.items)))
        deleted += [("items", self.items[id]) for id in old]
        inserted += [("items", (id, self.number, chance.randint(100, 199))) for id in old[:1]]
        inserted.append(("edges", (chance.randrange(NODES), chance.randrange(NODES))))
        if self.edges and chance.random() < 0.9:
            deleted.append(("edges", chance.choice(sorted(self.edges))))
        return Change(tuple(deleted), tuple(inserted))


class DeltaWriter(Writer):
    """Posts deltas, again if the answer is lost."""

    def send(self, db: Connection, change: Change) -> int:
        kept = {row[0] for table, row in change.inserted if table == "items"}
        with db.changing() as changing:
            items, edges = changing.table("items"), changing.table("edges")
            items.delete([{"id": row[0]} for t, row in change.deleted if t == "items" and row[0] not in kept])
            for table, row in change.inserted:
                if table == "items":
                    put = items.upsert if row[0] in self.items else items.insert
                    put(dict(zip(("id", "writer", "value"), row, strict=True)))
            edges.insert([dict(zip("ab", row, strict=True)) for t, row in change.inserted if t == "edges"])
            edges.delete([dict(zip("ab", row, strict=True)) for t, row in change.deleted if t == "edges"])
        assert changing.epoch is not None
        return changing.epoch


class SqlWriter(Writer):
    """Sends blocks of SQL, which the client does not repeat if their answer is lost."""

    def send(self, db: Connection, change: Change) -> int:
        ids = [row[0] for table, row in change.deleted if table == "items"]
        script = [f"DELETE FROM items WHERE id IN ({', '.join(map(str, ids))})"] if ids else []
        for table in ("items", "edges"):
            rows = ", ".join(str(row) for name, row in change.inserted if name == table)
            script.append(f"INSERT INTO {table} VALUES {rows}")
        return db.script("; ".join(["BEGIN", *script, "COMMIT"]))[-1].epoch

    def _change(self) -> Change:
        """No edge is removed: SQL cannot name one of several equal rows."""
        change = super()._change()
        deleted = tuple((table, row) for table, row in change.deleted if table != "edges")
        return Change(deleted, change.inserted)
