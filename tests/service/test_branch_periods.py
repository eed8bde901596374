"""Tables with valid time on branches: what is followed, compared and merged is a key, at all valid times."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client, code
from tests.service.waiting import wait_until

TABLE = """
CREATE TABLE vc (id BIGINT PRIMARY KEY, v BIGINT, PERIOD VALID_TIME);
CREATE VIEW counts AS SELECT id, count(*) AS n FROM vc GROUP BY id;
INSERT INTO vc VALUES (1, 10, '2024-01-01', '2024-03-01'), (2, 5, '2024-01-01', NULL)
"""


def run(client: Client, sql: str, on: str = "main") -> list[list]:
    answer = client.post("/v1/sql", {"sql": sql, "branch": on})
    assert answer.status_code == 200, answer.text
    rows: list[list] = answer.json()["results"][-1].get("rows", [])
    return rows


def stored(client: Client, on: str = "main") -> list[list]:
    """The rows of the table: id, v, and the months and days of their periods."""
    query = "SELECT id, v, valid_from, valid_to FROM vc FOR VALID_TIME ALL ORDER BY id, valid_from"
    return [[*row[:2], *(at and at[5:10] for at in row[2:])] for row in run(client, query, on)]


def change(client: Client, id: int, since: str, v: int, on: str = "main") -> None:
    portion = f"FOR PORTION OF VALID_TIME FROM '2024-{since}' TO NULL"
    run(client, f"UPDATE vc {portion} SET v = {v} WHERE id = {id}", on)


def caught_up(client: Client, name: str) -> None:
    newest = client.get("/v1/tables/vc/rows").json()["epoch"]
    wait_until(lambda: client.get(f"/v1/branches/{name}").json()["follows"] == newest)


@pytest.fixture
def started(client: Client) -> Iterator[Client]:
    run(client, TABLE)
    yield client


def test_a_key_that_a_live_branch_has_changed_stays_its_own(started: Client) -> None:
    """At every valid time, also where the branch has not changed it: there is one row of it at each."""
    run(started, "CREATE BRANCH b LIVE")
    change(started, 1, "02-01", 20, "b")
    change(started, 1, "01-15", 30)
    change(started, 2, "01-15", 6)
    run(started, "INSERT INTO vc VALUES (1, 40, '2024-05-01', NULL)")
    caught_up(started, "b")
    assert stored(started, "b") == [
        [1, 10, "01-01", "02-01"],
        [1, 20, "02-01", "03-01"],
        [2, 5, "01-01", "01-15"],
        [2, 6, "01-15", None],
    ]
    at = "FOR VALID_TIME AS OF '2024-02-10' ORDER BY id"
    assert run(started, f"SELECT id, v FROM vc {at}", "b") == [[1, 20], [2, 6]]
    assert run(started, f"SELECT id, n FROM counts {at}", "b") == [[1, 1], [2, 1]]


@pytest.mark.parametrize("kind", ["", "LIVE"])
def test_all_rows_of_a_key_are_merged_from_one_side(started: Client, kind: str) -> None:
    """Where both have changed a key at different times, and so that periods of both would overlap."""
    run(started, f"CREATE BRANCH b {kind}")
    change(started, 1, "02-01", 20, "b")
    run(started, "INSERT INTO vc VALUES (1, 21, '2024-06-01', NULL), (3, 1, '2024-01-01', NULL)", "b")
    change(started, 1, "01-15", 30)
    change(started, 2, "04-01", 7)
    before = stored(started)
    refused = started.post("/v1/branches/b/merge", {})
    assert code(refused) == (409, "merge_conflict")
    assert "both changed vc id = 1" in refused.text and "valid_from" not in refused.text
    assert stored(started) == before
    run(started, "MERGE BRANCH b ON CONFLICT OURS")
    assert stored(started) == [*before, [3, 1, "01-01", None]]
    change(started, 1, "02-15", 22, "b")
    change(started, 1, "02-20", 31)
    assert code(started.post("/v1/branches/b/merge", {})) == (409, "merge_conflict")
    run(started, "MERGE BRANCH b ON CONFLICT THEIRS")
    mine = [row for row in stored(started, "b") if row[0] == 1]
    assert [row for row in stored(started) if row[0] == 1] == mine and len(mine) == 4
    assert [row for row in stored(started) if row[0] != 1] == [*before[-2:], [3, 1, "01-01", None]]
    run(started, "DELETE FROM vc FOR VALID_TIME ALL WHERE id = 1", "b")
    run(started, "MERGE BRANCH b")
    assert [row[0] for row in stored(started)] == [2, 2, 3]
    assert run(started, "SELECT n FROM counts FOR VALID_TIME ALL") == [[1], [1]]


@each_seed(few(2))
def test_random_portions_of_both(settings: Settings, seed: int) -> None:
    """A live branch has its own rows of the keys that it has changed, and of the others its parent's."""
    chance = random.Random(f"portions {seed}")
    with Client(settings) as client:
        run(client, TABLE)
        run(client, "CREATE BRANCH b LIVE")
        own: dict[int, list[list]] = {}

        def rows_of(id: int, on: str) -> list[list]:
            return [row for row in stored(client, on) if row[0] == id]

        for number in range(30):
            on, id = chance.choice(("main", "b")), chance.randrange(4)
            first, last = sorted(chance.sample(range(1, 13), 2))
            portion = f"FROM '2024-{first:02}-01' TO '2024-{last:02}-01'"
            caught_up(client, "b")
            delete = f"DELETE FROM vc FOR PORTION OF VALID_TIME {portion} WHERE id = {id}"
            before = rows_of(id, on)
            run(client, delete, on)
            if chance.random() < 0.8:
                moments = f"'2024-{first:02}-01', '2024-{last:02}-01'"
                run(client, f"INSERT INTO vc VALUES ({id}, {number}, {moments})", on)
            now = rows_of(id, on)
            if on == "b" and (now != before or id in own):
                own[id] = now
            if number % 10 == 9:
                caught_up(client, "b")
                for key in range(4):
                    assert rows_of(key, "b") == own.get(key, rows_of(key, "main"))
                check = "SELECT max(n) FROM counts FOR VALID_TIME ALL"
                assert run(client, check, "b") == [[1]] == run(client, check)
        run(client, "MERGE BRANCH b ON CONFLICT THEIRS")
        caught_up(client, "b")
        assert stored(client) == stored(client, "b")
