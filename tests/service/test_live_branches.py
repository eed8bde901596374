"""Live branches: what happens to the parent happens to them, but for what they have changed themselves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few, steps
from tests.service.client import Client, Process, code
from tests.service.test_what_if import (
    TABLES,
    branch,
    define,
    diff,
    everything,
    leave,
    merged,
    post,
    read,
    referee,
    upsert,
    visit,
)
from tests.service.waiting import wait_until


def live(client: Client, name: str, **options: object) -> dict:
    return branch(client, name, live=True, **options)


def described(client: Client, name: str) -> dict:
    return client.get(f"/v1/branches/{name}").json()


def caught_up(client: Client, name: str) -> None:
    """Waits until the branch has all that its parent has, and so for its parent."""
    found = described(client, name)
    of = None if found["of"] == "main" else found["of"]
    if of is not None and described(client, of)["live"]:
        caught_up(client, of)
    where = {} if of is None else {"branch": of}
    newest = client.get("/v1/tables/people/rows", **where).json()["epoch"]
    wait_until(lambda: described(client, name)["follows"] == newest)


@pytest.fixture
def filled(client: Client) -> Client:
    define(client)
    post(client, "people", upsert(1, "ann"), upsert(2, "bob", 1), upsert(3, "cid", 2))
    post(client, "visits", visit(1), visit(2), visit(2))
    return client


def test_it_follows_its_parent(filled: Client) -> None:
    """Each epoch of main is one of the branch, and views follow."""
    made = live(filled, "b")
    assert (made["live"], made["follows"], made["waits"]) == (True, made["parted"], None)
    for number in range(5):
        post(filled, "people", upsert(10 + number, "new", 1))
    post(filled, "visits", visit(10), leave(2))
    caught_up(filled, "b")
    assert everything(filled, "b") == everything(filled) == referee(filled, "b")
    assert described(filled, "b")["epoch"] == made["begins"] + 6
    assert len(read(filled, "people", "b", as_of=made["begins"] + 2)) == 5
    (row,) = filled.post("/v1/sql", {"sql": "SHOW BRANCHES"}).json()["results"][0]["rows"]
    assert row == ["b", "main", str(made["parted"]), str(made["parted"] + 6)]


def test_a_key_that_it_has_changed_stays_its_own(filled: Client) -> None:
    live(filled, "b")
    post(filled, "people", upsert(2, "mine"), {"delete": {"id": 3}}, upsert(7, "own"), on="b")
    post(filled, "people", upsert(2, "theirs"), upsert(3, "back"), upsert(7, "too"), upsert(8, "new"))
    post(filled, "people", {"delete": {"id": 2}}, upsert(1, "anna"))
    caught_up(filled, "b")
    assert read(filled, "people", "b") == [
        (1, "anna", None),
        (2, "mine", None),
        (7, "own", None),
        (8, "new", None),
    ]
    assert everything(filled, "b") == referee(filled, "b")
    assert diff(filled, "people", "b") == sorted(
        [(1, 2, "mine", None), (-1, 3, "back", None), (-1, 7, "too", None), (1, 7, "own", None)], key=repr
    )


def test_tables_without_keys_add(filled: Client) -> None:
    """What main deletes is deleted as far as the branch has it."""
    live(filled, "b")
    post(filled, "visits", leave(1), leave(2), visit(3), on="b")
    post(filled, "visits", leave(1), leave(2), visit(3), visit(4))
    caught_up(filled, "b")
    assert read(filled, "visits", "b") == [(3, "here"), (3, "here"), (4, "here")]
    post(filled, "visits", visit(1))
    post(filled, "visits", leave(2))
    post(filled, "visits", leave(1), visit(2))
    caught_up(filled, "b")
    assert read(filled, "visits", "b") == [(2, "here"), (3, "here"), (3, "here"), (4, "here")]
    assert everything(filled, "b") == referee(filled, "b")


def test_merging(filled: Client) -> None:
    """What the branch has changed itself is merged. Only what main has changed since then is a conflict."""
    live(filled, "b")
    post(filled, "people", upsert(2, "bert"), upsert(9, "nine"))
    caught_up(filled, "b")
    post(filled, "people", upsert(2, "mine"), upsert(1, "anna"), on="b")
    post(filled, "visits", visit(5), leave(2), on="b")
    post(filled, "people", upsert(9, "ten"), upsert(4, "four"))
    answer = merged(filled, "b")
    assert (answer["changes"], answer["conflicts"]) == (4, 0)
    names = {row[0]: row[1] for row in read(filled, "people")}
    assert names == {1: "anna", 2: "mine", 3: "cid", 4: "four", 9: "ten"}
    caught_up(filled, "b")
    assert everything(filled, "b") == everything(filled) == referee(filled)
    assert merged(filled, "b")["changes"] == 0
    post(filled, "people", upsert(2, "theirs"))
    post(filled, "people", upsert(2, "again"), on="b")
    refused = filled.post("/v1/branches/b/merge", {})
    assert code(refused) == (409, "merge_conflict") and "2" in refused.json()["detail"]
    assert merged(filled, "b", "ours")["conflicts"] == 1
    assert (2, "theirs", None) in read(filled, "people")
    caught_up(filled, "b")
    assert (2, "again", None) in read(filled, "people", "b")
    assert merged(filled, "b", "theirs")["changes"] == 1


def test_as_of_and_branches_of_live_branches(filled: Client) -> None:
    post(filled, "people", upsert(4, "four"))
    made = live(filled, "b", as_of=1)
    caught_up(filled, "b")
    assert everything(filled, "b") == everything(filled)
    assert read(filled, "people", "b", as_of=made["begins"] + 1) == read(filled, "people", as_of=2)
    live(filled, "c", of="b")
    pinned = branch(filled, "p", of="b")
    before = everything(filled, "p")
    post(filled, "people", upsert(2, "c's"), on="c")
    post(filled, "people", upsert(3, "b's"), on="b")
    post(filled, "people", upsert(1, "main's"), upsert(2, "main's"), upsert(3, "main's"))
    caught_up(filled, "c")
    assert [row[1] for row in read(filled, "people", "c")] == ["main's", "c's", "b's", "four"]
    assert everything(filled, "c") == referee(filled, "c")
    assert everything(filled, "p") == before and pinned["follows"] is None
    assert code(filled.post("/v1/branches/c/merge", {})) == (409, "merge_conflict")
    assert merged(filled, "c", "theirs")["changes"] == 1
    caught_up(filled, "c")
    assert everything(filled, "c") == everything(filled, "b")
    assert code(filled.delete("/v1/branches/b")) == (409, "in_use")
    drop = filled.post("/v1/sql", {"sql": "DROP BRANCH b, c, p"})
    assert drop.status_code == 200, drop.text
    post(filled, "people", upsert(5, "five"))


def test_it_says_why_it_waits(settings: Settings) -> None:
    """An epoch that would break an assertion on the branch waits until the branch allows it."""
    with Client(replace(settings, branch_bytes=20_000)) as client:
        define(client)
        made = client.post(
            "/v1/sql",
            {
                "sql": "CREATE ASSERTION few CHECK (NOT EXISTS "
                "(SELECT place FROM visits GROUP BY place HAVING count(*) > 2))"
            },
        )
        assert made.status_code == 200
        live(client, "b")
        post(client, "visits", visit(1), visit(2), on="b")
        post(client, "visits", visit(3))
        wait_until(lambda: described(client, "b")["waits"] is not None)
        assert "assertion few would be broken" in described(client, "b")["waits"]
        assert len(read(client, "visits", "b")) == 2
        post(client, "visits", leave(1), on="b")
        caught_up(client, "b")
        assert described(client, "b")["waits"] is None and len(read(client, "visits", "b")) == 2
        post(client, "people", *(upsert(i, f"somebody called {i}") for i in range(5_000)))
        caught_up(client, "b")

        def is_full() -> bool:
            post(client, "people", upsert(1, "new"))
            return "branch b holds" in (described(client, "b")["waits"] or "")

        wait_until(is_full)
        post(client, "people", upsert(2, "main goes on"))
        assert client.delete("/v1/branches/b").status_code == 204


def test_time_goes_on_with_the_parent(settings: Settings) -> None:
    now = [1_700_000_000_000_000]
    with Client(replace(settings, clock_milliseconds=1), time=lambda: now[0]) as client:
        client.table("people", {"id": "BIGINT", "at": "TIMESTAMP"}, key=["id"])
        client.view("recent", "SELECT id FROM people WHERE at > now() - INTERVAL '1 hour'")
        client.insert("people", {"id": 1, "at": "2023-11-14T22:00:00"})
        live(client, "b")
        assert len(client.get("/v1/views/recent/rows", branch="b").json()["rows"]) == 1
        now[0] += 7_200_000_000
        client.insert("people", {"id": 2, "at": "2023-11-15T00:00:00"})
        caught_up(client, "b")
        assert client.get("/v1/views/recent/rows", branch="b").json()["rows"] == [{"id": 2}]


class _Model:
    """The tables of a timeline, and what of them is a live branch's own."""

    def __init__(self, people: dict[int, tuple], visits: Counter) -> None:
        self.people, self.visits = dict(people), Counter(visits)
        self.own: set[int] = set()
        self.unmerged: dict[int, tuple | None] = {}  # with the rows before the first change since a merge

    def follow(self, people: dict[int, tuple | None], visits: Counter) -> None:
        """One epoch of the parent."""
        for id, row in people.items():
            if id not in self.own:
                self.people.pop(id, None)
                if row is not None:
                    self.people[id] = row
        for row, number in visits.items():
            self.visits[row] = max(0, self.visits[row] + number)

    def rows(self) -> tuple[list, list]:
        return sorted(self.people.values()), sorted(self.visits.elements())


