"""Statements that change rows are computed beside the writer, and are as good as in its turn."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definitions import Definitions
from service.settings.settings import Settings
from service.sql import script_run
from service.writing.transaction import Transaction
from tests.seeds import each_seed, few
from tests.service.client import Client, code
from tests.service.waiting import wait_until

SLOW = "(SELECT count(*) FROM range(30000000) AS r (n) WHERE n % 7 = 3)"


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, spark="never")) as client:
        client.table("t", {"id": "BIGINT", "n": "BIGINT"}, key=["id"])
        client.table("log", {"id": "BIGINT"})
        client.view("total", "SELECT sum(n) AS n, count(*) AS m FROM t")
        client.insert("t", *({"id": id, "n": 0} for id in range(4)))
        yield client


def sql(client: Client, script: str):
    return client.http.post("/v1/sql", json={"sql": script}, timeout=None)


def posted(client: Client, table: str, change: dict):
    return client.http.post(f"/v1/tables/{table}/deltas", json=[change], timeout=None)


@each_seed(few(3))
def test_no_update_is_lost(client: Client, seed: int) -> None:
    """Many read, add and write at once, by one statement, by blocks, and beside posts of other rows."""
    rng = random.Random(seed)
    added = 0
    works = []
    for number in range(40):
        id, more = rng.randrange(4), rng.randrange(1, 9)
        added += more
        one = f"UPDATE t SET n = n + {more} WHERE id = {id}"
        works.append(
            sql(client, rng.choice([one, f"BEGIN; {one}; INSERT INTO log VALUES ({number}); COMMIT"]))
        )
        if rng.random() < 0.5:
            works.append(posted(client, "t", {"insert": {"id": 100 + number, "n": 0}}))
    rng.shuffle(works)
    answers = client.together(*works)
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {answer.json()["code"] for answer in refused} <= {"tables_changing"}
    ((total, rows),) = client.rows("total")
    assert (int(total), rows) == (sum(n for _, n in client.rows("t")), len(client.rows("t")))
    assert int(total) == added or (refused and int(total) < added)


def test_posts_go_on_while_a_statement_is_computed(client: Client) -> None:
    slow = client.begin(sql(client, f"INSERT INTO log SELECT {SLOW}"))
    done = 0
    while not slow.done():
        client.insert("t", {"id": 1000 + done, "n": 1})
        done += 1
    assert slow.result().status_code == 200, slow.result().text
    assert done > 3
    assert len(client.rows("log")) == 1


def test_what_changes_meanwhile_is_seen(client: Client) -> None:
    """The statement reads a table that is changed while it is computed: it is computed again."""
    slow = client.begin(sql(client, f"INSERT INTO log SELECT count(*) + 0 * {SLOW} FROM t"))
    wait_until(lambda: client.app.state.queries.changers.pool.pids != [])
    client.insert("t", {"id": 50, "n": 0})
    answer = slow.result(120)
    assert answer.status_code == 200, answer.text
    epoch = answer.json()["results"][0]["epoch"]
    (count,) = client.rows("log")[0]
    assert count == len(client.rows("t", as_of=epoch))


def test_a_table_that_never_rests(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed in the writer's turn in the end has little time there."""
    epochs = client.runtime._state.epochs
    monkeypatch.setattr(epochs, "settle", lambda draft, receipt=None: None)
    monkeypatch.setattr(script_run, "_DRAFTS", 1)
    assert client.run(sql(client, "UPDATE t SET n = 7 WHERE id = 1")).status_code == 200
    answer = client.run(sql(client, f"UPDATE t SET n = {SLOW.replace('30000000', '600000000')}"))
    assert code(answer) == (409, "tables_changing")
    assert sorted(client.rows("t")) == [(0, 0), (1, 7), (2, 0), (3, 0)]


def test_a_lookup_that_still_finds_the_same_is_no_conflict(client: Client) -> None:
    """A draft that has only looked up keys is settled although other rows of the table have changed."""
    runtime = client.runtime

    def work(transaction: Transaction) -> int:
        definition = transaction.definitions["t"]
        found = transaction.snapshot.lookup("t", definition.no_changes.words[:1, :0])
        return len(found[1])

    draft = runtime.draft(work)
    client.insert("t", {"id": 77, "n": 0})
    assert draft.snapshot.is_still_so(runtime.snapshot)
    draft.snapshot.rows("t")
    assert not draft.snapshot.is_still_so(runtime.snapshot)


def test_a_definition_that_changes_meanwhile(client: Client) -> None:
    slow = client.begin(sql(client, f"UPDATE t SET n = {SLOW} WHERE id = 1"))
    wait_until(lambda: client.app.state.queries.changers.pool.pids != [])
    client.run(sql(client, "ALTER TABLE t ADD COLUMN more TEXT"))
    answer = slow.result(120)
    assert answer.status_code == 200 or code(answer) == (409, "table_changed")


def test_a_definition_that_changes_in_the_middle_of_the_work(client: Client) -> None:
    """The work goes on over what it began with, and its changes are not made."""
    runtime = client.runtime

    def work(transaction: Transaction) -> int:
        schema = transaction.definitions["t"].schema
        words = np.array([[70], [0]], np.int64)
        client.run(sql(client, "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'x' NOT NULL"))
        transaction.apply({"t": TableChanges.of(ChangeOp.INSERT, schema, words)})
        return transaction.rows("t")[0].shape[0]

    draft = runtime.draft(work)
    assert draft.result == 2
    assert client.runtime._state.epochs.settle(draft) is None
    assert len(runtime.definition("t").schema) == 3


def test_nobody_sees_the_middle_of_an_alteration(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a table is exchanged, with the view over it, the state before it is read."""
    runtime, seen = client.runtime, []
    install = Definitions.install

    def look(definitions: Definitions, *args: object) -> None:
        seen.append((sorted(runtime.snapshot.relations), len(runtime.definition("t").schema)))
        install(definitions, *args)
        seen.append((sorted(runtime.snapshot.relations), len(runtime.definition("t").schema)))

    monkeypatch.setattr(Definitions, "install", look)
    client.run(sql(client, "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'x' NOT NULL"))
    assert seen == [(["log", "t", "total"], 2)] * 2, "the view keeps its state"
    assert len(runtime.definition("t").schema) == 3
