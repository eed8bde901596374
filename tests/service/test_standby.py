"""Two services over one catalog: the standby follows and takes the leader's place, and nothing is lost.

Writers know both addresses, and find the leader by themselves. `FRESHET_TAKEOVERS` sets how often a leader is
killed under load, and how often one is paused; `FRESHET_LEADER_MILLISECONDS`, how long one may be silent.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psycopg
import pytest

from tests.postgres.server import Server
from tests.service.client import code
from tests.service.defining_load import VIEWS, is_valid
from tests.service.guarantee import TABLES, check, define
from tests.service.instances import Instances
from tests.service.load import Load
from tests.service.mixed_load import rows
from tests.service.reading_load import Reader, check_seen
from tests.service.waiting import wait_until

TAKEOVERS = int(os.environ.get("FRESHET_TAKEOVERS", "1"))
SETTINGS = {
    "FRESHET_ADVERTISED_URL": "https://freshet.example",
    "FRESHET_CHECKPOINT_COMMITS": "20",
    "FRESHET_CHECKPOINT_BYTES": "20000",
    "FRESHET_SHUTDOWN_SECONDS": "120",
}
"""Checkpoints come so often that the standby meets them."""
DEPOSED = 75
EVENTS = {"Accept": "text/event-stream"}
PAUSE = 0.02
"""Seconds between two requests of a writer, so that the history of many take-overs stays small."""
SEEN = 50
"""The epochs of readers that are read again after a take-over."""


@pytest.fixture(scope="module")
def two(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instances]:
    """A leader and its standby, which all tests share: a start is what takes long."""
    started = Instances(tmp_path_factory.mktemp("two"), postgres.new_database(), SETTINGS)
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def load(two: Instances) -> Load:
    """Clients of both services, a reader of each among them."""
    with two.door.connect() as db:
        define(db)
    two.wait_followed()
    return Load(two.door, PAUSE, {process.url: Reader() for process in two.processes})


def begin(load: Load) -> None:
    """Starts the load, and waits until it is answered, and some more."""
    before = load.acknowledged
    load.begin()
    wait_until(lambda: load.has_posted(before))
    time.sleep(load.chance.uniform(0, 1))


def settle(two: Instances, load: Load) -> None:
    """Starts the last leader again as a standby, lets the load end, and checks the guarantee at both."""
    two.start_standby()
    load.end()
    with two.door.connect() as db:
        check(db, load)
        check_seen(db, load.readers.values(), SEEN)
    check_reads_alike(two)


def check_reads_alike(two: Instances) -> None:
    """What the standby has followed is what the leader has."""
    two.wait_followed()
    with two.of(two.leader) as leader, two.of(two.standby) as standby:
        epoch = leader.status()["epoch"]
        for at in {epoch, epoch // 2}:
            for name in TABLES:
                assert rows(standby.table(name), at) == rows(leader.table(name), at), (name, at)
            for name in VIEWS:
                assert rows(standby.view(name), at) == rows(leader.view(name), at), (name, at)
        for name in TABLES:
            assert standby.table(name).changes() == leader.table(name).changes()


def test_takeovers(two: Instances, load: Load) -> None:
    leading, writing = [], []
    for _ in range(TAKEOVERS):
        begin(load)
        two.kill_leader()
        killed = time.monotonic()
        two.switch()
        leading.append(time.monotonic() - killed)
        wait_until(lambda killed=killed: load.answered_at > killed + 0.1)
        writing.append(load.answered_at - killed)
        settle(two, load)
        seen = sum(len(reader.seen) for reader in load.readers.values())
        print(f"{len(leading)} take-overs, {load.acknowledged} posts, {seen} readings;", end=" ")
        print(f"seconds until the standby led {figures(leading)}, until a post was done {figures(writing)}")


def figures(seconds: list[float]) -> str:
    """The median, the 95th percentile and the worst."""
    found = sorted(seconds)
    return " ".join(f"{found[min(len(found) - 1, int(len(found) * part))]:.2f}" for part in (0.5, 0.95, 1))


def test_a_leader_that_wakes_up_again(two: Instances, load: Load) -> None:
    for _ in range(TAKEOVERS):
        begin(load)
        two.pause_leader()
        two.switch()
        load.write_meanwhile(two.leader.url)
        two.wake_last_leader()
        assert two.standby.wait(240)[0] == DEPOSED
        settle(two, load)


def test_the_end_of_a_leader_by_a_signal(two: Instances, load: Load) -> None:
    """It writes its last checkpoint, and then the standby goes on from it."""
    begin(load)
    os.kill(two.leader.pid, signal.SIGTERM)
    two.switch()
    settle(two, load)


def test_subscriptions_to_a_standby(two: Instances, load: Load) -> None:
    """They go on when it takes over. A query is not maintained before."""
    table = "subscribed"
    with two.of_postgres(two.leader) as leader:
        leader.execute(f"CREATE TABLE {table} (id BIGINT PRIMARY KEY)")
        leader.execute(f"CREATE VIEW v_{table} AS SELECT count(*) AS c FROM {table}")
    two.wait_followed()
    query = f"COPY (SUBSCRIBE TO (SELECT count(*) AS c FROM {table})) TO STDOUT"
    with ExitStack() as open:
        of_table, of_view, asking = (open.enter_context(two.of_postgres(two.standby)) for _ in range(3))
        sql = f"COPY (SUBSCRIBE TO {table} WITH (SNAPSHOT = false)) TO STDOUT"
        table_copy = open.enter_context(copying(of_table, sql))
        view_copy = open.enter_context(copying(of_view, f"COPY (SUBSCRIBE TO v_{table}) TO STDOUT"))
        assert changes_of(view_copy, 1) == [[1, 0]]
        with pytest.raises(psycopg.Error, match="no queries that are followed") as refused:
            asking.execute(query)
        assert refused.value.sqlstate == "25006"
        assert "https://freshet.example" in (refused.value.diag.message_hint or "")
        with two.of_postgres(two.leader) as leader:
            leader.execute(f"INSERT INTO {table} VALUES (1)")
            assert changes_of(table_copy, 1) == [[1, 1]]
            assert changes_of(view_copy, 2) == [[-1, 0], [1, 1]]
        two.kill_leader()
        two.switch()
        query_copy = open.enter_context(copying(asking, query))
        assert changes_of(query_copy, 1) == [[1, 1]]
        with two.of_postgres(two.leader) as leader:
            leader.execute(f"INSERT INTO {table} VALUES (2)")
        assert changes_of(table_copy, 1) == [[1, 2]]
        assert changes_of(view_copy, 2) == changes_of(query_copy, 2) == [[-1, 1], [1, 2]]
    with two.of_postgres(two.leader) as leader:
        leader.execute(f"DROP VIEW v_{table}")
        leader.execute(f"DROP TABLE {table}")
    two.start_standby()


@contextmanager
def copying(connection: psycopg.Connection, sql: str) -> Iterator[psycopg.Copy]:
    """A COPY without an end, which is cancelled."""
    with suppress(psycopg.errors.QueryCanceled), connection.cursor().copy(sql) as copy:
        yield copy
        connection.cancel_safe()
        for _ in copy:
            pass


def changes_of(copy: psycopg.Copy, rows: int) -> list[list[int]]:
    """The next rows of a COPY of changes, sorted, without their epochs."""
    found = b""
    while found.count(b"\n") < rows:
        found += bytes(copy.read())
    return sorted([int(part) for part in line.split(b"\t")[1:]] for line in found.splitlines())


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


def test_a_standby_reads_and_refuses_changes(two: Instances, load: Load) -> None:
    """The last test of this file: it changes what the load has defined."""
    with two.door.connect() as db:
        epoch = db.script("DELETE FROM items; INSERT INTO items VALUES (1, 1, 5)")[-1].epoch
        token = db.status()["leadership"]["token"]
    two.wait_followed()
    with two.of(two.standby) as db:
        assert rows(db.view("groups"), epoch) == [(1, 1, 5)]
    with two.door.at(two.leader.url).http() as leader, two.door.at(two.standby.url).http() as standby:
        asked = standby.post("/v1/sql", json={"sql": "SELECT sum(value) AS s FROM items"}).json()
        assert asked["results"][0]["rows"] == [[5]]
        assert standby.get("/readyz").json() == {"status": "standby"}
        assert code(standby.get("/readyz?role=leader")) == (503, "not_leader")
        assert leader.get("/readyz?role=leader").json() == {"status": "ready"}
        found = standby.get("/v1/status").json()["leadership"]
        assert found["role"] == "standby" and found["lag"] == 0 and found["token"] == token
        assert standby.get("/metrics").status_code == 200
        assert standby.get("/v1/views/reach/plan").status_code == 200
        for method, path, body in CHANGES:
            answer = standby.request(method, path, json=body)
            assert code(answer) == (503, "not_leader"), (method, path, answer.text)
            assert "https://freshet.example" in answer.json()["hint"]
        with standby.stream("GET", "/v1/tables/edges/changes?since=0", headers=EVENTS) as feed:
            check_definitions(two, leader, standby)
            leader.post("/v1/sql", json={"sql": "INSERT INTO edges VALUES (7, 800)"}).raise_for_status()
            lines = feed.iter_lines()
            assert next(line for line in lines if line.startswith("event:")) == "event: changes"
            assert any('"a":7,"b":800' in line for line in lines if line.startswith("data:"))
        check_keys(two)


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


def check_keys(two: Instances) -> None:
    """Keys reach the standby, and their end does."""
    assert two.standby.http.get("/v1/tables").status_code == 401
    with two.of(two.leader) as leader:
        made = leader.make_key("k", "read")
        door = two.door.at(two.standby.url).of(made.key)
        wait_until(lambda: is_valid(door))
        leader.revoke_key(made.id)
        wait_until(lambda: not is_valid(door))


def test_branches_are_there_after_a_takeover(two: Instances, load: Load) -> None:
    with two.of(two.leader) as leader:
        leader.table("kept").create("id BIGINT PRIMARY KEY, n BIGINT")
        leader.table("kept").insert({"id": 1, "n": 1})
        leader.create_branch("later")
        leader.on_branch("later").table("kept").insert({"id": 2, "n": 2})
        leader.table("kept").insert({"id": 3, "n": 3})
    two.wait_followed()
    two.kill_leader()
    two.switch()
    with two.of(two.leader) as leader:
        there = leader.on_branch("later")
        assert there.table("kept").rows().dicts() == [{"id": 1, "n": 1}, {"id": 2, "n": 2}]
        there.table("kept").insert({"id": 4, "n": 4})
        assert leader.merge_branch("later").changes == 2
        assert len(leader.table("kept").rows()) == 4
        leader.drop_branch("later")
        leader.table("kept").drop()
    two.start_standby()