@each_seed(few(5))
def test_random_changes_of_both(settings: Settings, seed: int) -> None:
    """Branches have what the model says, after restarts too, and views what DuckDB says."""
    chance = random.Random(f"live {seed}")
    number = iter(range(10**6))
    main = _Model({}, Counter())
    branches: dict[str, _Model] = {}

    def change(client: Client, on: str | None) -> None:
        model = main if on is None else branches[on]
        people: dict[int, tuple | None] = {}
        visits: Counter = Counter()
        if chance.random() < 0.6:
            for id in chance.sample(range(6), chance.randint(1, 3)):
                is_gone = id in model.people and chance.random() < 0.3
                people[id] = None if is_gone else (id, f"n{next(number)}", chance.choice((1, 2, 3)))
            changes = [{"delete": {"id": id}} if row is None else upsert(*row) for id, row in people.items()]
            post(client, "people", *changes, on=on)
        else:
            there = sorted(model.visits.elements())
            gone = chance.sample(there, min(len(there), chance.randint(0, 2)))
            new = [(chance.randrange(3), "x") for _ in range(chance.randint(0, 2))]
            visits.update(new)
            visits.subtract(gone)
            post(client, "visits", *(leave(*row) for row in gone), *(visit(*row) for row in new), on=on)
        if on is not None:
            for id in people:
                model.unmerged.setdefault(id, model.people.get(id))
        _apply(model, people, visits)
        if on is None:
            for child in branches.values():
                child.follow(people, visits)
        else:
            model.own |= people.keys()

    def check(client: Client) -> None:
        for name, model in branches.items():
            caught_up(client, name)
            found = read(client, "people", name), read(client, "visits", name)
            assert tuple(map(sorted, found)) == model.rows()
            assert everything(client, name) == referee(client, name)
            assert described(client, name)["waits"] is None
        assert (read(client, "people"), read(client, "visits")) == main.rows()

    define_once = True
    for _ in range(3):
        options = {
            "checkpoint_commits": chance.choice((2, 10_000)),
            "history_seconds": chance.choice((1, 3600)),
        }
        with Client(replace(settings, **options)) as client:
            if define_once:
                define(client)
                define_once = False
            check(client)
            for _ in range(steps(25)):
                choice = chance.random()
                if choice < 0.1 and len(branches) < 3:
                    name = f"b{next(number)}"
                    live(client, name)
                    branches[name] = _Model(main.people, main.visits)
                elif choice < 0.15 and branches:
                    name = chance.choice(sorted(branches))
                    check(client)
                    _merge(client, name, main, branches)
                elif choice < 0.6 or not branches:
                    change(client, None)
                else:
                    name = chance.choice(sorted(branches))
                    caught_up(client, name)
                    change(client, name)
                if chance.random() < 0.2:
                    check(client)
            check(client)


