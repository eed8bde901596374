"""A mixed load of a service that is killed: writers by deltas and by SQL, and a client that defines.

Each knows what it was acknowledged, and of at most one request it does not know whether it took effect.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

NODES = 12
Effect = Counter
"""The effect of a request: diffs by (table, *row)."""
Row = tuple[int, ...]

GROUPS = "SELECT writer, count(*) AS n, sum(value) AS total FROM items GROUP BY writer"
REACH = """
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON edges.a = reach.b
    ) SELECT a, b FROM reach
"""
VIEWS = {"groups": GROUPS, "reach": REACH}
"""Views that are there all the time."""
_PASSING = (
    "SELECT writer, max(value) AS most FROM items GROUP BY writer",
    "SELECT a, count(*) AS n FROM edges GROUP BY a HAVING count(*) > 1",
    "SELECT i.id, e.b FROM items AS i JOIN edges AS e ON e.a = i.value % 12",
    "SELECT value FROM items EXCEPT SELECT a FROM edges",
    "SELECT id, row_number() OVER (PARTITION BY writer ORDER BY id) AS place FROM items",
    "SELECT count(*) AS n, sum(total)::BIGINT AS total FROM groups",
    "SELECT a, count(*) AS n FROM reach GROUP BY a HAVING count(*) > 3",
)
"""Views that come and go."""


class Gone(Exception):
    """The service does not take the request any more, or does not know whether it has taken it."""


GONE = (Gone, httpx.TransportError)
_GONE_CODES = ("not_leader", "log_unavailable", "shutting_down")


def must_be(answer: httpx.Response, status: int) -> None:
    """Fails unless the answer has the status; a 503 is that of a service that has lost its place."""
    if answer.status_code == 503 and answer.json()["code"] in (
        "not_leader",
        "log_unavailable",
        "shutting_down",
    ):
        raise Gone
    assert answer.status_code == status, answer.text


@dataclass(frozen=True)
class Change:
    """Rows that go and rows that come, by table; in one epoch."""

    number: int
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
    applied: dict[int, Effect] = field(default_factory=dict)
    items: dict[int, Row] = field(default_factory=dict)
    edges: Counter[Row] = field(default_factory=Counter)
    open: Change | None = None
    requests: int = 0
    is_stopped: bool = False

    def work(self, url: str) -> None:
        """Writes until the service is killed, or the writer is stopped."""
        with httpx.Client(base_url=url, timeout=60) as http:
            try:
                while not self.is_stopped:
                    self.open = self._change()
                    self.close(self.send(http, self.open))
            except GONE:
                pass

    def send(self, http: httpx.Client, change: Change) -> int:
        """The epoch that the service names for a change."""
        raise NotImplementedError

    def settle(self, http: httpx.Client, unknown: Mapping[int, Effect]) -> None:
        """Finds out what became of the open change; `unknown` are effects that nobody was told of."""
        raise NotImplementedError

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
        """New items, an item replaced, another deleted, an edge added and another removed."""
        self.requests += 1
        chance = self.chance
        inserted, deleted = [], []
        for i in range(chance.randint(1, 3)):
            id = (self.requests * 10 + i) * self.clients + self.number
            inserted.append(("items", (id, self.number, chance.randint(0, 99))))
        old = chance.sample(sorted(self.items), min(2, len(self.items)))
        deleted += [("items", self.items[id]) for id in old]
        inserted += [("items", (id, self.number, chance.randint(100, 199))) for id in old[:1]]
        inserted.append(("edges", (chance.randrange(NODES), chance.randrange(NODES))))
        if self.edges and chance.random() < 0.9:
            deleted.append(("edges", chance.choice(sorted(self.edges))))
        return Change(self.requests, tuple(deleted), tuple(inserted))


class DeltaWriter(Writer):
    """Posts deltas with idempotency keys: after a kill, it sends the same request again."""

    def send(self, http: httpx.Client, change: Change) -> int:
        items: list[dict] = []
        kept = {row[0] for table, row in change.inserted if table == "items"}
        for table, row in change.deleted:
            if table == "items" and row[0] not in kept:
                items.append({"delete": {"id": row[0]}})
        for table, row in change.inserted:
            if table == "items":
                kind = "upsert" if row[0] in self.items else "insert"
                items.append({kind: dict(zip(("id", "writer", "value"), row, strict=True))})
        edges = [
            {kind: dict(zip("ab", row, strict=True))}
            for kind, rows in (("insert", change.inserted), ("delete", change.deleted))
            for table, row in rows
            if table == "edges"
        ]
        answer = http.post(
            "/v1/deltas",
            json={"tables": {"items": items, "edges": edges}},
            headers={"Idempotency-Key": f"{self.number}-{change.number}"},
        )
        must_be(answer, 200)
        return answer.json()["epoch"]

    def settle(self, http: httpx.Client, unknown: Mapping[int, Effect]) -> None:
        if self.open is not None:
            self.close(self.send(http, self.open))


class SqlWriter(Writer):
    """Sends blocks of SQL: after a kill, it looks whether its last one is there."""

    def send(self, http: httpx.Client, change: Change) -> int:
        ids = [row[0] for table, row in change.deleted if table == "items"]
        script = [f"DELETE FROM items WHERE id IN ({', '.join(map(str, ids))})"] if ids else []
        for table in ("items", "edges"):
            rows = ", ".join(str(row) for name, row in change.inserted if name == table)
            script.append(f"INSERT INTO {table} VALUES {rows}")
        answer = http.post("/v1/sql", json={"sql": "; ".join(["BEGIN", *script, "COMMIT"])})
        must_be(answer, 200)
        return answer.json()["results"][-1]["epoch"]

    def settle(self, http: httpx.Client, unknown: Mapping[int, Effect]) -> None:
        if self.open is None:
            return
        effect = self.open.effect
        for epoch, found in unknown.items():
            if found == effect:
                self.close(epoch)
                return
        self.open = None

    def _change(self) -> Change:
        """No edge is removed: SQL cannot name one of several equal rows."""
        change = super()._change()
        deleted = tuple((table, row) for table, row in change.deleted if table != "edges")
        return Change(change.number, deleted, change.inserted)


@dataclass
class Definer:
    """A client that makes and drops views and tables."""

    chance: random.Random
    views: dict[str, str] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    open: tuple[str, str] | None = None
    """The kind and the name of what is being made or dropped."""
    requests: int = 0

    def work(self, url: str) -> None:
        """Defines until the service is killed."""
        with httpx.Client(base_url=url, timeout=60) as http:
            try:
                while True:
                    self._request(http)
            except GONE:
                pass

    def _request(self, http: httpx.Client) -> None:
        self.requests += 1
        kind = self.chance.choice(("views", "tables"))
        known = sorted(self.views if kind == "views" else self.tables)
        if len(known) > 3:
            name = self.chance.choice(known)
            self.open = kind, name
            answer = http.delete(f"/v1/{kind}/{name}")
            must_be(answer, 204)
        else:
            name = f"passing_{self.requests}"
            self.open = kind, name
            sql = self.chance.choice(_PASSING)
            body: dict = {"name": name, "sql": sql}
            if kind == "tables":
                body = {"name": name, "columns": [{"name": "a", "type": "BIGINT"}]}
            else:
                self.views[name] = sql
            answer = http.post(f"/v1/{kind}", json=body)
            must_be(answer, 201)
            self.tables |= {name} if kind == "tables" else set()
            self.open = None
            return
        self._forget(kind, name)
        self.open = None

    def settle(self, views: set[str], tables: set[str]) -> None:
        """Compares what it knows with what there is; what was open may be there or not."""
        kind, name = self.open or ("", "")
        for known, found, of in ((set(self.views), views, "views"), (self.tables, tables, "tables")):
            doubtful = {name} if kind == of else set()
            assert found - doubtful == set(known) - doubtful, of
        if self.open is not None:
            if name not in (views if kind == "views" else tables):
                self._forget(kind, name)
            elif kind == "tables":
                self.tables.add(name)
        self.open = None

    def _forget(self, kind: str, name: str) -> None:
        if kind == "views":
            self.views.pop(name, None)
        else:
            self.tables.discard(name)
