"""Branches over HTTP: changed and read by themselves, compared, merged, and back after a restart."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace

import duckdb
import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client, Process, code

TABLES = {
    "people": "CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT, boss BIGINT)",
    "visits": "CREATE TABLE visits (person BIGINT, place TEXT)",
}
VIEWS = {
    "busy": "SELECT p.name, count(*) AS n FROM people p JOIN visits v ON v.person = p.id GROUP BY p.name",
    "above": "WITH RECURSIVE up(id, boss) AS (SELECT id, boss FROM people WHERE boss IS NOT NULL UNION "
    "SELECT up.id, p.boss FROM up JOIN people p ON p.id = up.boss WHERE p.boss IS NOT NULL) "
    "SELECT id, count(*) AS bosses FROM up GROUP BY id",
    "most": "SELECT max(n) AS n FROM busy",
}


def define(client: Client) -> None:
    for sql in (*TABLES.values(), *(f"CREATE VIEW {name} AS {sql}" for name, sql in VIEWS.items())):
        answer = client.post("/v1/sql", {"sql": sql})
        assert answer.status_code == 200, answer.text


def branch(client: Client, name: str, **options: object) -> dict:
    answer = client.post("/v1/branches", {"name": name, **options})
    assert answer.status_code == 201, answer.text
    return answer.json()


def post(client: Client, table: str, *changes: dict, on: str | None = None) -> int:
    where = "" if on is None else f"?branch={on}"
    answer = client.post(f"/v1/tables/{table}/deltas{where}", list(changes))
    assert answer.status_code == 200, answer.text
    return answer.json()["epoch"]


def read(client: Client, name: str, on: str | None = None, **params: object) -> list[tuple]:
    kind = "views" if name in VIEWS else "tables"
    where = {} if on is None else {"branch": on}
    answer = client.get(f"/v1/{kind}/{name}/rows", **where, **params)
    assert answer.status_code == 200, answer.text
    return sorted((tuple(row.values()) for row in answer.json()["rows"]), key=repr)


def everything(client: Client, on: str | None = None, **params: object) -> dict[str, list[tuple]]:
    return {name: read(client, name, on, **params) for name in (*TABLES, *VIEWS)}


def referee(client: Client, on: str | None = None) -> dict[str, list[tuple]]:
    """What DuckDB says of all views over the tables of a branch."""
    with duckdb.connect() as duck:
        for name, sql in TABLES.items():
            duck.execute(sql)
            for row in read(client, name, on):
                duck.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
        for name, sql in VIEWS.items():
            duck.execute(f"CREATE VIEW {name} AS {sql}")
        found = {name: duck.execute(f"SELECT * FROM {name}").fetchall() for name in (*TABLES, *VIEWS)}
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def diff(client: Client, name: str, of: str, against: str = "main") -> list[tuple]:
    answer = client.get(f"/v1/branches/{of}/diff", view=name, against=against)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["rows"] == len(found["differences"])
    return sorted(((it["diff"], *it["row"].values()) for it in found["differences"]), key=repr)


def expected_diff(before: list[tuple], after: list[tuple]) -> list[tuple]:
    counts = {row: after.count(row) - before.count(row) for row in {*before, *after}}
    return sorted(((count, *row) for row, count in counts.items() if count), key=repr)


def upsert(id: int, name: str, boss: int | None = None) -> dict:
    return {"upsert": {"id": id, "name": name, "boss": boss}}


def visit(person: int, place: str = "here") -> dict:
    return {"insert": {"person": person, "place": place}}


def leave(person: int, place: str = "here") -> dict:
    return {"delete": {"person": person, "place": place}}


@pytest.fixture
def filled(client: Client) -> Client:
    define(client)
    post(client, "people", upsert(1, "ann"), upsert(2, "bob", 1), upsert(3, "cid", 2))
    post(client, "visits", visit(1), visit(2), visit(2))
    return client


def change(client: Client, chance: random.Random, on: str | None) -> None:
    if chance.random() < 0.5:
        ids = chance.sample(range(8), chance.randint(1, 3))
        there = {row[0] for row in read(client, "people", on)}
        post(
            client,
            "people",
            *(
                {"delete": {"id": i}}
                if i in there and chance.random() < 0.3
                else upsert(i, chance.choice("abc"), chance.choice((None, *range(8))))
                for i in ids
            ),
            on=on,
        )
        return
    there = read(client, "visits", on)
    gone = [leave(*row) for row in chance.sample(there, min(len(there), chance.randint(0, 2)))]
    post(client, "visits", *gone, visit(chance.randrange(8), chance.choice("xy")), on=on)


# What it is


def test_it_is_changed_and_read_by_itself(filled: Client) -> None:
    before = everything(filled)
    made = branch(filled, "b")
    assert everything(filled, "b") == before
    epoch = post(filled, "people", upsert(3, "dan", 1), on="b")
    assert epoch == made["begins"] + 1
    post(filled, "visits", visit(3), on="b")
    assert everything(filled) == before
    assert everything(filled, "b") == referee(filled, "b") != before
    post(filled, "visits", leave(1))
    assert read(filled, "visits", "b") == [(1, "here"), (2, "here"), (2, "here"), (3, "here")]
    assert everything(filled) == referee(filled)
    assert everything(filled, "b", as_of=made["begins"]) == before


@each_seed(few(6))
def test_all_answers_are_those_of_the_referee(settings: Settings, seed: int) -> None:
    """Of branches, and of their branches, made of any epoch; and all differences, after a restart too."""
    chance = random.Random(seed)
    with Client(replace(settings, checkpoint_commits=chance.choice((3, 10_000)))) as client:
        define(client)
        names: list[str | None] = [None]
        epochs: dict[str | None, list[int]] = {None: []}
        for step in range(30):
            on = chance.choice(names)
            if chance.random() < 0.2 and len(names) < 6 and epochs[on]:
                new, at = f"b{step}", chance.choice(epochs[on])
                was = everything(client, on, as_of=at)
                made = branch(client, new, of=on or "main", as_of=at)
                assert everything(client, new) == was
                names.append(new)
                epochs[new] = [made["begins"]]
                continue
            change(client, chance, on)
            answer = client.get("/v1/tables/people/rows", **({} if on is None else {"branch": on}))
            epochs[on].append(answer.json()["epoch"])
        answers = {on: everything(client, on) for on in names}
        assert answers == {on: referee(client, on) for on in names}
        past = {on: everything(client, on, as_of=epochs[on][0]) for on in names}
        _check_differences(client, answers)
    with Client(settings) as client:
        assert {on: everything(client, on) for on in names} == answers
        assert {on: everything(client, on, as_of=epochs[on][0]) for on in names} == past
        _check_differences(client, answers)
        for on in names:
            change(client, chance, on)
            assert everything(client, on) == referee(client, on)


def _check_differences(client: Client, answers: dict[str | None, dict[str, list[tuple]]]) -> None:
    for one in answers:
        for other in answers:
            if other is None or one == other:
                continue
            for name in VIEWS:
                expected = expected_diff(answers[one][name], answers[other][name])
                assert diff(client, name, other, one or "main") == expected


def test_feeds_and_pages(filled: Client) -> None:
    begins = branch(filled, "b")["begins"]
    post(filled, "visits", visit(3), on="b")
    changes = filled.get("/v1/views/busy/changes", branch="b", accept="application/json").json()
    assert changes["changes"] == [{"epoch": begins + 1, "diff": 1, "row": {"name": "cid", "n": 1}}]
    page = filled.get("/v1/tables/people/rows", branch="b", limit=2).json()
    rest = filled.get("/v1/tables/people/rows", branch="b", cursor=page["next"]).json()
    assert [row["id"] for row in page["rows"] + rest["rows"]] == [1, 2, 3]
    assert code(filled.get("/v1/views/busy/rows", branch="b", as_of=1)) == (410, "history_gone")
    assert read(filled, "busy", "b", where="name = 'cid'") == [("cid", 1)]


def test_a_request_is_made_once_on_each(filled: Client) -> None:
    branch(filled, "b")
    for on in ("", "?branch=b"):
        answers = [
            filled.post(f"/v1/tables/visits/deltas{on}", [visit(9)], headers={"Idempotency-Key": "k"})
            for _ in range(2)
        ]
        assert answers[0].json() == answers[1].json()
    assert read(filled, "visits").count((9, "here")) == 1
    assert read(filled, "visits", "b").count((9, "here")) == 1


def test_a_branch_of_an_empty_service(client: Client) -> None:
    """Both have one dictionary, also if it had no text when they parted."""
    define(client)
    branch(client, "b")
    post(client, "people", upsert(1, "on the branch"), on="b")
    post(client, "people", upsert(2, "on main"))
    assert diff(client, "people", "b") == [(-1, 2, "on main", None), (1, 1, "on the branch", None)]
    assert merged(client, "b")["changes"] == 1
    assert [row[1] for row in read(client, "people")] == ["on the branch", "on main"]


def test_a_branch_that_is_made_again_is_another_one(settings: Settings) -> None:
    """Its epochs have new numbers, so that what the first one has said means nothing on it."""
    with Client(settings) as client:
        define(client)
        post(client, "people", upsert(1, "ann"), upsert(2, "bob"))
        begins = branch(client, "b")["begins"]
        page = client.get("/v1/tables/people/rows", branch="b", limit=1).json()
        assert client.delete("/v1/branches/b").status_code == 204
        assert branch(client, "b")["begins"] > begins
        answer = client.get("/v1/tables/people/rows", branch="b", cursor=page["next"])
        assert code(answer) == (410, "history_gone")
        assert client.delete("/v1/branches/b").status_code == 204
    with Client(settings) as client:
        assert branch(client, "b")["begins"] == 3 * begins


# What it costs others


def test_what_a_branch_holds_stays_as_it_is(filled: Client) -> None:
    branch(filled, "b")
    for sql in (
        "DROP TABLE people CASCADE",
        "DROP VIEW most",
        "ALTER TABLE visits ADD COLUMN n BIGINT",
        "ALTER TABLE visits ADD CONSTRAINT c CHECK (person > 0)",
        "ALTER VIEW most RENAME TO more",
        "CREATE OR REPLACE VIEW most AS SELECT 1 AS n",
        "CREATE OR REPLACE VIEW busy AS SELECT name, count(*) AS n FROM people GROUP BY name",
    ):
        assert code(filled.post("/v1/sql", {"sql": sql})) == (409, "held_by_branch"), sql
    made = "CREATE TABLE more (a BIGINT); CREATE VIEW further AS SELECT * FROM people; DROP VIEW further"
    assert filled.post("/v1/sql", {"sql": made}).status_code == 200
    assert code(filled.get("/v1/tables/more/rows", branch="b")) == (404, "unknown_name")
    assert code(filled.get("/v1/branches/b/diff", view="more")) == (409, "not_on_branch")
    assert filled.delete("/v1/branches/b").status_code == 204
    assert filled.post("/v1/sql", {"sql": "DROP TABLE people CASCADE"}).status_code == 200


def test_limits(settings: Settings) -> None:
    with Client(replace(settings, branches=2, branch_bytes=20_000)) as client:
        define(client)
        branch(client, "a")
        branch(client, "b")
        answer = client.post("/v1/branches", {"name": "c"})
        assert code(answer) == (429, "too_many_branches")
        post(client, "visits", *(visit(i, f"place {i}") for i in range(2_000)), on="a")
        assert client.runtime.branches.get("a").measured() > 20_000
        answer = client.post("/v1/tables/visits/deltas?branch=a", [visit(1)])
        assert code(answer) == (409, "branch_too_large")
        post(client, "visits", visit(1), on="b")
        post(client, "visits", visit(1))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"name": "main"}, (409, "name_in_use")),
        ({"name": "b"}, (409, "name_in_use")),
        ({"name": "a.b"}, (422, "invalid_name")),
        ({"name": ""}, (422, "invalid_name")),
        ({"name": "c", "of": "none"}, (404, "unknown_name")),
        ({"name": "c", "as_of": 99}, (422, "epoch_not_reached")),
        ({"name": "c", "of": "b", "as_of": 1}, (410, "history_gone")),
        ({"name": "c", "as_of": "yesterday"}, (400, "invalid_as_of")),
    ],
)
def test_refusals(filled: Client, body: dict, expected: tuple[int, str]) -> None:
    branch(filled, "b")
    assert code(filled.post("/v1/branches", body)) == expected


def test_a_branch_that_is_not_there(filled: Client) -> None:
    for answer in (
        filled.get("/v1/branches/none"),
        filled.delete("/v1/branches/none"),
        filled.post("/v1/branches/none/merge", {}),
        filled.get("/v1/branches/none/diff", view="busy"),
        filled.get("/v1/views/busy/rows", branch="none"),
        filled.post("/v1/tables/visits/deltas?branch=none", [visit(1)]),
    ):
        assert code(answer) == (404, "unknown_name")
    branch(filled, "b")
    branch(filled, "c", of="b")
    assert code(filled.delete("/v1/branches/b")) == (409, "in_use")
    listed = filled.get("/v1/branches").json()["branches"]
    assert [(it["name"], it["of"], it["merged"]) for it in listed] == [("b", "main", []), ("c", "b", [])]


# Merging


def merged(client: Client, name: str, on_conflict: str = "fail") -> dict:
    answer = client.post(f"/v1/branches/{name}/merge", {"on_conflict": on_conflict})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_merge_is_one_epoch(filled: Client) -> None:
    branch(filled, "b")
    post(filled, "people", upsert(4, "eve", 3), {"delete": {"id": 1}}, on="b")
    post(filled, "visits", visit(4), leave(2), on="b")
    epoch = post(filled, "people", upsert(5, "fay"))
    answer = merged(filled, "b")
    made = {"changes": 4, "conflicts": 0, "views": [], "left_out": []}
    assert answer == {"branch": "b", "into": "main", "epoch": epoch + 1, **made}
    assert [row[0] for row in read(filled, "people")] == [2, 3, 4, 5]
    assert read(filled, "visits") == [(1, "here"), (2, "here"), (4, "here")]
    assert everything(filled) == referee(filled)
    assert merged(filled, "b")["changes"] == 0
    assert filled.get("/v1/branches/b").json()["merged"] == [epoch + 1]


def test_conflicts_are_named(filled: Client) -> None:
    branch(filled, "b")
    post(filled, "people", upsert(2, "bert"), upsert(3, "same"), on="b")
    post(filled, "people", upsert(2, "bess"), upsert(3, "same"))
    post(filled, "visits", leave(1), on="b")
    post(filled, "visits", leave(1))
    answer = filled.post("/v1/branches/b/merge", {})
    assert code(answer) == (409, "merge_conflict")
    detail = answer.json()["detail"]
    assert "people" in detail and "2" in detail and "visits" in detail and "3" not in detail
    before = everything(filled)
    answer = merged(filled, "b", "ours")
    assert (answer["changes"], answer["conflicts"]) == (0, 2)
    assert everything(filled) == before
    assert merged(filled, "b", "theirs")["conflicts"] == 2
    assert (2, "bert", None) in read(filled, "people")
    assert everything(filled) == referee(filled)


def test_a_branch_goes_on_after_a_merge(settings: Settings) -> None:
    """What was merged is no conflict later; what both change anew is one. A restart changes nothing."""
    with Client(settings) as client:
        define(client)
        post(client, "people", upsert(1, "ann"), upsert(2, "bob"))
        branch(client, "b")
        post(client, "people", upsert(1, "one"), on="b")
        post(client, "people", upsert(2, "two"))
        merged(client, "b")
        post(client, "people", upsert(1, "uno"), on="b")
        merged(client, "b")
        assert read(client, "people") == [(1, "uno", None), (2, "two", None)]
    with Client(settings) as client:
        post(client, "people", upsert(1, "eins"), on="b")
        merged(client, "b")
        assert read(client, "people") == [(1, "eins", None), (2, "two", None)]
        post(client, "people", upsert(1, "mine"))
        post(client, "people", upsert(1, "yours"), upsert(2, "zwei"), on="b")
        answer = client.post("/v1/branches/b/merge", {})
        assert code(answer) == (409, "merge_conflict")
        assert merged(client, "b", "ours")["conflicts"] == 2
        assert read(client, "people") == [(1, "mine", None), (2, "two", None)]


def test_constraints_hold_in_a_merge(client: Client) -> None:
    sql = (
        "CREATE TABLE owners (id BIGINT PRIMARY KEY, mail TEXT UNIQUE);"
        "CREATE TABLE dogs (id BIGINT PRIMARY KEY, owner BIGINT REFERENCES owners (id));"
        "INSERT INTO owners VALUES (1, 'a'), (2, 'b')"
    )
    assert client.post("/v1/sql", {"sql": sql}).status_code == 200
    branch(client, "b")
    post(client, "owners", {"insert": {"id": 3, "mail": "c"}}, on="b")
    answer = client.post("/v1/tables/owners/deltas?branch=b", [{"insert": {"id": 4, "mail": "c"}}])
    assert code(answer) == (409, "unique_violated")
    post(client, "owners", {"insert": {"id": 5, "mail": "c"}})
    assert code(client.post("/v1/branches/b/merge", {})) == (409, "unique_violated")
    branch(client, "c")
    post(client, "dogs", {"insert": {"id": 1, "owner": 2}}, on="c")
    post(client, "owners", {"delete": {"id": 2}})
    answer = client.post("/v1/branches/c/merge", {"on_conflict": "theirs"})
    assert answer.status_code == 409, answer.text
    assert client.rows("dogs") == []


def test_branches_of_branches_merge_into_their_parent(filled: Client) -> None:
    branch(filled, "b")
    branch(filled, "c", of="b")
    before = everything(filled)
    post(filled, "people", upsert(7, "gus"), on="c")
    assert merged(filled, "c")["into"] == "b"
    assert (7, "gus", None) in read(filled, "people", "b")
    assert everything(filled) == before
    merged(filled, "b")
    assert everything(filled) == everything(filled, "b") == referee(filled)


# Time, failure, the end of the process


def test_time_stands_still_until_a_change(settings: Settings) -> None:
    now = [1_700_000_000_000_000]
    with Client(replace(settings, clock_milliseconds=1), time=lambda: now[0]) as client:
        client.table("events", {"id": "BIGINT", "at": "TIMESTAMP"}, key=["id"])
        client.view("recent", "SELECT id FROM events WHERE at > now() - INTERVAL '1 hour'")
        at = "2023-11-14T22:00:00"
        first = client.insert("events", {"id": 1, "at": at})
        branch(client, "b")
        now[0] += 7_200_000_000
        client.insert("events", {"id": 2, "at": at})
        assert client.rows("recent") == []
        assert client.get("/v1/views/recent/rows", branch="b").json()["rows"] == [{"id": 1}]
        post(client, "events", {"insert": {"id": 3, "at": at}}, on="b")
        assert client.get("/v1/views/recent/rows", branch="b").json()["rows"] == []
        branch(client, "c", as_of=first)
        assert client.get("/v1/views/recent/rows", branch="c").json()["rows"] == [{"id": 1}]
    with Client(settings, time=lambda: now[0]) as client:
        assert client.get("/v1/views/recent/rows", branch="b").json()["rows"] == []
        begins = client.get("/v1/branches/b").json()["begins"]
        rows = client.get("/v1/views/recent/rows", branch="b", as_of=begins).json()["rows"]
        assert rows == [{"id": 1}]


def test_views_with_errors(filled: Client) -> None:
    filled.view("ratio", "SELECT id, 6 / (id - 9) AS r FROM people")
    branch(filled, "b")
    post(filled, "people", upsert(9, "zoe"), on="b")
    assert code(filled.get("/v1/views/ratio/rows", branch="b")) == (409, "view_has_errors")
    assert len(filled.rows("ratio")) == 3
    post(filled, "people", {"delete": {"id": 9}}, on="b")
    assert filled.get("/v1/views/ratio/rows", branch="b").status_code == 200


def test_history_stays_as_long_as_a_branch_needs_it(settings: Settings) -> None:
    with Client(replace(settings, history_seconds=1, checkpoint_commits=2)) as client:
        define(client)
        post(client, "people", upsert(1, "ann"))
        branch(client, "b")
        for i in range(12):
            post(client, "people", upsert(2 + i, "new"))
        time.sleep(1.2)
        for i in range(6):
            post(client, "people", upsert(30 + i, "new"))
        answers = everything(client, "b")
        assert len(diff(client, "people", "b")) == 18
    with Client(settings) as client:
        assert everything(client, "b") == answers
        assert len(diff(client, "people", "b")) == 18


def test_it_survives_kill(start: Callable[..., Process]) -> None:
    """What a branch has acknowledged is there after SIGKILL, and so are its merges."""
    process = start(FRESHET_CHECKPOINT_COMMITS="3")
    process.wait_ready()
    for sql in TABLES.values():
        assert process.http.post("/v1/sql", json={"sql": sql}).status_code == 200
    process.http.post("/v1/tables/people/deltas", json=[upsert(1, "ann")])
    assert process.http.post("/v1/branches", json={"name": "b"}).status_code == 201
    for i in range(10):
        for on in ("", "?branch=b"):
            answer = process.http.post(f"/v1/tables/people/deltas{on}", json=[upsert(10 + i, f"of{on}")])
            assert answer.status_code == 200
    body = {"on_conflict": "theirs"}
    assert process.http.post("/v1/branches/b/merge", json=body).json()["conflicts"] == 10
    process.http.post("/v1/tables/people/deltas?branch=b", json=[upsert(99, "last")])
    process.kill()
    process = start()
    process.wait_ready()
    answer = process.http.get("/v1/tables/people/rows?branch=b").json()
    assert [row["id"] for row in answer["rows"]] == [1, *range(10, 20), 99]
    main = process.http.get("/v1/tables/people/rows").json()["rows"]
    assert {row["name"] for row in main} == {"ann", "of?branch=b"}
    answer = process.http.post("/v1/branches/b/merge", json={})
    assert (answer.json()["changes"], answer.json()["conflicts"]) == (1, 0)
