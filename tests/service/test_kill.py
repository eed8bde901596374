"""kill -9 at random moments: acknowledged changes exist once; others exist in full or not at all.

Clients write until the process is killed, and each records its responses. After the restart the tables'
changefeeds show what each epoch holds, and the views are compared with their tables. `FRESHET_KILLS` sets
the number of kills.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import orjson

from tests.seeds import SEED
from tests.service.client import Process
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "3"))
CLIENTS = 4
NODES = 12

GROUPS = "SELECT writer, count(*) AS n, sum(value) AS total FROM items GROUP BY writer"
REACH = """
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON edges.a = reach.b
    ) SELECT a, b FROM reach
"""

Row = tuple[int, ...]
Effect = Counter
"""The effect of a request: diffs by (table, *row)."""


@dataclass
class Writer:
    """A client. It knows the epochs of its requests, and one request whose outcome it does not know."""

    number: int
    chance: random.Random
    applied: dict[int, Effect] = field(default_factory=dict)
    items: dict[int, int] = field(default_factory=dict)
    edges: Counter = field(default_factory=Counter)
    open: tuple[str, dict, Effect] | None = None
    requests: int = 0

    def write_until_killed(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=30) as http:
            try:
                while True:
                    self.open = self._request()
                    self.close(self.send(http))
            except httpx.TransportError:
                pass

    def send(self, http: httpx.Client) -> httpx.Response:
        assert self.open is not None
        key, body, _ = self.open
        return http.post("/v1/deltas", json=body, headers={"Idempotency-Key": key})

    def close(self, answer: httpx.Response) -> None:
        """Records the epoch of the open request."""
        assert self.open is not None
        assert answer.status_code == 200, answer.text
        _, _, effect = self.open
        epoch = answer.json()["epoch"]
        assert epoch not in self.applied
        self.applied[epoch] = effect
        for (table, *row), diff in effect.items():
            if table == "edges":
                self.edges[tuple(row)] += diff
            elif diff > 0:
                self.items[row[0]] = row[2]
            elif row[0] in self.items and self.items[row[0]] == row[2]:
                del self.items[row[0]]
        self.edges = +self.edges
        self.open = None

    def _request(self) -> tuple[str, dict, Effect]:
        """New items, an item replaced, another deleted, edges added and removed: one epoch, or nothing."""
        self.requests += 1
        effect: Effect = Counter()
        items, edges = [], []
        for i in range(self.chance.randint(1, 3)):
            id = (self.requests * 10 + i) * CLIENTS + self.number
            value = self.chance.randint(0, 99)
            items.append({"insert": {"id": id, "writer": self.number, "value": value}})
            effect["items", id, self.number, value] += 1
        old = self.chance.sample(sorted(self.items), min(2, len(self.items)))
        for id, kind in zip(old, ("upsert", "delete"), strict=False):
            effect["items", id, self.number, self.items[id]] -= 1
            items.append({kind: {"id": id}})
            if kind == "upsert":
                value = 100 + self.chance.randint(0, 99)
                items[-1] = {kind: {"id": id, "writer": self.number, "value": value}}
                effect["items", id, self.number, value] += 1
        edge = (self.chance.randrange(NODES), self.chance.randrange(NODES))
        edges.append({"insert": dict(zip("ab", edge, strict=True))})
        effect["edges", *edge] += 1
        if self.edges and self.chance.random() < 0.9:
            gone = self.chance.choice(sorted(self.edges))
            edges.append({"delete": dict(zip("ab", gone, strict=True))})
            effect["edges", *gone] -= 1
        effect = Counter({change: diff for change, diff in effect.items() if diff})
        return f"{self.number}-{self.requests}", {"tables": {"items": items, "edges": edges}}, effect


def define(http: httpx.Client) -> None:
    items = [{"name": name, "type": "BIGINT"} for name in ("id", "writer", "value")]
    edges = [{"name": name, "type": "BIGINT"} for name in ("a", "b")]
    for body in (
        {"name": "items", "columns": items, "primary_key": ["id"]},
        {"name": "edges", "columns": edges},
    ):
        assert http.post("/v1/tables", json=body).status_code == 201
    for name, sql in (("groups", GROUPS), ("reach", REACH)):
        assert http.post("/v1/views", json={"name": name, "sql": sql}).status_code == 201


def effects(http: httpx.Client) -> dict[int, Effect]:
    """The effect of each epoch, from the tables' changefeeds."""
    found: dict[int, Effect] = {}
    for table in ("items", "edges"):
        answer = http.get(f"/v1/tables/{table}/changes", params={"since": 0})
        for line in answer.content.splitlines():
            change = orjson.loads(line)
            found.setdefault(change["epoch"], Counter())[table, *change["row"].values()] += change["diff"]
    return found