def _apply(model: _Model, people: dict[int, tuple | None], visits: Counter) -> None:
    for id, row in people.items():
        model.people.pop(id, None)
        if row is not None:
            model.people[id] = row
    model.visits.update(visits)
    model.visits = +model.visits


def _merge(client: Client, name: str, main: _Model, branches: dict[str, _Model]) -> None:
    """Merges as the branch has it; main then has the branch's rows of its own keys, and others follow."""
    before_visits = Counter(main.visits)
    merged(client, name, "theirs")
    mine = branches[name]
    now = {id: mine.people.get(id) for id, before in mine.unmerged.items() if mine.people.get(id) != before}
    changed = {id: row for id, row in now.items() if row != main.people.get(id)}
    mine.unmerged.clear()
    rows = Counter(read(client, "visits"))
    visits = Counter(rows)
    visits.subtract(before_visits)
    _apply(main, changed, Counter({row: n for row, n in visits.items() if n}))
    assert read(client, "people") == sorted(main.people.values())
    for other, child in branches.items():
        if other != name:
            child.follow(changed, visits)


def test_it_survives_kill(start: Callable[..., Process]) -> None:
    """After SIGKILL it goes on where it was, with what main has made meanwhile."""
    process = start(FRESHET_CHECKPOINT_COMMITS="3")
    process.wait_ready()
    for sql in TABLES.values():
        assert process.http.post("/v1/sql", json={"sql": sql}).status_code == 200
    assert process.http.post("/v1/branches", json={"name": "b", "live": True}).status_code == 201

    def send(on: str, *changes: dict) -> None:
        answer = process.http.post(f"/v1/tables/people/deltas{on}", json=list(changes))
        assert answer.status_code == 200, answer.text

    for i in range(20):
        send("", upsert(i, "main"))
        if i % 3 == 0:
            send("?branch=b", upsert(100 + i, "own"), upsert(i, "own"))
    process.kill()
    process = start()
    process.wait_ready()
    send("", upsert(50, "last"), upsert(0, "changed"))
    newest = process.http.get("/v1/tables/people/rows").json()["epoch"]
    wait_until(lambda: process.http.get("/v1/branches/b").json()["follows"] == newest)
    rows = process.http.get("/v1/tables/people/rows?branch=b").json()["rows"]
    found = {row["id"]: row["name"] for row in rows}
    own = {100 + i for i in range(0, 20, 3)} | set(range(0, 20, 3))
    assert found == {**dict.fromkeys(range(20), "main"), 50: "last", **dict.fromkeys(own, "own")}
