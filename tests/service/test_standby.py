"""Two services over one catalog: the standby follows and takes the leader's place, and nothing is lost.

`FRESHET_TAKEOVERS` sets how often a leader is killed under load, and how often one is paused.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.seeds import SEED
from tests.service.client import code
from tests.service.guarantee import TABLES, check, define, rows
from tests.service.instances import Instances
from tests.service.mixed_load import VIEWS, Definer, DeltaWriter, SqlWriter, Writer
from tests.service.waiting import wait_until

TAKEOVERS = int(os.environ.get("FRESHET_TAKEOVERS", "1"))
WRITERS = (DeltaWriter, DeltaWriter, SqlWriter)
OFTEN = {"FRESHET_CHECKPOINT_COMMITS": "20", "FRESHET_CHECKPOINT_BYTES": "20000"}
"""Checkpoints come so often that the standby meets them."""
DEPOSED = 75
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
def instances(shared_catalog: str, tmp_path: Path) -> Iterator[Callable[..., Instances]]:
    """Starts two services over a new catalog."""
    started: list[Instances] = []

    def start(**environment: str) -> Instances:
        started.append(Instances(tmp_path, shared_catalog, environment))
        return started[-1]

    yield start
    for each in started:
        each.close()


class Load:
    """Clients that write and define until their service is gone."""

    def __init__(self) -> None:
        self.chance = random.Random(SEED)
        self.writers: list[Writer] = [
            kind(i, len(WRITERS) + 1, random.Random(self.chance.random()))
            for i, kind in enumerate((*WRITERS, DeltaWriter))
        ]
        self.definer = Definer(random.Random(self.chance.random()))
        self._threads: list[threading.Thread] = []

    def begin(self, url: str, defines: bool = True) -> None:
        *early, _ = self.writers
        clients = [*early, self.definer] if defines else early
        self._threads = [threading.Thread(target=client.work, args=(url,)) for client in clients]
        for thread in self._threads:
            thread.start()

    def write_meanwhile(self, url: str) -> None:
        """The last writer makes epochs of its own, while the others wait for a service that sleeps."""
        *_, late = self.writers
        before, late.is_stopped = len(late.applied), False
        thread = threading.Thread(target=late.work, args=(url,))
        thread.start()
        wait_until(lambda: len(late.applied) > before + 3)
        late.is_stopped = True
        thread.join()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive()

    def check(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=60) as http:
            check(http, self.writers, self.definer, self.chance)


def check_reads_alike(instances: Instances) -> None:
    """What the standby has followed is what the leader has."""
    instances.wait_followed()
    with (
        httpx.Client(base_url=instances.leader.url, timeout=60) as leader,
        httpx.Client(base_url=instances.standby.url, timeout=60) as standby,
    ):
        epoch = leader.get("/v1/status").json()["epoch"]
        for at in {epoch, epoch // 2}:
            for path in [f"/v1/tables/{t}/rows" for t in TABLES] + [f"/v1/views/{v}/rows" for v in VIEWS]:
                assert rows(standby, path, at) == rows(leader, path, at), (path, at)
        for path in (f"/v1/tables/{t}/changes" for t in TABLES):
            asked = {"since": 0}
            assert standby.get(path, params=asked).content == leader.get(path, params=asked).content


def test_takeovers(instances: Callable[..., Instances]) -> None:
    two, load, seconds = instances(**OFTEN), Load(), []
    with httpx.Client(base_url=two.leader.url, timeout=60) as http:
        define(http)
    for _ in range(TAKEOVERS):
        load.begin(two.leader.url)
        time.sleep(load.chance.uniform(0.3, 3))
        two.kill_leader()
        killed = time.monotonic()
        two.switch()
        seconds.append(time.monotonic() - killed)
        load.join()
        load.check(two.leader.url)
        two.start_standby()
        check_reads_alike(two)
    print(f"{TAKEOVERS} take-overs: {sorted(seconds)[len(seconds) // 2]:.2f} s, at most {max(seconds):.2f} s")


def test_a_leader_that_wakes_up_again(instances: Callable[..., Instances]) -> None:
    two, load = instances(**OFTEN, FRESHET_LEADER_MILLISECONDS="3000"), Load()
    with httpx.Client(base_url=two.leader.url, timeout=60) as http:
        define(http)
    for _ in range(TAKEOVERS):
        load.begin(two.leader.url)
        time.sleep(load.chance.uniform(0.3, 2))
        two.pause_leader()
        two.switch()
        load.write_meanwhile(two.leader.url)
        two.wake_last_leader()
        assert two.standby.wait(60)[0] == DEPOSED
        load.join()
        load.check(two.leader.url)
        two.start_standby()
        check_reads_alike(two)


def newest(two: Instances) -> int:
    return httpx.get(f"{two.leader.url}/v1/status", timeout=60).json()["epoch"]


CHANGES = (
    ("POST", "/v1/tables/items/deltas", [{"insert": {"id": 2, "writer": 1, "value": 1}}]),
    ("POST", "/v1/deltas", {"tables": {"items": [{"delete": {"id": 1}}]}}),
    ("POST", "/v1/sql", {"sql": "INSERT INTO items VALUES (3, 1, 5)"}),
    ("POST", "/v1/sql", {"sql": "DELETE FROM items"}),
    ("POST", "/v1/sql", {"sql": "BEGIN; UPDATE items SET value = 1; COMMIT"}),
    ("POST", "/v1/sql", {"sql": "CREATE TABLE t (a INT)"}),
    ("POST", "/v1/sql", {"sql": "ALTER TABLE items ADD COLUMN c INT"}),
    ("POST", "/v1/sql", {"sql": "CREATE TYPE mood AS ENUM ('sad')"}),
    ("POST", "/v1/sql", {"sql": "CREATE SCHEMA s"}),
    ("POST", "/v1/sql", {"sql": "CREATE ROLE r"}),
    ("POST", "/v1/views", {"name": "w", "sql": "SELECT 1 AS a"}),
    ("DELETE", "/v1/views/reach", None),
    ("POST", "/v1/tables", {"name": "t", "columns": [{"name": "a", "type": "INT"}]}),
    ("POST", "/v1/keys", {"name": "k", "role": "admin"}),
    ("POST", "/v1/loads", {"table": "items", "path": "x.csv", "format": "csv"}),
    ("GET", "/v1/sinks", None),
)


def test_a_standby_reads_and_refuses_changes(instances: Callable[..., Instances]) -> None:
    two = instances(FRESHET_ADVERTISED_URL="https://freshet.example")
    with (
        httpx.Client(base_url=two.leader.url, timeout=60) as leader,
        httpx.Client(base_url=two.standby.url, timeout=60) as standby,
    ):
        define(leader)
        leader.post("/v1/sql", json={"sql": "INSERT INTO items VALUES (1, 1, 5)"}).raise_for_status()
        two.wait_followed()
        assert rows(standby, "/v1/views/groups/rows", newest(two)) == [(1, 1, 5)]
        asked = standby.post("/v1/sql", json={"sql": "SELECT sum(value) AS s FROM items"}).json()
        assert asked["results"][0]["rows"] == [[5]]
        assert standby.get("/readyz").json() == {"status": "standby"}
        assert code(standby.get("/readyz?role=leader")) == (503, "not_leader")
        assert leader.get("/readyz?role=leader").json() == {"status": "ready"}
        found = standby.get("/v1/status").json()["leadership"]
        assert found["role"] == "standby" and found["lag"] == 0 and found["token"] == 1
        assert standby.get("/metrics").status_code == 200
        assert standby.get("/v1/views/reach/plan").status_code == 200
        for method, path, body in CHANGES:
            answer = standby.request(method, path, json=body)
            assert code(answer) == (503, "not_leader"), (method, path, answer.text)
            assert "https://freshet.example" in answer.json()["hint"]
        with standby.stream("GET", "/v1/tables/edges/changes?since=0", headers=EVENTS) as feed:
            check_definitions(two, leader, standby)
            leader.post("/v1/sql", json={"sql": "INSERT INTO edges VALUES (7, 8)"}).raise_for_status()
            lines = feed.iter_lines()
            assert next(line for line in lines if line.startswith("event:")) == "event: changes"
            assert '"a":7,"b":8' in next(line for line in lines if line.startswith("data:"))
        check_keys(leader, standby)


def check_definitions(two: Instances, leader: httpx.Client, standby: httpx.Client) -> None:
    """Definitions reach the standby."""
    script = """
        ALTER TABLE items ADD COLUMN note TEXT DEFAULT 'none';
        CREATE SCHEMA people; CREATE SCHEMA gone; DROP SCHEMA gone;
        CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE people.moods (m mood);
        INSERT INTO people.moods VALUES ('happy'); ALTER VIEW groups RENAME TO sums
    """
    for statement in script.split(";"):
        leader.post("/v1/sql", json={"sql": statement}).raise_for_status()
    two.wait_followed()
    reading = {"sql": "SELECT note, m FROM items, moods, sums", "search_path": "people, public"}
    for http in (standby, leader):
        wait_until(lambda http=http: http.post("/v1/sql", json=reading).status_code == 200)
        assert http.post("/v1/sql", json=reading).json()["results"][0]["rows"] == [["none", "happy"]]
        shown = http.post("/v1/sql", json={"sql": "SHOW SCHEMAS"}).json()["results"][0]["rows"]
        assert shown == [["people"], ["public"]]


def check_keys(leader: httpx.Client, standby: httpx.Client) -> None:
    """Keys reach the standby, and their end does."""
    boss = leader.post("/v1/keys", json={"name": "boss", "role": "admin"}).json()
    wait_until(lambda: standby.get("/v1/tables").status_code == 401)
    as_boss = {"Authorization": f"Bearer {boss['key']}"}
    assert standby.get("/v1/tables", headers=as_boss).status_code == 200
    made = leader.post("/v1/keys", json={"name": "k", "role": "read"}, headers=as_boss).json()
    as_reader = {"Authorization": f"Bearer {made['key']}"}
    wait_until(lambda: standby.get("/v1/tables", headers=as_reader).status_code == 200)
    leader.delete(f"/v1/keys/{made['id']}", headers=as_boss).raise_for_status()
    wait_until(lambda: standby.get("/v1/tables", headers=as_reader).status_code == 401)


def test_the_end_of_a_leader_by_a_signal(instances: Callable[..., Instances]) -> None:
    """It writes its last checkpoint, and then the standby goes on from it."""
    two, load = instances(**OFTEN, FRESHET_SHUTDOWN_SECONDS="120"), Load()
    with httpx.Client(base_url=two.leader.url, timeout=60) as http:
        define(http)
    load.begin(two.leader.url, defines=False)
    time.sleep(1)
    os.kill(two.leader.pid, signal.SIGTERM)
    two.switch()
    load.join()
    load.check(two.leader.url)