def rows(http: httpx.Client, path: str, epoch: int) -> list[Row]:
    answer = http.get(path, params={"as_of": epoch}, headers={"Accept": "application/x-ndjson"})
    assert answer.status_code == 200, answer.text
    return sorted(tuple(orjson.loads(line).values()) for line in answer.content.splitlines())


def closure(edges: set[Row]) -> set[Row]:
    reach = set(edges)
    while True:
        more = {(a, d) for a, b in reach for c, d in edges if b == c} - reach
        if not more:
            return reach
        reach |= more


def check(http: httpx.Client, writers: list[Writer], chance: random.Random) -> None:
    """Checks the guarantee against what the writers know, and settles their open requests."""
    found = effects(http)
    newest = http.get("/v1/status").json()["epoch"]
    known = {epoch: effect for writer in writers for epoch, effect in writer.applied.items()}
    assert sum(len(writer.applied) for writer in writers) == len(known), "two requests share an epoch"
    for epoch, effect in known.items():
        assert found.get(epoch, Counter()) == effect, f"epoch {epoch} is not what was acknowledged"
    unknown = [effect for epoch, effect in found.items() if epoch not in known]
    offered = [writer.open[2] for writer in writers if writer.open is not None]
    for effect in unknown:
        assert effect in offered, f"nobody asked for {effect}"
    assert len(unknown) <= len(offered)
    assert newest <= len(known) + len(offered)
    for writer in writers:
        if writer.open is not None:
            writer.close(writer.send(http))
    final = effects(http)
    assert final == {epoch: e for writer in writers for epoch, e in writer.applied.items() if e}
    newest = http.get("/v1/status").json()["epoch"]
    for epoch in {newest, *chance.sample(range(newest + 1), min(5, newest + 1))}:
        check_views(http, epoch)


def check_views(http: httpx.Client, epoch: int) -> None:
    groups: dict[int, list[int]] = {}
    for _, writer, value in rows(http, "/v1/tables/items/rows", epoch):
        groups.setdefault(writer, []).append(value)
    expected = sorted((writer, len(values), sum(values)) for writer, values in groups.items())
    assert [(w, n, int(total)) for w, n, total in rows(http, "/v1/views/groups/rows", epoch)] == expected
    edges = set(rows(http, "/v1/tables/edges/rows", epoch))
    assert rows(http, "/v1/views/reach/rows", epoch) == sorted(closure(edges))


def test_kills(start: Callable[..., Process]) -> None:
    chance = random.Random(SEED)
    writers = [Writer(number, random.Random(chance.random())) for number in range(CLIENTS)]
    environment = {"FRESHET_CHECKPOINT_COMMITS": "20"}
    for kill in itertools.count():
        service = start(**environment)
        service.wait_ready()
        with httpx.Client(base_url=service.url, timeout=60) as http:
            if kill == 0:
                define(http)
            check(http, writers, chance)
        if kill == KILLS:
            break
        threads = [threading.Thread(target=w.write_until_killed, args=(service.url,)) for w in writers]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.05, 1.5))
        if kill == KILLS - 1:
            wait_until(lambda: sum(len(writer.applied) for writer in writers) > CLIENTS)
        service.kill()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
